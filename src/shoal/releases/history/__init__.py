"""The history of a series of releases, kept by the steward."""
