"""The public classes Table and Release, and the public functions."""
