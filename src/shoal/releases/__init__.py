"""What is published, and how to estimate from it."""
