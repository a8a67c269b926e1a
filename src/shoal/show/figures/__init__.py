"""Figures about a release, drawn from plain data."""

from shoal.show.figures.distributions import Distribution, distribution
from shoal.show.figures.estimates import estimates_chart
from shoal.show.figures.plots import Plots, attacks_chart
from shoal.show.figures.reading import ColumnReading, read_column
from shoal.show.figures.subject import FEW, Subject

__all__ = [
    "FEW",
    "ColumnReading",
    "Distribution",
    "Plots",
    "Subject",
    "attacks_chart",
    "distribution",
    "estimates_chart",
    "read_column",
]
