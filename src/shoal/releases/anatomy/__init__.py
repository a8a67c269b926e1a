"""Releases in two tables that share a group number."""

GROUP, COUNT = "group_id", "count"  # the columns that Anatomy adds
