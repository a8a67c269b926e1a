"""The two nouns of the program: a table that was opened, and a release that was."""
