"""Figures about a release, drawn from plain data."""
