"""The history of a series of releases: what was published of whom, kept by the steward."""
