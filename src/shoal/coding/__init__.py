"""A table as integers: encoding, tuples, the space of costs."""
