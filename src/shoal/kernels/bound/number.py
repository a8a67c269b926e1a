"""Number the nodes of patterns: which entries lie under which node, and what it costs a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import kernel
from shoal.kernels.boxes.geometry import Boxes, Ints
from shoal.kernels.prices.nodes import (
    Depths,
    Levels,
    PayingEntries,
    first_change,
    joins,
    keep_parts,
    split,
)

NONE = np.uint16(65535)
"""The number of no node."""


@kernel
def number(
    levels: Levels,
    boxes: Boxes,
    patterns: npt.NDArray[np.int16],
    paying: PayingEntries,
    depths: Depths,
    ids: npt.NDArray[np.uint16],
    nodes: Ints,
    cost: Ints,
) -> int:
    """Fill in the node of every entry for every pattern, and what nodes cost.

    Only nodes count that have k rows, cost less than rows pay, which is the same for all, and are
    the join of their entries: no class is published as another one. ``ids`` is [patterns, n];
    ``nodes`` gets how many nodes a pattern has, ``cost`` their costs one pattern after the other.
    Returns how many nodes there are, or -1 when there is no room for their numbers.
    """
    m, total = len(paying.codes), 0
    for q in range(len(patterns)):
        for j in range(first_change(patterns, q), m):
            level = patterns[q, j]
            looked, parts = split(levels, level, paying, 0.0, depths, j)
            keep_parts(depths, paying.k, looked, parts, j)
        for t in range(ids.shape[1]):
            ids[q, t] = NONE
        nodes[q] = 0
        if depths.left[m] == 0:
            continue
        kept = joins(levels, boxes, patterns[q], paying.codes, depths)
        if kept >= NONE or total + kept > len(cost):
            return -1
        for g in range(depths.parts[m]):
            if depths.fresh[g] >= 0:
                cost[total + depths.fresh[g]] = depths.cost[m, g]
        for i in range(depths.left[m]):
            g = depths.fresh[depths.group[m, i]]
            if g >= 0:
                ids[q, depths.entry[m, i]] = g
        nodes[q] = kept
        total += kept
    return total
