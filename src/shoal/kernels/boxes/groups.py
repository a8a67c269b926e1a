"""A partition that can change: linked lists of rows, the box and the loss of every group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.conditions import add, shortfall
from shoal.kernels.boxes.geometry import (
    SET,
    Boxes,
    Floats,
    Ints,
    Parts,
    Shape,
    clear,
    extend,
    loss,
)


class State(NamedTuple):
    """Groups under change. Group numbers not in use wait on the stack ``free[:live[0]]``."""

    grp: Ints
    """Group of each row."""
    nxt: Ints
    """Next row of the same group, -1 at the end; ``prv`` the one before."""
    prv: Ints
    head: Ints
    """First row of each group, -1 for a number not in use."""
    size: Ints
    cost: Floats
    """Total loss of each group."""
    lo: Ints
    """``[groups, m]``: the box of each group."""
    hi: Ints
    miss: Ints
    """``[groups, m]``: missing cells."""
    free: Ints
    live: Ints


def start_state(boxes: Boxes, codes: Ints, labels: Ints, spare: int = 64) -> State:
    """Return the state of a partition given as a group number per row."""
    n, m = codes.shape
    room = int(labels.max()) + 1 + spare
    state = State(
        grp=labels.astype(np.int64),
        nxt=np.full(n, -1),
        prv=np.full(n, -1),
        head=np.full(room, -1),
        size=np.zeros(room, np.int64),
        cost=np.zeros(room),
        lo=np.zeros((room, m), np.int64),
        hi=np.zeros((room, m), np.int64),
        miss=np.zeros((room, m), np.int64),
        free=np.zeros(room, np.int64),
        live=np.zeros(1, np.int64),
    )
    seen = np.zeros(max(int(boxes.size.max()), 1) + 1, np.int64)
    _fill((boxes.kind, boxes.size, boxes.off, boxes.tab), codes, tuple(state), seen)
    return state


@kernel
def _fill(space: Shape, codes: Ints, state: Parts, seen: Ints) -> None:
    kind, dsize, off, tab = space
    grp, nxt, prv, head, size, cost, lo, hi, miss, free, live = state
    for r in range(len(grp)):
        link(grp, nxt, prv, head, r, grp[r])
    stamp = 0
    for g in range(len(head) - 1, -1, -1):
        if head[g] < 0:
            free[live[0]] = g
            live[0] += 1
        else:
            stamp += len(kind)
            size[g], cost[g] = measure(
                kind, dsize, off, tab, codes, nxt, head[g], lo, hi, miss, g, seen, stamp
            )


@inner
def link(grp: Ints, nxt: Ints, prv: Ints, head: Ints, r: int, g: int) -> None:
    """Put row r at the head of group g."""
    nxt[r], prv[r] = head[g], -1
    if head[g] >= 0:
        prv[head[g]] = r
    head[g] = r
    grp[r] = g


@inner
def unlink(grp: Ints, nxt: Ints, prv: Ints, head: Ints, r: int) -> None:
    """Take row r out of its group."""
    if prv[r] >= 0:
        nxt[prv[r]] = nxt[r]
    else:
        head[grp[r]] = nxt[r]
    if nxt[r] >= 0:
        prv[nxt[r]] = prv[r]


@inner
def measure(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    codes: Ints,
    nxt: Ints,
    first: int,
    lo: Ints,
    hi: Ints,
    miss: Ints,
    g: int,
    seen: Ints,
    stamp: int,
) -> tuple[int, float]:
    """Size and exact loss of the group that starts at row `first`; its box goes to [g] of lo, hi.

    Set columns too wide for a mask are counted value by value: `seen` holds stamps, of which
    `stamp - m + 1 .. stamp` are this call's own.
    """
    clear(kind, lo, hi, miss, g)
    z, r = 0, first
    while r >= 0:
        z += 1
        extend(kind, dsize, lo, hi, miss, g, codes, r)
        r = nxt[r]
    for j in range(len(kind)):
        if kind[j] == SET and dsize[j] > 63 and miss[g, j] == 0:
            lo[g, j], r = 0, first
            while r >= 0:
                if seen[codes[r, j]] != stamp - j:
                    seen[codes[r, j]] = stamp - j
                    lo[g, j] += 1
                r = nxt[r]
    return z, loss(kind, dsize, off, tab, lo, hi, miss, g, z)


@inner
def holds(k: int, rule: Parts, sens: Ints, nxt: Ints, first: int, z: int, hist: Ints) -> bool:
    """Whether the group that starts at row `first` is allowed; `hist` is all 0 before and after."""
    if z < k:
        return False
    if rule is None:
        return True
    base = rule[3]
    r = first
    while r >= 0:
        add(base, sens, r, 1, hist)
        r = nxt[r]
    good = shortfall(rule, hist) == 0.0
    r = first
    while r >= 0:
        add(base, sens, r, -1, hist)
        r = nxt[r]
    return good
