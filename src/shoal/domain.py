"""The three kinds of quasi-identifier domains, each with its join and its width.

Every value of a column becomes a *position*: leaves of a taxonomy in depth-first order, distinct
numbers in ascending order, set values by name. The position after the last one is *missing*: it
stands for any value, so its join with anything is ``*``, of width 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import SchemaError

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
        Label of each node; the root's label is whatever the hierarchy says, published as ``*``.
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
    def width(self) -> npt.NDArray[np.float64]:
        """Share of the leaves under each node; 0 for a leaf."""
        share = (self.hi - self.lo + 1) / self.size
        share[: self.size] = 0.0
        return share

    def cover(
        self, lo: npt.NDArray[np.integer], hi: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int32]:
        """Return the lowest node over positions ``lo .. hi``, for arrays; missing gives the root."""
        known = hi < self.size
        node = np.where(known, np.minimum(lo, self.size - 1), self.root).astype(np.int32)
        while (short := known & (self.hi[node] < hi)).any():
            node[short] = self.up[node[short]]
        return node

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], column: str) -> Taxonomy:
        """Build a taxonomy from one path per leaf: leaf first, top last, all of one length.

        A label that repeats along a path (``Haiti; Haiti; *``) is one node. A label stands for one
        node in the whole tree, since it is all that the reader of a release sees.
        """
        parent = _parents(rows, column)
        depth = len(rows[0])
        # Sorting paths from the top down puts every subtree's leaves side by side.
        rank = {label: i for i, label in enumerate(dict.fromkeys(x for r in rows for x in r))}
        order = sorted(range(len(rows)), key=lambda i: [rank[x] for x in reversed(rows[i])])
        paths = [rows[i] for i in order]
        leaves = [path[0] for path in paths]
        root = paths[0][-1]
        leaf_set = set(leaves)
        between = dict.fromkeys(path[d] for d in range(1, depth) for path in paths)
        inner = [label for label in between if label != root and label not in leaf_set]
        labels = (*leaves, *inner, root)
        number = {label: i for i, label in enumerate(labels)}
        levels = np.array([[number[path[d]] for path in paths] for d in range(depth)], np.int32)
        up = np.array([number[parent.get(label, root)] for label in labels], np.int32)
        lo = np.full(len(labels), len(leaves), np.int32)
        hi = np.full(len(labels), -1, np.int32)
        positions = np.arange(len(leaves), dtype=np.int32)
        for level in levels:
            np.minimum.at(lo, level, positions)
            np.maximum.at(hi, level, positions)
        return cls(labels, up, lo, hi, levels)


def _parents(rows: Sequence[Sequence[str]], column: str) -> dict[str, str]:
    """Map every label but the top to its parent, after checking that the rows form a tree."""
    faults = _faults(rows, column)
    if faults:
        raise SchemaError(faults)
    return {
        label: above
        for path in rows
        for label, above in zip(path, path[1:], strict=False)
        if label != above
    }


def _faults(rows: Sequence[Sequence[str]], column: str) -> list[str]:
    """Name everything that keeps ``rows`` from being a tree with one top."""
    where = f"The hierarchy of column {column!r}"
    if not rows:
        return [f"{where} is empty: it needs one row per value, the value first, the top last."]
    depth = len(rows[0])
    for number, path in enumerate(rows, 1):
        if len(path) != depth:
            return [
                f"{where} is uneven: row {number} ({path[0]!r}) has {len(path)} levels, "
                f"row 1 has {depth}. Every row needs the same number; repeat a label to fill up."
            ]
    if depth < 2:
        return [f"{where} has one level only: it needs at least a value and a top such as '*'."]
    faults = []
    tops = list(dict.fromkeys(path[-1] for path in rows))
    if len(tops) > 1:
        faults.append(
            f"{where} has {len(tops)} different tops ({tops[0]!r}, {tops[1]!r}, ...): "
            "the last level must be one label for all, for instance '*'."
        )
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
        for label in sorted(seen & inner):
            faults.append(
                f"{where} uses {label!r} both as a value and as a group of other values. "
                "Rename the group: a published label must mean one thing."
            )
    return list(dict.fromkeys(faults))[:10]


@dataclass(frozen=True, eq=False)
class Ordered:
    """Numbers, dates or ranks: a generalized value is the interval between two of them.

    ``values`` holds the distinct known values in ascending order, in their own type; ``points``
    the same as numbers, which give the widths.
    """

    values: pl.Series
    points: npt.NDArray[np.float64]

    kind = ORDERED

    @property
    def size(self) -> int:
        """Number of distinct known values; also the position of missing."""
        return self.points.size

    @property
    def span(self) -> float:
        """Largest minus smallest value, 1 when there is nothing to divide by."""
        if self.points.size == 0 or self.points[-1] == self.points[0]:
            return 1.0
        return float(self.points[-1] - self.points[0])


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


def flat(values: Sequence[str], column: str) -> Taxonomy:
    """Return the taxonomy with every value right under ``*``."""
    return Taxonomy.from_rows([(value, STAR) for value in values], column)
