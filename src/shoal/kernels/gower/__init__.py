"""Clusters by Gower's mixed dissimilarity: exact searches, and exchanges of rows."""
