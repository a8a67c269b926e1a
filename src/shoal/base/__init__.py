"""What everything rests on: errors, parameters, threads, whole files, secure randomness."""
