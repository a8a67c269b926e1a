"""The experiments of four papers, run again: what each measured, what it claims, and the verdict.

``PAPER/plan.toml`` says what is measured, ``PAPER/claims.toml`` what the paper finds and what still
counts as holding. :func:`experiments.running.reproduce` carries it out.
"""

PAPERS = ("kaim", "l_clustering", "alpha_k", "dummies")

OVER_TIME = "releases"
"""Series of releases, measured by :mod:`experiments.overtime`."""
