"""Publish tables about people so that each person stays in a crowd."""

__version__ = "0.1.0"
