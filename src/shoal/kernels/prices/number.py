"""Number the nodes of patterns: which entries lie under which node, and what it costs a row.

A *node* has one node of the hierarchy per column; a *pattern* one level per column, and the nodes
of a pattern share no entry. Patterns come in lexicographic order, so that most of them share all
but their last levels with the one before: what was found for those is kept, depth by depth, and a
part of a node with fewer than k rows is never looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Boxes, Codes, Floats, Ints, span

NONE = np.uint16(65535)
"""The number of no node."""
EQUAL = 1e-9
"""Widths closer than this are the same."""


class Levels(NamedTuple):
    """The nodes of every column on levels; nodes of a level share no position."""

    look: Codes
    """By column, level and position: the number of the node on that level, -1 for none."""
    cost: Ints
    """The same for what the node costs a row, in units, rounded down."""
    wide: Floats
    """The same as a width."""
    at: Ints
    """Where a column starts in these."""
    step: Ints
    """Positions of a column, missing included."""
    many: Ints
    """Levels of a column."""


class Depths(NamedTuple):
    """Room to number nodes: for each column what is left of the entries once it is fixed."""

    entry: Codes
    """``[m + 1, n]``: the entries that are left."""
    group: Codes
    """``[m + 1, n]``: the part of a node that each of them lies in."""
    left: Ints
    """``[m + 1]``: how many entries."""
    parts: Ints
    """``[m + 1]``: how many parts."""
    cost: Ints
    """``[m + 1, n]``: what a part costs so far."""
    keys: Ints
    slot: Codes
    used: Codes
    rows: Ints
    fresh: Codes
    low: Codes
    """Least and greatest position of a part in one column, to tell joins from wider nodes."""
    high: Codes


def new_depths(n: int, m: int) -> Depths:
    """Return room for n entries of m columns."""
    places = 1 << max(4, int(np.ceil(np.log2(2 * n + 1))))
    depths = Depths(
        entry=np.zeros((m + 1, n), np.int32),
        group=np.zeros((m + 1, n), np.int32),
        left=np.zeros(m + 1, np.int64),
        parts=np.zeros(m + 1, np.int64),
        cost=np.zeros((m + 1, n), np.int64),
        keys=np.zeros(places, np.int64),
        slot=np.full(places, -1, np.int32),
        used=np.zeros(n, np.int32),
        rows=np.zeros(n, np.int64),
        fresh=np.zeros(n, np.int32),
        low=np.zeros(n, np.int32),
        high=np.zeros(n, np.int32),
    )
    depths.entry[0] = np.arange(n)
    depths.left[0], depths.parts[0] = n, min(n, 1)
    return depths


@kernel
def number(
    levels: Levels,
    boxes: Boxes,
    patterns: npt.NDArray[np.int16],
    codes: Codes,
    rows: Ints,
    k: int,
    limit: int,
    depths: Depths,
    ids: npt.NDArray[np.uint16],
    nodes: Ints,
    cost: Ints,
) -> int:
    """Fill in the node of every entry for every pattern, and what nodes cost.

    Only nodes count that have k rows, cost less than ``limit``, and are the join of their entries:
    no class is published as another one. ``codes`` is [m, n]; ``ids`` [patterns, n]; ``nodes`` gets
    how many nodes a pattern has, ``cost`` their costs one pattern after the other. Returns how many
    nodes there are, or -1 when there is no room for their numbers.
    """
    m, total = len(codes), 0
    for q in range(len(patterns)):
        for j in range(first_change(patterns, q), m):
            _split(levels, patterns[q, j], codes, rows, k, limit, depths, j)
        for t in range(ids.shape[1]):
            ids[q, t] = NONE
        nodes[q] = 0
        if depths.left[m] == 0:
            continue
        kept = joins(levels, boxes, patterns[q], codes, depths)
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


@inner
def _split(
    levels: Levels,
    level: int,
    codes: Codes,
    rows: Ints,
    k: int,
    limit: int,
    depths: Depths,
    j: int,
) -> None:
    """Split the parts at depth j by the nodes of column j on a level; keep those worth it."""
    base = levels.at[j] + level * levels.step[j]
    keys, slot, fresh = depths.keys, depths.slot, depths.fresh
    mask = len(keys) - 1
    parts, span_of = 0, levels.step[j]
    for i in range(depths.left[j]):
        t = depths.entry[j, i]
        node = levels.look[base + codes[j, t]]
        depths.group[j + 1, i] = -1
        if node < 0:
            continue
        g = depths.group[j, i]
        key = g * span_of + node
        place = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
        while slot[place] >= 0 and keys[place] != key:
            place = (place + 1) & mask
        if slot[place] < 0:
            slot[place], keys[place], depths.used[parts] = parts, key, place
            depths.rows[parts] = 0
            depths.cost[j + 1, parts] = depths.cost[j, g] + levels.cost[base + codes[j, t]]
            parts += 1
        depths.group[j + 1, i] = slot[place]
        depths.rows[slot[place]] += rows[t]
    kept = 0
    for g in range(parts):
        slot[depths.used[g]] = -1
        fresh[g] = -1
        if depths.rows[g] >= k and depths.cost[j + 1, g] < limit:
            depths.cost[j + 1, kept] = depths.cost[j + 1, g]
            fresh[g] = kept
            kept += 1
    keep_entries(depths, j, depths.left[j], kept)


@inner
def keep_entries(depths: Depths, j: int, looked: int, kept: int) -> None:
    """Hand the first entries, if in parts that are numbered in ``fresh``, to the next depth."""
    left = 0
    for i in range(looked if kept else 0):
        g = depths.group[j + 1, i]
        if g >= 0 and depths.fresh[g] >= 0:
            depths.entry[j + 1, left] = depths.entry[j, i]
            depths.group[j + 1, left] = depths.fresh[g]
            left += 1
    depths.left[j + 1], depths.parts[j + 1] = left, kept


@inner
def first_change(patterns: npt.NDArray[np.int16], q: int) -> int:
    """Return the first column in which a pattern differs from the one before it."""
    first = 0
    if q:
        while first < patterns.shape[1] and patterns[q, first] == patterns[q - 1, first]:
            first += 1
    return first


@inner
def joins(
    levels: Levels, boxes: Boxes, pattern: npt.NDArray[np.int16], codes: Codes, depths: Depths
) -> int:
    """Number the nodes that are the join of their entries in ``fresh``, -1 for the others."""
    m = len(codes)
    parts, left, low, high = depths.parts[m], depths.left[m], depths.low, depths.high
    for g in range(parts):
        depths.fresh[g] = 0
    for j in range(m):
        if pattern[j] == 0:  # single positions
            continue
        base, size = levels.at[j] + pattern[j] * levels.step[j], boxes.size[j]
        for g in range(parts):
            low[g], high[g] = size + 1, -1
        for i in range(left):
            g, v = depths.group[m, i], codes[j, depths.entry[m, i]]
            low[g] = min(low[g], v)
            high[g] = max(high[g], v)
        for g in range(parts):
            # A class of gaps alone is published as a gap, which is this node too.
            if low[g] < size:
                joined = span(boxes, j, low[g], high[g])
                if joined < levels.wide[base + low[g]] - EQUAL:
                    depths.fresh[g] = -1
    kept = 0
    for g in range(parts):
        if depths.fresh[g] >= 0:
            depths.fresh[g] = kept
            kept += 1
    return kept
