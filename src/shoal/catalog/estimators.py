"""The ways to estimate counts of values from published sets, by name."""

from __future__ import annotations

from shoal.base.params import Param
from shoal.catalog.entries import Estimator

_EPS = Param(
    "eps",
    "a category is done when none of its counts changes by this many rows",
    float,
    default=0.01,
    low=0,
    open_low=True,
)
_PAPER = "Sei, Takenouchi, Ohsuga 2015"

ESTIMATORS: dict[str, Estimator] = {
    entry.name: entry
    for entry in (
        Estimator(
            "iterative",
            "the paper's iterated Bayes' rule, from W / l on",
            _PAPER,
            "shoal.releases.estimates.bayes:iterative",
            (_EPS,),
        ),
        Estimator(
            "closed",
            "(W - N q) / (1 - q), clipped at 0 and scaled; unbiased before that",
            "this project, 2026",
            "shoal.releases.estimates.bayes:closed_form",
        ),
        Estimator(
            "em",
            "expectation maximization over the sets themselves; the most likely counts",
            "Dempster, Laird, Rubin 1977",
            "shoal.releases.estimates.bayes:full_em",
            (_EPS,),
        ),
        Estimator(
            "even",
            "W / l: every value of a set counts alike; where the paper's iteration begins",
            _PAPER,
            "shoal.releases.estimates.bayes:even",
        ),
    )
}
