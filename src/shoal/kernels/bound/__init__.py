"""Kernels of the lower bound: number all nodes of a table and price them."""
