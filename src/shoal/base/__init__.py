"""What all other layers use: errors, parameters, threads, files, secure randomness."""
