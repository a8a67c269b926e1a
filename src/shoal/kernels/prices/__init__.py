"""Nodes of the product of all hierarchies, and what prices of rows make of them."""
