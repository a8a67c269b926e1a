"""What somebody can find out about a person from a table: re-identification, beliefs, attacks."""
