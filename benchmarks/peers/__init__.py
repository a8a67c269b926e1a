"""Our methods beside what PyPI offers: the same rows, the same hierarchies, one run."""
