"""Joining rows to groups by what it costs: exact searches in a tree over the distinct rows."""
