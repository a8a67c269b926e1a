"""What earlier releases of the same people give away."""
