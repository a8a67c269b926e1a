"""Charts, and the figures of a release."""
