"""Numba kernels: arrays and numbers in and out; they import nothing else of ours."""
