"""A lower bound of what any release loses."""
