"""Guess the role of every column: :mod:`shoal.tables.guessing.guess` asks the others."""
