"""Plans: the file, the settings, and how arguments change them."""
