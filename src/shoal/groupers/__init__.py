"""The algorithms that split the rows of a table into groups."""
