"""Releases in two tables that share a group number."""
