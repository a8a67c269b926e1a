"""Measure re-identification risk, beliefs about sensitive values, and attacks."""
