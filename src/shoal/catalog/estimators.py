"""The catalog of ways to estimate counts from published sets."""

from __future__ import annotations

from shoal.base.params import Param
from shoal.catalog.entries import Estimator

_HOME = "shoal.releases.estimates.bayes:"
_EPS = Param(
    "eps", "a category is done when no count of it changes by so many rows", float, 0.01, 0,
    open_low=True,
)  # fmt: skip

ESTIMATORS: dict[str, Estimator] = {
    entry.name: entry
    for entry in (
        # Sei, Takenouchi, Ohsuga 2015: Bayes' rule, iterated from W / l on; even is W / l itself.
        Estimator("iterative", _HOME + "iterative", (_EPS,)),
        Estimator("closed", _HOME + "closed_form"),
        Estimator("em", _HOME + "full_em", (_EPS,)),
        Estimator("even", _HOME + "even"),
    )
}
