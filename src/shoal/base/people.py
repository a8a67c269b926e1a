"""Count people instead of rows in a class, if a person may have several rows.

A class is as large as the number of different people in it, and a person's value counts once in a
class, however many rows repeat it. Such counts cannot be added up when classes are joined, for both
may hold the same person. So a class is kept as the sets of its people and of its pairs of a person
and a value, of which unions can be made, and counted when a rule is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.base.partition import (
    MISSING,
    GroupStats,
    Histogram,
    Ints,
    add_to_histogram,
    histogram,
    with_missing,
)

PERSON = "\x00person"
"""The histogram of the people themselves; no column can be called so."""

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class People:
    """Whose rows they are.

    Parameters
    ----------
    codes
        The person of every row.
    pairs
        Per sensitive column the pair of value and person of every row, -1 for a missing value;
        pairs are numbered by value first.
    value, person
        What each pair is made of.
    gaps
        Per sensitive column that has missing values: the person of every row where it is missing,
        -1 elsewhere.
    """

    codes: Codes
    pairs: Mapping[str, Codes]
    value: Mapping[str, Ints]
    person: Mapping[str, Ints]
    count: int
    gaps: Mapping[str, Codes]

    @classmethod
    def from_codes(cls, codes: Codes, sensitive: Mapping[str, Codes]) -> People:
        """Number the pairs of a table."""
        count = int(codes.max(initial=-1)) + 1
        pairs, value, person, gaps = {}, {}, {}, {}
        for name, values in sensitive.items():
            known = values >= 0
            keys = values[known].astype(np.int64) * count + codes[known]
            cells, which = np.unique(keys, return_inverse=True)
            pairs[name] = np.full(codes.size, -1, np.int32)
            pairs[name][known] = which.reshape(-1)
            value[name], person[name] = np.divmod(cells, max(count, 1))
            if not known.all():
                gaps[name] = np.where(known, -1, codes).astype(np.int32)
        return cls(codes, pairs, value, person, count, gaps)

    def take(self, rows: Ints) -> People:
        """Return some of the rows; people and pairs keep their numbers."""
        pairs, gaps = (
            {name: codes[rows] for name, codes in columns.items()}
            for columns in (self.pairs, self.gaps)
        )
        return replace(self, codes=self.codes[rows], pairs=pairs, gaps=gaps)

    @property
    def units(self) -> dict[str, Codes]:
        """What is counted once in a class: people, pairs, and who has a missing value."""
        gaps = {with_missing(name): codes for name, codes in self.gaps.items()}
        return {PERSON: self.codes, **self.pairs, **gaps}

    def pairs_read(self, reading: str) -> Codes:
        """Return the pairs of a column as a rule reads it.

        Where it counts the missing value, that makes a pair with every person, behind the others.
        """
        column = reading.removesuffix(MISSING)
        pairs, gaps = self.pairs[column], self.gaps.get(column)
        if column == reading or gaps is None:
            return pairs
        return np.where(gaps < 0, pairs, np.int32(self.value[column].size) + gaps)

    def values_read(self, reading: str) -> Ints:
        """Return the value of each of these pairs; the missing one is numbered last."""
        column = reading.removesuffix(MISSING)
        values = self.value[column]
        if column == reading:
            return values
        last = np.full(self.count, values.max(initial=-1) + 1, np.int64)
        return np.concatenate((values, last))

    def tally(self, labels: npt.NDArray[np.integer], groups: int, sizes: Ints) -> GroupStats:
        """Return the sets that groups hold; ``sizes`` are their rows."""
        spans = {name: value.size for name, value in self.value.items()}
        sets = {
            name: histogram(labels, codes, groups, (), span=max(spans.get(name, self.count), 1))
            for name, codes in self.units.items()
        }
        return GroupStats(sizes, sets)

    def counted(self, sets: GroupStats, names: Mapping[str, tuple[str, ...]]) -> GroupStats:
        """Count the people of every group, and how many of them have each value."""
        pairs = {name: hist for name, hist in sets.histograms.items() if name in self.pairs}
        everyone = sets.histograms[PERSON]
        values = {}
        for name, hist in pairs.items():
            gaps = sets.histograms[with_missing(name)] if name in self.gaps else None
            values[name] = replace(
                self._counted(name, hist, names[name]),
                gaps=np.zeros_like(everyone.distinct) if gaps is None else gaps.distinct,
                whole_gaps=0 if gaps is None else int(np.count_nonzero(gaps.whole)),
                whole_everyone=int(np.count_nonzero(everyone.whole)),
            )
        return GroupStats(everyone.distinct, values, unit="people")

    def _counted(self, name: str, pairs: Histogram, names: tuple[str, ...]) -> Histogram:
        value, person, groups = self.value[name], self.person[name], pairs.distinct.size
        group = np.repeat(np.arange(groups, dtype=np.int64), pairs.distinct)
        holders = np.unique(group * self.count + person[pairs.values]) // max(self.count, 1)
        everywhere = np.flatnonzero(pairs.whole)
        whole = np.bincount(value[everywhere], minlength=max(len(names), 1)).astype(np.int64)
        of = replace(
            pairs,
            whole=whole,
            names=names,
            people=np.bincount(holders, minlength=groups).astype(np.int64),
            whole_people=int(np.unique(person[everywhere]).size),
        )
        return add_to_histogram(
            of, group, value[pairs.values], np.ones(group.size, np.int64), groups
        )
