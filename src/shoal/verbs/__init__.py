"""The operations on tables and releases: anonymize, audit, attack, compare and others."""
