"""What can be done with tables and releases: anonymize, audit, attack, estimate, compare ..."""
