"""Place: rows that no class took join the groups that they cost least."""

from __future__ import annotations

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.conditions import add, shortfall
from shoal.kernels.boxes.geometry import Ints, Parts, Shape, loss_with
from shoal.kernels.boxes.groups import link, measure, unlink


@kernel
def place_leftovers(
    space: Shape,
    rule: Parts,
    codes: Ints,
    sens: Ints,
    state: Parts,
    rest: int,
    seen: Ints,
    hist: Ints,
) -> None:
    """Empty group ``rest`` into the others, one row at a time.

    A row that would make every other group break a condition stays where it is. ``hist`` is room
    for a count per sensitive value, all 0.
    """
    kind, dsize, off, tab = space
    grp, nxt, prv, head, size, cost, lo, hi, miss, _free, _live = state
    stamp = 0
    r = head[rest]
    while r >= 0:
        after = nxt[r]
        best, home = np.inf, -1
        for g in range(len(size)):
            if size[g] == 0 or g == rest:
                continue
            limit = cost[g] + best
            d = loss_with(kind, dsize, off, tab, lo, hi, miss, g, size[g], codes, r, limit)
            if d - cost[g] < best and _takes(rule, sens, nxt, head[g], r, hist):
                best, home = d - cost[g], g
        if home >= 0:
            unlink(grp, nxt, prv, head, r)
            link(grp, nxt, prv, head, r, home)
            stamp += len(kind)
            size[home], cost[home] = measure(
                kind, dsize, off, tab, codes, nxt, head[home], lo, hi, miss, home, seen, stamp
            )
        r = after


@inner
def _takes(rule: Parts, sens: Ints, nxt: Ints, first: int, r: int, hist: Ints) -> bool:
    """Say whether a group still meets every condition with row r in it."""
    if rule is None:
        return True
    base = rule[3]
    s = first
    while s >= 0:
        add(base, sens, s, 1, hist)
        s = nxt[s]
    add(base, sens, r, 1, hist)
    good = shortfall(rule, hist) == 0.0
    for v in range(len(hist)):
        hist[v] = 0
    return good
