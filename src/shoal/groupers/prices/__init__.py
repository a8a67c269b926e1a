"""Prices of rows: a lower bound of every release's loss, and which classes are worth making."""
