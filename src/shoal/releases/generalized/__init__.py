"""Releases whose quasi-identifiers are generalized."""
