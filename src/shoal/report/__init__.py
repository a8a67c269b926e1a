"""Reports that people can read: one HTML file, no network, no script."""
