"""Functions for shapes that publish exact quasi-identifiers."""
