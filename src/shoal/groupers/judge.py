"""Asks a rule about groups that are still being made."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.errors import Infeasible
from shoal.base.partition import GroupStats, Histogram
from shoal.coding.encode import Encoded
from shoal.privacy import Rule, flatten

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DENSE = 8
"""Counts are made in a full table while it has at most so many cells per row counted."""


class Judge:
    """A rule, and the sensitive columns that it looks at.

    Raises
    ------
    Infeasible
        When the whole table as one group breaks the rule: there is nothing to start from.
    """

    def __init__(self, data: Encoded, rule: Rule) -> None:
        parts = flatten([rule])
        whole = data.whole()
        if obstacle := rule.obstacle(whole):
            raise Infeasible(obstacle)
        if not rule.holds(whole).all():
            raise Infeasible(
                f"The whole table as one group already breaks the promise that {rule.describe()}. "
                "Relax the rule."
            )
        self.rule = rule
        self.codes = {p.column: data.sensitive[p.column] for p in parts if p.column is not None}
        self.names = {name: data.sensitive_names[name] for name in self.codes}
        self.whole = {name: whole.histograms[name].whole for name in self.codes}
        self.least = max((caps.size for p in parts if (caps := p.caps())), default=1)
        """No group with fewer rows passes."""

    def passes(self, sizes: Ints, rows: Ints, labels: Ints) -> Bools:
        """Say which groups pass: ``labels[i]`` is the group of row number ``rows[i]``."""
        histograms = {}
        for name, codes in self.codes.items():
            value = codes[rows]
            known = value >= 0
            ones = np.ones(int(known.sum()), np.int64)
            histograms[name] = self.histogram(name, labels[known], value[known], ones, sizes.size)
        return self.rule.holds(GroupStats(sizes, histograms))

    def histogram(
        self, name: str, group: Ints, value: npt.NDArray[np.integer], count: Ints, groups: int
    ) -> Histogram:
        """Add up counts of known values by group."""
        span = max(len(self.names[name]), 1)
        keys = group * span + value
        if groups * span <= _DENSE * keys.size:
            sums = np.bincount(keys, weights=count, minlength=groups * span)
            cells = np.flatnonzero(sums)
            counts = sums[cells].astype(np.int64)
        else:
            cells, which = np.unique(keys, return_inverse=True)
            counts = np.bincount(which.reshape(-1), weights=count).astype(np.int64)
        starts = np.searchsorted(cells, np.arange(groups + 1, dtype=np.int64) * span)
        return Histogram(
            starts.astype(np.int64), cells % span, counts, self.whole[name], self.names[name]
        )
