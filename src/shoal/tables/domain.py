"""The three kinds of quasi-identifier domains, with their joins and widths.

Every value of a column becomes a *position*: leaves of a taxonomy in depth-first order, distinct
numbers in ascending order, set values by name. The position after the last one is *missing*: it
stands for any value, so its join with anything is ``*``, of width 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.column_names import check_unicode
from shoal.base.errors import SchemaError
from shoal.base.partition import Floats, Ints

STAR = "*"

TAXONOMY, ORDERED, SET = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A tree of labels whose leaves stand in depth-first order.

    Nodes are numbered leaves first (so a leaf's node is its position), then the inner nodes, the
    root last. A node covers the leaf positions ``lo[node] .. hi[node]``.

    Parameters
    ----------
    labels
        Label of each node.
    up
        Parent of each node; the root is its own parent.
    lo, hi
        First and last leaf position under each node.
    levels
        ``levels[d, p]``: the node that stands for leaf ``p`` after ``d`` steps of generalization.
    """

    labels: tuple[str, ...]
    up: npt.NDArray[np.int32]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    levels: npt.NDArray[np.int32]

    kind = TAXONOMY

    @property
    def size(self) -> int:
        """Number of leaves; also the position of missing."""
        return int(self.levels.shape[1])

    @property
    def root(self) -> int:
        """Number of the root node."""
        return len(self.labels) - 1

    @property
    def values(self) -> tuple[str, ...]:
        """Leaf labels by position."""
        return self.labels[: self.size]

    @cached_property
    def width(self) -> Floats:
        """Share of the leaves under each node; 0 for a leaf."""
        share = (self.hi - self.lo + 1) / max(self.size, 1)
        share[: self.size] = 0.0
        share[self.root] = 1.0  # also over no leaves at all, in a column entirely missing
        return share

    def cover(
        self, lo: npt.NDArray[np.integer], hi: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int32]:
        """Return the lowest node over positions ``lo .. hi``, for arrays; missing: the root."""
        known = hi < self.size
        node = np.where(known, np.minimum(lo, self.size - 1), self.root).astype(np.int32)
        while (short := known & (self.hi[node] < hi)).any():
            node[short] = self.up[node[short]]
        return node

    def with_top(self, label: str) -> Taxonomy:
        """Return the tree with another label at its top."""
        return replace(self, labels=(*self.labels[:-1], label))

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], column: str) -> Taxonomy:
        """Build a taxonomy from one path per leaf: leaf first, top last, all of one length.

        A label that repeats along a path (``Haiti; Haiti; *``) is one node. A label stands for one
        node in the whole tree, since it is all that the reader of a release sees.
        """
        if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
            raise SchemaError(_faults(rows, column))
        for level in zip(*rows, strict=True):
            check_unicode(map(str, level), f"The hierarchy of column {column!r}")
        levels = [pl.Series(level, dtype=pl.String) for level in zip(*rows, strict=True)]
        return cls.from_levels(levels, column)

    @classmethod
    def from_levels(cls, levels: Sequence[pl.Series], column: str) -> Taxonomy:
        """Build a taxonomy from its levels, finest first: each a label per leaf, in one order."""
        every = pl.concat([level.cast(pl.String).rename("label") for level in levels])
        labels = every.unique(maintain_order=True)
        numbers = pl.Series(np.arange(len(labels), dtype=np.int32))
        codes = every.replace_strict(labels, numbers).to_numpy().reshape(len(levels), -1).T
        parent = _parents(codes, len(labels))
        if parent is None:
            raise SchemaError(_faults(list(zip(*levels, strict=True)), column))
        codes = codes[_depth_first(codes, len(labels))].T
        leaves, root = codes[0], codes[-1, :1]
        inner = codes[1:].ravel()
        inner = inner[np.sort(np.unique(inner, return_index=True)[1])]
        inner = inner[~np.isin(inner, leaves) & (inner != root)]
        old = np.concatenate([leaves, inner, root])
        new = np.empty(len(labels), np.int32)
        new[old] = np.arange(len(labels), dtype=np.int32)
        lo = np.full(len(labels), leaves.size, np.int32)
        hi = np.full(len(labels), -1, np.int32)
        positions = np.arange(leaves.size, dtype=np.int32)
        for level in (steps := new[codes]):
            np.minimum.at(lo, level, positions)
            np.maximum.at(hi, level, positions)
        names = tuple(labels.gather(old).to_list())
        return cls(names, new[parent[old]], lo, hi, steps)


