"""Figures about a release, drawn from plain data."""

from shoal.figures.distributions import Distribution, distribution
from shoal.figures.plots import Plots, attacks_chart
from shoal.figures.reading import Reading, read_column
from shoal.figures.subject import FEW, Subject

__all__ = [
    "FEW",
    "Distribution",
    "Plots",
    "Reading",
    "Subject",
    "attacks_chart",
    "distribution",
    "read_column",
]
