"""A median-split tree over the distinct rows.

Each tree node knows per column the range of known positions below it, whether a missing value is
below it, and how many rows are still alive. Entries are numbered in tree order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner


class Tree(NamedTuple):
    """Nodes in depth-first order: the left child follows its parent."""

    begin: npt.NDArray[np.int64]
    """First entry below a node; ``end`` is one past the last."""
    end: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    """Right child, -1 for a leaf."""
    parent: npt.NDArray[np.int64]
    lo: npt.NDArray[np.int32]
    """``[nodes, m]``: least known position; above ``hi`` when all are missing."""
    hi: npt.NDArray[np.int32]
    inv: npt.NDArray[np.float64]
    """``[nodes, m]``: least ``inv`` of the known positions."""
    gap: npt.NDArray[np.bool_]
    """``[nodes, m]``: whether a missing value is below."""
    edge_right: npt.NDArray[np.float64]
    """``[nodes, m]``: ordered columns, ``right`` of ``lo``: how far a group below must reach."""
    edge_left: npt.NDArray[np.float64]
    """``[nodes, m]``: ordered columns, ``left`` of ``hi``, for a group above."""
    bag: npt.NDArray[np.uint64]
    """``[nodes, m]``: set columns, the values below, one bit per value modulo 64."""
    tags: npt.NDArray[np.uint64]
    """The tags still to be taken below, one bit per tag modulo 64."""
    alive: npt.NDArray[np.int64]
    """Rows still to be taken below each node."""
    leaf: npt.NDArray[np.int64]
    """Leaf of each entry."""
    codes: npt.NDArray[np.int32]
    """``[entries, m]``: positions of the entries, in tree order."""
    tag: npt.NDArray[np.int32]
    """Tag of each entry, in tree order."""
    x_left: npt.NDArray[np.float64]
    """``[entries, m]``: ordered columns, ``left`` and ``right`` of the positions, kept beside the
    entries because looking them up by position would miss the processor's cache."""
    x_right: npt.NDArray[np.float64]


@inner
def take(tree: Tree, left: npt.NDArray[np.int64], entry: int) -> None:
    """Note that one row of an entry is gone; ``left`` has the rows that each entry still has."""
    node = tree.leaf[entry]
    while node >= 0:
        tree.alive[node] -= 1
        node = tree.parent[node]
    if left[entry] > 0:
        return
    node, tags = tree.leaf[entry], np.uint64(0)
    for e in range(tree.begin[node], tree.end[node]):
        if left[e] > 0:
            tags |= np.uint64(1) << np.uint64(tree.tag[e] & 63)
    while node >= 0 and tree.tags[node] != tags:
        tree.tags[node] = tags
        node = tree.parent[node]
        if node >= 0:
            tags = tree.tags[node + 1] | tree.tags[tree.right[node]]