def _parents(codes: npt.NDArray[np.int32], labels: int) -> npt.NDArray[np.int32] | None:
    """Return the parent of every label, the root's being itself; None when it is no tree.

    A label met twice on a path with others between, that is a cycle, has two parents or is the
    root with a parent, so looking at parents finds it too.
    """
    root = codes[0, -1]
    parent = np.full(labels, -1, np.int32)
    parent[root] = root
    inner = np.zeros(labels, np.bool_)
    for below, above in zip(codes.T[:-1], codes.T[1:], strict=True):
        moves = below != above
        parent[below[moves]] = above[moves]
        inner[above[moves]] = True
    for below, above in zip(codes.T[:-1], codes.T[1:], strict=True):
        moves = below != above
        if (parent[below[moves]] != above[moves]).any():
            return None
    leaves = codes[:, 0]
    one_each = np.bincount(leaves, minlength=labels).max() == 1
    if (codes[:, -1] != root).any() or parent[root] != root or not one_each or inner[leaves].any():
        return None
    return parent


def _depth_first(codes: npt.NDArray[np.int32], labels: int) -> Ints:
    """Order the leaves so that every subtree's leaves stand side by side.

    Paths are compared from the top down, labels by where the file first names them, and *without
    repeated labels*: a group that one path reaches a level later than another is still one group.
    """
    size, depth = codes.shape
    first = np.full(labels, codes.size, np.int64)
    for level, column in enumerate(codes.T):
        np.minimum.at(first, column, np.arange(size) * depth + level)
    down = first[codes[:, ::-1]]
    fresh = np.ones(down.shape, np.bool_)
    fresh[:, 1:] = down[:, 1:] != down[:, :-1]
    short = np.full(down.shape, -1, np.int64)
    rows, places = np.nonzero(fresh)
    short[rows, (np.cumsum(fresh, axis=1) - 1)[rows, places]] = down[rows, places]
    return np.lexsort(short.T[::-1])


def _faults(rows: Sequence[Sequence[str]], column: str) -> list[str]:
    """Name everything that keeps ``rows`` from being a tree with one top.

    A file without a hierarchy's form can be anything, so then only numbers of rows are told.
    """
    where = f"The hierarchy of column {column!r}"
    if not rows:
        return [f"{where} is empty: it needs one row per value, the value first, the top last."]
    depth = len(rows[0])
    for number, path in enumerate(rows, 1):
        if len(path) != depth:
            return [
                f"{where} is uneven: row {number} has {len(path)} levels, row 1 has {depth}. "
                "Every row needs the same number; repeat a label to fill up."
            ]
    if depth < 2:
        return [f"{where} has one level only: it needs at least a value and a top such as '*'."]
    tops = [path[-1] for path in rows]
    if len(set(tops)) > 1:
        second = next(number for number, top in enumerate(tops, 1) if top != tops[0])
        return [
            f"{where} has {len(set(tops)):,} different tops, in rows 1 and {second} for instance: "
            "the last level must be one label for all, for instance '*'."
        ]
    faults = []
    seen: set[str] = set()
    parent: dict[str, str] = {}
    for path in rows:
        if path[0] in seen:
            faults.append(f"{where} lists the value {path[0]!r} twice. Keep one of the rows.")
        seen.add(path[0])
        chain = [path[0]]
        for label in path[1:]:
            if label == chain[-1]:
                continue
            if label in chain:
                faults.append(f"{where} has a cycle: {' > '.join([*chain, label])}.")
                break
            other = parent.setdefault(chain[-1], label)
            if other != label:
                faults.append(
                    f"{where} gives {chain[-1]!r} two parents, {other!r} and {label!r}. "
                    "A label stands for one node: rename one of the two."
                )
            chain.append(label)
        else:
            if chain[-1] in parent:
                faults.append(
                    f"{where} has a cycle: the top {chain[-1]!r} also lies under "
                    f"{parent[chain[-1]]!r}."
                )
    if not faults:
        inner = {above for below, above in parent.items()}
        faults = [
            f"{where} uses {label!r} both as a value and as a group of other values. "
            "Rename the group: a published label must mean one thing."
            for label in sorted(seen & inner)
        ]
    return list(dict.fromkeys(faults))[:10]


