"""How many rows have a sensitive value, estimated from sets of values."""

from shoal.releases.estimates.bayes import (
    Observed,
    closed_form,
    estimate,
    even,
    full_em,
    iterative,
    tally,
)
from shoal.releases.estimates.intervals import set_interval

__all__ = [
    "Observed",
    "closed_form",
    "estimate",
    "even",
    "full_em",
    "iterative",
    "set_interval",
    "tally",
]
