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


class SeenValues(NamedTuple):
    """Room to count the different values of a set."""

    mark: Ints
    """Per value: the number of the count that has met it last."""
    counts: Ints
    """How many counts there were, in one place."""


def new_seen(boxes: Boxes) -> SeenValues:
    """Return room for the values of the largest column."""
    return SeenValues(np.zeros(max(int(boxes.size.max()), 1) + 1, np.int64), np.zeros(1, np.int64))


@kernel
def _fill(boxes: Boxes, codes: Codes, state: State, seen: SeenValues) -> None:
    chains = state.chains
    for r in range(len(chains.group)):
        link(chains, r, chains.group[r])
    for g in range(len(chains.first) - 1, -1, -1):
        if chains.first[g] < 0:
            state.free[state.live[0]] = g
            state.live[0] += 1
        else:
            state.size[g], state.cost[g] = measure(boxes, codes, chains, g, state.extents, g, seen)


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
    boxes: Boxes, codes: Codes, chains: Chains, g: int, extents: Extents, to: int, seen: SeenValues
) -> tuple[int, float]:
    """Return size and exact loss of group g; its box goes to place ``to`` of ``extents``.

    Set columns too wide for a mask are counted value by value.
    """
    clear(boxes, extents, to)
    z, r = 0, chains.first[g]
    while r >= 0:
        z += 1
        extend(boxes, extents, to, codes, r)
        r = chains.after[r]
    for j in range(len(boxes.kind)):
        if boxes.kind[j] == SET and boxes.size[j] > 63 and extents.miss[to, j] == 0:
            seen.counts[0] += 1
            extents.lo[to, j], r = 0, chains.first[g]
            while r >= 0:
                if seen.mark[codes[r, j]] != seen.counts[0]:
                    seen.mark[codes[r, j]] = seen.counts[0]
                    extents.lo[to, j] += 1
                r = chains.after[r]
    return z, loss(boxes, extents, to, z)


@inner
def holds(rule: Conditions, sens: Codes, chains: Chains, g: int, more: int, hist: Ints) -> bool:
    """Whether group g keeps the conditions, with row ``more`` in it; -1 for none.

    ``hist`` is all 0 before and after.
    """
    _count(rule, sens, chains, g, more, 1, hist)
    good = shortfall(rule, hist) == 0.0
    _count(rule, sens, chains, g, more, -1, hist)
    return good


@inner
def _count(
    rule: Conditions, sens: Codes, chains: Chains, g: int, more: int, times: int, hist: Ints
) -> None:
    """Count the rows of a group, and one more, into a histogram (1), or out of it (-1)."""
    r = chains.first[g]
    while r >= 0:
        add(rule, sens, r, times, hist)
        r = chains.after[r]
    if more >= 0:
        add(rule, sens, more, times, hist)