@dataclass(frozen=True, eq=False)
class Ordered:
    """Numbers, dates or ranks: a generalized value is the interval between two of them.

    ``values`` holds the distinct known values in ascending order, in their own type; ``points``
    the same as numbers. ``ends``: for each value what an interval that begins there, and one that
    ends there, is published with (:mod:`shoal.tables.grid`); the value itself when there are none.
    ``bounds``: least and greatest value of the table, where limits have put others among the
    values. ``usual``: the range in which widths are measured, where the table has outliers; the
    whole one else. ``bottom``, ``top``: cells that begin before this position, or end behind it,
    are open.
    """

    values: pl.Series
    points: Floats
    ends: tuple[pl.Series, pl.Series] | None = None
    bounds: tuple[float, float] | None = None
    usual: tuple[float, float] | None = None
    bottom: int | None = None
    top: int | None = None

    kind = ORDERED

    @property
    def size(self) -> int:
        """Number of distinct known values; also the position of missing."""
        return self.points.size

    @property
    def span(self) -> float:
        """Length of the range in which widths are measured, 1 when that has none."""
        least, most = self.measured
        return float(most - least) or 1.0

    @property
    def measured(self) -> tuple[float, float]:
        """The range in which widths are measured: one outlier does not make all others cheap."""
        return self.usual or self.extent

    @property
    def extent(self) -> tuple[float, float]:
        """Least and greatest value of the table, 0 when there is none."""
        if self.bounds is not None or not self.points.size:
            return self.bounds or (0.0, 0.0)
        return float(self.points[0]), float(self.points[-1])

    @cached_property
    def reach(self) -> tuple[Floats, Floats]:
        """From where to where an interval with such an end reaches, within the measured range."""
        if self.ends is None and self.bounds is None and self.usual is None:
            return self.points, self.points
        return self._within(*self.measured)

    def _within(self, least: float, most: float) -> tuple[Floats, Floats]:
        low, high = (
            end.to_physical().cast(pl.Float64).to_numpy() for end in self.ends or (self.values,) * 2
        )
        return np.clip(low, least, most), np.clip(high, least, most)

    def width(self, lo: npt.NDArray[np.integer], hi: npt.NDArray[np.integer]) -> Floats:
        """Return the share of the column's range between known positions, 0 for one alone."""
        left, right = self.reach
        return np.where(lo == hi, 0.0, (right[hi] - left[lo]) / self.span)

    @cached_property
    def covered(self) -> tuple[Ints, Ints]:
        """First and last position that an interval with such an end covers."""
        left, right = self.reach if self.usual is None else self._within(*self.extent)
        first = np.searchsorted(self.points, left)
        return first, np.searchsorted(self.points, right, side="right") - 1


@dataclass(frozen=True, eq=False)
class Nominal:
    """Names without an order or a tree: a generalized value is a set of them."""

    values: tuple[str, ...]

    kind = SET

    @property
    def size(self) -> int:
        """Number of distinct known values; also the position of missing."""
        return len(self.values)


Domain = Taxonomy | Ordered | Nominal


def numbers(domain: Domain) -> Floats | None:
    """Return the values of a domain as numbers, None when they are names."""
    if isinstance(domain, Ordered):
        return domain.points
    if isinstance(domain, Nominal) or not domain.size:
        return None
    try:
        points = np.array([float(label) for label in domain.values])
    except ValueError:
        return None
    return points if np.isfinite(points).all() else None


def flat(values: Sequence[str], column: str) -> Taxonomy:
    """Return the taxonomy with every value right under ``*``.

    The values may be any texts, even ``*``: nodes are numbers, and a release knows the root.
    """
    if len(set(values)) < len(values):
        return Taxonomy.from_rows([(value, STAR) for value in values], column)  # names the fault
    size = len(values)
    positions = np.arange(size, dtype=np.int32)
    return Taxonomy(
        labels=(*values, STAR),
        up=np.full(size + 1, size, np.int32),
        lo=np.append(positions, np.int32(0)),
        hi=np.append(positions, np.int32(size - 1)),
        levels=np.stack([positions, np.full(size, size, np.int32)]),
    )
