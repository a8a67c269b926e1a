"""Releases whose sensitive values hide among dummy values."""
