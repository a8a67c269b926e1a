"""Find the nodes that gain at given prices of rows without looking at all the others.

A *node* has one node of the hierarchy per column; a *pattern* one level per column, and the nodes
of a pattern share no entry. Patterns come in lexicographic order, so that most of them share all
but their last levels with the one before: what was found for those is kept, column by column.

A part of the table under the nodes of some columns costs no more than any node under it, and its k
dearest rows are as dear as theirs, or dearer: where the part gains nothing, no node under it does.
Nearly all parts go that way before their last column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Boxes, Codes, Floats, Ints, span

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


class PayingEntries(NamedTuple):
    """The entries that lie under nodes, and what their rows pay."""

    codes: Codes
    """``[m, n]``"""
    rows: Ints
    """The rows that every entry stands for."""
    price: Ints
    k: int
    least: float
    """An entry that pays less than this part of what a node costs is none of its rows."""


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
    """A table of the parts of the next depth, by hash: their keys, numbers and places in it."""
    slot: Codes
    used: Codes
    rows: Ints
    """How many rows such a part has, what it gains, and its number once some are dropped."""
    gain: Ints
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
        gain=np.zeros(n, np.int64),
        fresh=np.zeros(n, np.int32),
        low=np.zeros(n, np.int32),
        high=np.zeros(n, np.int32),
    )
    depths.entry[0] = np.arange(n)
    depths.left[0], depths.parts[0] = n, min(n, 1)
    return depths


@kernel
def near(
    levels: Levels,
    boxes: Boxes,
    patterns: npt.NDArray[np.int16],
    paying: PayingEntries,
    floor: Ints,
    depths: Depths,
    cheapest: Ints,
    cost: Ints,
    where: Codes,
) -> int:
    """List the nodes of some patterns that gain; return how many, even if there is no room.

    Entries come dearest first. ``floor`` [m, levels] is what nodes of a column cost at least,
    ``cheapest`` m + 1 zeros; ``cost`` gets what every node costs, and ``where`` [room, 2] its
    pattern and an entry under it.
    """
    m, total = len(paying.codes), 0
    for q in range(len(patterns)):
        for j in range(first_change(patterns, q), m):
            level = patterns[q, j]
            limit = paying.least * (cheapest[j] + floor[j, level])
            looked, parts = split(levels, level, paying, limit, depths, j)
            cheapest[j + 1] = keep_parts(depths, paying.k, looked, parts, j)
        if depths.left[m] == 0:
            continue
        kept = joins(levels, boxes, patterns[q], paying.codes, depths)
        if total + kept <= len(cost):
            for g in range(depths.parts[m]):
                if depths.fresh[g] >= 0:
                    cost[total + depths.fresh[g]] = depths.cost[m, g]
            for i in range(depths.left[m]):
                g = depths.fresh[depths.group[m, i]]
                if g >= 0:
                    where[total + g, 0], where[total + g, 1] = q, depths.entry[m, i]
        total += kept
    return total


@inner
def split(
    levels: Levels, level: int, paying: PayingEntries, limit: float, depths: Depths, j: int
) -> tuple[int, int]:
    """Split the parts at depth j by the nodes of column j on a level.

    Returns how many entries were looked at, those dearer than ``limit``, and how many parts.
    """
    base, parts, left = levels.at[j] + level * levels.step[j], 0, depths.left[j]
    codes, rows, price, k, least = paying.codes, paying.rows, paying.price, paying.k, paying.least
    keys, slot, have, gain = depths.keys, depths.slot, depths.rows, depths.gain
    cost, mask = depths.cost[j + 1], 15
    while mask < 2 * left:
        mask = 2 * mask + 1
    for i in range(left):
        t = depths.entry[j, i]
        p = price[t]
        if p < limit:
            return i, parts
        at = base + codes[j, t]
        depths.group[j + 1, i] = -1
        g = depths.group[j, i]
        c = depths.cost[j, g] + levels.cost[at]
        if levels.look[at] < 0 or p < least * c:
            continue
        key = g * levels.step[j] + levels.look[at]
        place = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
        while slot[place] >= 0 and keys[place] != key:
            place = (place + 1) & mask
        part = slot[place]
        if part < 0:
            if p <= c:  # without a row that gains there is no gain, and dearer ones do not come
                continue
            part = parts
            slot[place], keys[place], depths.used[part] = part, key, place
            have[part], gain[part], cost[part] = 0, 0, c
            parts += 1
        depths.group[j + 1, i] = part
        many = rows[t] if p > c else min(rows[t], max(k - have[part], 0))
        have[part] += many
        gain[part] += many * (p - c)
    return left, parts


@inner
def keep_parts(depths: Depths, k: int, looked: int, parts: int, j: int) -> int:
    """Hand the parts that gain, and their entries, to the next depth.

    ``looked``: how many entries were. Returns what the cheapest part costs.
    """
    fresh, cost, kept, cheapest, left = depths.fresh, depths.cost[j + 1], 0, 0, 0
    for g in range(parts):
        depths.slot[depths.used[g]] = fresh[g] = -1
        if depths.rows[g] >= k and depths.gain[g] > 0:
            cheapest = min(cheapest, cost[g]) if kept else cost[g]
            cost[kept], fresh[g] = cost[g], kept
            kept += 1
    for i in range(looked if kept else 0):
        g = depths.group[j + 1, i]
        if g >= 0 and fresh[g] >= 0:
            depths.entry[j + 1, left] = depths.entry[j, i]
            depths.group[j + 1, left] = fresh[g]
            left += 1
    depths.left[j + 1], depths.parts[j + 1] = left, kept
    return cheapest


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
