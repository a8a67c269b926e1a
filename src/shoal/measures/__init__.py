"""Measure information loss and privacy risk."""
