"""Reports as single HTML files without network access or scripts."""
