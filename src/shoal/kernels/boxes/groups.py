"""A partition that can change: linked lists of rows, the box and the loss of every group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import (
    SET,
    Boxes,
    Codes,
    Extents,
    Floats,
    Ints,
    clear,
    extend,
    loss,
)


class Chains(NamedTuple):
    """The rows of each group as a list: ``first``, then ``after``, until -1."""

    group: Ints
    """Group of each row."""
    after: Ints
    before: Ints
    first: Ints
    """First row of each group, -1 for a number not in use."""


class State(NamedTuple):
    """Groups under change. Group numbers not in use wait on the stack ``free[:live[0]]``."""

    chains: Chains
    extents: Extents
    size: Ints
    cost: Floats
    """Total loss of each group."""
    free: Ints
    live: Ints


def start_state(boxes: Boxes, codes: Codes, labels: Ints, spare: int = 64) -> State:
    """Return the state of a partition given as a group number per row."""
    n, m = codes.shape
    room = int(labels.max()) + 1 + spare
    shape = (room, m)
    state = State(
        Chains(labels.astype(np.int64), np.full(n, -1), np.full(n, -1), np.full(room, -1)),
        Extents(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)),
        size=np.zeros(room, np.int64),
        cost=np.zeros(room),
        free=np.zeros(room, np.int64),
        live=np.zeros(1, np.int64),
    )
    _fill(boxes, codes, state, new_seen(boxes))
    return state


def new_seen(boxes: Boxes) -> Ints:
    """Return room for the stamps with which :func:`measure` counts values."""
    return np.zeros(max(int(boxes.size.max()), 1) + 1, np.int64)


@kernel
def _fill(boxes: Boxes, codes: Codes, state: State, seen: Ints) -> None:
    chains = state.chains
    for r in range(len(chains.group)):
        link(chains, r, chains.group[r])
    stamp = 0
    for g in range(len(chains.first) - 1, -1, -1):
        if chains.first[g] < 0:
            state.free[state.live[0]] = g
            state.live[0] += 1
        else:
            stamp += len(boxes.kind)
            state.size[g], state.cost[g] = measure(
                boxes, codes, chains.after, chains.first[g], state.extents, g, seen, stamp
            )


@inner
def link(chains: Chains, r: int, g: int) -> None:
    """Put row r at the head of group g."""
    head = chains.first[g]
    chains.after[r], chains.before[r] = head, -1
    if head >= 0:
        chains.before[head] = r
    chains.first[g] = r
    chains.group[r] = g


@inner
def unlink(chains: Chains, r: int) -> None:
    """Take row r out of its group."""
    before, after = chains.before[r], chains.after[r]
    if before >= 0:
        chains.after[before] = after
    else:
        chains.first[chains.group[r]] = after
    if after >= 0:
        chains.before[after] = before


@inner
def measure(
    boxes: Boxes,
    codes: Codes,
    after: Ints,
    first: int,
    extents: Extents,
    g: int,
    seen: Ints,
    stamp: int,
) -> tuple[int, float]:
    """Size and exact loss of the group that starts at row `first`; its box goes to [g].

    Set columns too wide for a mask are counted value by value: `seen` holds stamps, of which
    `stamp - m + 1 .. stamp` are this call's own.
    """
    clear(boxes, extents, g)
    z, r = 0, first
    while r >= 0:
        z += 1
        extend(boxes, extents, g, codes, r)
        r = after[r]
    for j in range(len(boxes.kind)):
        if boxes.kind[j] == SET and boxes.size[j] > 63 and extents.miss[g, j] == 0:
            extents.lo[g, j], r = 0, first
            while r >= 0:
                if seen[codes[r, j]] != stamp - j:
                    seen[codes[r, j]] = stamp - j
                    extents.lo[g, j] += 1
                r = after[r]
    return z, loss(boxes, extents, g, z)


@inner
def holds(
    k: int, rule: Conditions | None, sens: Codes, after: Ints, first: int, z: int, hist: Ints
) -> bool:
    """Whether the group that starts at row `first` is allowed; `hist` is all 0 before and after."""
    if z < k:
        return False
    if rule is None:
        return True
    r = first
    while r >= 0:
        add(rule, sens, r, 1, hist)
        r = after[r]
    good = shortfall(rule, hist) == 0.0
    r = first
    while r >= 0:
        add(rule, sens, r, -1, hist)
        r = after[r]
    return good
