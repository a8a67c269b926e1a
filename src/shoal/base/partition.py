"""A partition of the rows into groups, and the counts per group that rules need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.base.errors import ShoalError

if TYPE_CHECKING:
    pass

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]

MISSING = "\x00missing"
"""What the missing value is called where it counts as a value; no cell says so."""

_FEW = 10_000
"""Rows that are sorted soon enough as they are."""
_DENSE = 8
"""Counts are made in a full table while it has at most so many cells per value counted."""


def ragged_positions(starts: Ints, counts: Ints) -> Ints:
    """Return the positions of runs that begin at ``starts`` and are ``counts`` long, in a row."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


@dataclass(frozen=True, eq=False)
class Cover:
    """What groups are published as, where that is more than the join of their members.

    A full-domain method publishes every cell at its column's level, one that suppresses publishes
    ``*``. Every array is ``[groups, m]``; -1 means the join of the members.

    Parameters
    ----------
    lo, hi
        First and last position of what is published in a column without a taxonomy; ``hi`` is the
        domain's size for ``*``.
    node
        Node that is published in a column with a taxonomy.
    """

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]

    @classmethod
    def none(cls, groups: int, m: int) -> Cover:
        """Return the cover under which every group is published as the join of its members."""
        lo, hi, node = np.full((3, groups, m), -1, np.int32)
        return cls(lo, hi, node)


@dataclass(frozen=True, eq=False)
class Partition:
    """Row numbers, group after group.

    Parameters
    ----------
    rows
        Row numbers of all released rows; group ``g`` is ``rows[starts[g]:starts[g + 1]]``.
    starts
        Where each group begins, with the number of released rows at the end.
    left_out
        Row numbers that are not released (only methods that suppress rows use it).
    cover
        What the groups are published as; None: every group as the join of its members.
    notes
        What the method found out besides, for the report: figures, and no value of the table.
    """

    rows: Ints
    starts: Ints
    left_out: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    cover: Cover | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_labels(cls, labels: npt.NDArray[np.integer]) -> Partition:
        """Build a partition from one group label per row; a negative label leaves the row out."""
        order = in_order(labels)
        ordered = labels[order]
        first = int(np.searchsorted(ordered, 0))
        kept = ordered[first:]
        edges = np.flatnonzero(np.diff(kept)) + 1
        starts = np.concatenate(([0], edges, [kept.size])) if kept.size else np.zeros(1)
        return cls(order[first:], starts.astype(np.int64), order[:first])

    @classmethod
    def one(cls, rows: int) -> Partition:
        """Return all rows as one group."""
        return cls(np.arange(rows, dtype=np.int64), np.array([0, rows], np.int64))

    @property
    def sizes(self) -> Ints:
        """Number of rows of each group."""
        return np.diff(self.starts)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.starts.size - 1

    @property
    def total(self) -> int:
        """Number of rows of the input, left-out rows included."""
        return self.rows.size + self.left_out.size

    def labels(self) -> Ints:
        """Return the group of every row of the input, -1 for rows left out."""
        labels = np.full(self.total, -1, np.int64)
        labels[self.rows] = np.repeat(np.arange(self.groups), self.sizes)
        return labels


