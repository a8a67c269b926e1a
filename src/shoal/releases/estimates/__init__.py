"""How many rows have a sensitive value, estimated from sets of values."""
