"""The table as integers: encoding, distinct tuples, joins of groups."""
