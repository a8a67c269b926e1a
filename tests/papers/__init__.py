"""The papers' worked tables."""
