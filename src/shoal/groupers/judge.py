"""Ask a rule about groups that are still being built."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.base.errors import Infeasible
from shoal.base.partition import GroupStats, Histogram, Partition, add_to_histogram, with_missing
from shoal.base.people import PERSON
from shoal.coding.encode import Encoded
from shoal.privacy import Rule, flatten

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Judge:
    """A rule, and the sensitive columns that it looks at.

    Where people are counted, ``codes`` are those of people and of pairs of a person and a value,
    and what :meth:`histogram` adds up are sets of them.

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
        columns = [p.column for p in parts if p.column is not None]
        self.codes = {name: data.sensitive[name] for name in columns}
        if data.people is not None:
            units = data.people.units
            wanted = [PERSON, *columns, *(with_missing(name) for name in columns)]
            self.codes = {name: units[name] for name in dict.fromkeys(wanted) if name in units}
        tally = data.tally(Partition.one(data.rows)).histograms
        self.whole = {name: tally[name] for name in self.codes}
        self._judged = data.judged
        self.least = rule.least
        """No group with fewer rows passes."""

    def passes(self, sizes: Ints, rows: Ints, labels: Ints) -> Bools:
        """Say which groups pass: ``labels[i]`` is the group of row number ``rows[i]``."""
        return self.holds(self.tally(sizes, rows, labels))

    def tally(self, sizes: Ints, rows: Ints, labels: Ints) -> GroupStats:
        """Add up the rows of groups."""
        histograms = {}
        for name, codes in self.codes.items():
            value = codes[rows]
            known = value >= 0
            ones = np.ones(int(known.sum()), np.int64)
            counts = self.histogram(name, labels[known], value[known], ones, sizes.size)
            # Groups without a row here, too small to be asked about, have no gaps.
            gaps = np.bincount(labels[~known], minlength=sizes.size)
            histograms[name] = replace(counts, gaps=gaps)
        return GroupStats(sizes, histograms)

    def holds(self, tally: GroupStats) -> Bools:
        """Say which groups pass, from what was added up for them."""
        return self.rule.holds(self._judged(tally))

    def histogram(
        self, name: str, group: Ints, value: npt.NDArray[np.integer], count: Ints, groups: int
    ) -> Histogram:
        """Add up counts of known values by group."""
        return add_to_histogram(self.whole[name], group, value, count, groups)
