"""Find the nodes that gain at given prices of rows without looking at all the others.

Columns are fixed one after the other. A part of the table under the nodes of some columns costs no
more than any node under it, and its k dearest rows are as dear as theirs, or dearer: where the part
gains nothing, no node under it does. Nearly all parts go that way before their last column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Boxes, Codes, Ints
from shoal.kernels.prices.number import Depths, Levels, first_change, joins, keep_entries


@kernel
def near(
    levels: Levels,
    boxes: Boxes,
    patterns: npt.NDArray[np.int16],
    codes: Codes,
    rows: Ints,
    price: Ints,
    k: int,
    least: float,
    floor: Ints,
    depths: Depths,
    gain: Ints,
    cheapest: Ints,
    cost: Ints,
    where: Codes,
) -> int:
    """List the nodes of some patterns that gain; return how many, even if there is no room.

    Entries come dearest first, and one of less than ``least`` of what a node costs is none of its
    rows. ``codes`` is [m, n], ``floor`` [m, levels] what nodes of a column cost at least, ``gain``
    room for n numbers, ``cheapest`` m + 1 zeros; ``cost`` gets what every node costs, and ``where``
    [room, 2] its pattern and an entry under it.
    """
    m, total = len(codes), 0
    for q in range(len(patterns)):
        for j in range(first_change(patterns, q), m):
            level = patterns[q, j]
            limit = least * (cheapest[j] + floor[j, level])
            told = (levels, level, codes, rows, price, k, least, limit, depths, gain, j)
            looked, parts = _split(*told)
            cheapest[j + 1] = _keep(depths, gain, k, looked, parts, j)
        if depths.left[m] == 0:
            continue
        kept = joins(levels, boxes, patterns[q], codes, depths)
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
def _split(
    levels: Levels,
    level: int,
    codes: Codes,
    rows: Ints,
    price: Ints,
    k: int,
    least: float,
    limit: float,
    depths: Depths,
    gain: Ints,
    j: int,
) -> tuple[int, int]:
    """Split the parts at depth j by the nodes of column j on a level.

    Returns how many entries were looked at, those dearer than ``limit``, and how many parts.
    """
    base, parts, left = levels.at[j] + level * levels.step[j], 0, depths.left[j]
    keys, slot, have, cost, mask = depths.keys, depths.slot, depths.rows, depths.cost[j + 1], 15
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
def _keep(depths: Depths, gain: Ints, k: int, looked: int, parts: int, j: int) -> int:
    """Hand the parts that gain to the next depth; return what the cheapest costs."""
    fresh, cost, kept, cheapest = depths.fresh, depths.cost[j + 1], 0, 0
    for g in range(parts):
        depths.slot[depths.used[g]] = fresh[g] = -1
        if depths.rows[g] >= k and gain[g] > 0:
            cheapest = min(cheapest, cost[g]) if kept else cost[g]
            cost[kept], fresh[g] = cost[g], kept
            kept += 1
    keep_entries(depths, j, looked, kept)
    return cheapest
