"""The shapes of releases: how each is published, checked and read."""