def in_order(labels: npt.NDArray[np.integer]) -> Ints:
    """Return the rows in the order of their labels, equal ones as they stand.

    Numpy sorts small numbers by their digits, many times as fast as it compares large ones: so two
    digits, one after the other.
    """
    first = int(labels.min(initial=0))
    if labels.size < _FEW or int(labels.max(initial=0)) - first >= 2**32:
        return np.argsort(labels, kind="stable").astype(np.int64)
    shifted = (labels - first).astype(np.uint32)
    order = np.argsort(shifted.astype(np.uint16), kind="stable")
    high = (shifted >> 16).astype(np.uint16)
    return (order[np.argsort(high[order], kind="stable")] if high.any() else order).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each known sensitive value occurs in each group, sparse.

    Group ``g`` has the runs ``starts[g]:starts[g + 1]`` of ``values`` (codes, ascending) and
    ``counts``. Missing values are in no run: ``gaps`` says how many each group has (None where rows
    are counted: all that have no known value), ``whole_gaps`` how many there are in the whole
    table (None: nobody counted). :meth:`complete` makes them one more value.
    ``whole`` is the count of every value in the whole table as it is released (rows left out are
    not there to compare with); ``names`` says what a code means.

    Where people are counted, a count is one of different people, some of whom may have several
    values: ``people`` is then how many have a known value at all, in each group, and
    ``whole_people`` in the whole table; ``whole_everyone`` is how many people the table has.
    """

    starts: Ints
    values: Ints
    counts: Ints
    whole: Ints
    names: tuple[str, ...]
    people: Ints | None = None
    whole_people: int = 0
    gaps: Ints | None = None
    whole_gaps: int | None = None
    whole_everyone: int = 0

    def reduce(self, ufunc: np.ufunc, per_run: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Apply ``ufunc.reduceat`` to numbers given per run; groups without a run get 0."""
        out = np.zeros(self.starts.size - 1, per_run.dtype)
        filled = np.diff(self.starts) > 0
        if filled.any():
            out[filled] = ufunc.reduceat(per_run, self.starts[:-1][filled])
        return out

    @property
    def distinct(self) -> Ints:
        """Number of different known values in each group."""
        return np.diff(self.starts)

    @property
    def known(self) -> Ints:
        """Number of known values in each group."""
        return self.reduce(np.add, self.counts)

    @property
    def holders(self) -> Ints:
        """Of how many a value has a share in each group: rows with a known value, or people."""
        return self.known if self.people is None else self.people

    @property
    def whole_holders(self) -> int:
        """The same of the whole table."""
        return int(self.whole.sum()) if self.people is None else self.whole_people

    def complete(self, gaps: Ints, sizes: Ints) -> Histogram:
        """Return it with the missing value as one more value, the last one.

        ``gaps``: how many each group has; ``sizes``: how many rows, or people.
        """
        if self.whole_gaps is None:
            raise ShoalError("Missing values were not counted, and a rule counts them as a value.")
        there, last = gaps > 0, len(self.names)
        ends = self.starts[1:][there]
        return replace(
            self,
            starts=self.starts + np.concatenate(([0], np.cumsum(there))),
            values=np.insert(self.values, ends, last),
            counts=np.insert(self.counts, ends, gaps[there]),
            whole=np.append(self.whole[:last], self.whole_gaps),
            names=(*self.names, MISSING),
            people=None if self.people is None else sizes,
            whole_people=self.whole_everyone,
        )


def with_missing(column: str) -> str:
    """Return what a sensitive column is called where its missing value counts as a value."""
    return column + MISSING


@dataclass(frozen=True, eq=False)
class GroupStats:
    """All that a rule may look at: sizes, and a histogram per sensitive column by name.

    ``unit``: what is counted, ``rows`` or ``people``.
    """

    sizes: Ints
    histograms: dict[str, Histogram] = field(default_factory=dict)
    unit: str = "rows"

    def gaps(self, column: str) -> Ints:
        """Return how many missing values every group has in a column."""
        hist = self.histograms[column]
        return self.sizes - hist.known if hist.gaps is None else hist.gaps

    def read(self, reading: str) -> Histogram:
        """Return the histogram of a column, or of what :func:`with_missing` calls it."""
        column = reading.removesuffix(MISSING)
        hist = self.histograms[column]
        return hist if column == reading else hist.complete(self.gaps(column), self.sizes)


def histogram(
    labels: npt.NDArray[np.integer],
    codes: npt.NDArray[np.integer],
    groups: int,
    names: tuple[str, ...],
    weights: Ints | None = None,
    span: int = 1,
) -> Histogram:
    """Count sensitive codes (-1 = missing) by group label (-1 = row not released).

    ``weights``: how many rows each entry stands for; 1 when not given. ``span``: how many codes
    there are, when they have no names.
    """
    span = max(len(names), span)
    counted = (codes >= 0) & (labels >= 0)
    many = np.ones(codes.size, np.int64) if weights is None else weights
    whole = np.zeros(span, np.int64)
    np.add.at(whole, codes[counted], many[counted])
    gaps = int(many[(codes < 0) & (labels >= 0)].sum())
    blank = Histogram(np.zeros(1, np.int64), whole[:0], whole[:0], whole, names, whole_gaps=gaps)
    return add_to_histogram(
        blank, labels[counted].astype(np.int64), codes[counted], many[counted], groups
    )


def add_to_histogram(
    of: Histogram, group: Ints, value: npt.NDArray[np.integer], count: Ints, groups: int
) -> Histogram:
    """Add up counts of known values by group, in a table like that of another histogram."""
    span = of.whole.size
    keys = group * span + value
    if groups * span <= _DENSE * keys.size:
        sums = np.zeros(groups * span, np.int64)
        np.add.at(sums, keys, count)  # in whole numbers: a float would round beyond 2**53
        cells = np.flatnonzero(sums)
        counts = sums[cells]
    else:
        cells, which = np.unique(keys, return_inverse=True)
        counts = np.zeros(cells.size, np.int64)
        np.add.at(counts, which.reshape(-1), count)
    starts = np.searchsorted(cells, np.arange(groups + 1, dtype=np.int64) * span)
    starts = starts.astype(np.int64)
    return replace(of, starts=starts, values=cells % span, counts=counts, gaps=None)
