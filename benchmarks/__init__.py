"""Benchmarks: compared in one run, read as ratios, never run as tests."""
