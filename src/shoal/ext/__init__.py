"""Optional parts of the package; ``shoal.catalog.extensions`` says what each is for."""
