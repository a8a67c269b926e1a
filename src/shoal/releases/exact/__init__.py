"""What shapes share that publish quasi-identifiers as they were."""
