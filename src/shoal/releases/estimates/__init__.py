"""Estimate counts of sensitive values from published sets."""
