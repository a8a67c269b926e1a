"""What it costs to join a value to a group: one formula for every kind of column and both measures.

Adding position ``p`` to a group of ``size`` rows that is released as ``g`` in a column costs

    weight * (num(join) * (inv(p) + size * inv(g)) - (base(p) + size * base(g)))

- NCP: ``num`` = width, ``inv`` = 1, ``base`` = width: the growth of the loss, to the letter, with a
  missing cell free (its width is 1 before and after).
- KAIM: ``num`` = Info, ``inv`` = 1 / (Info + c), ``base`` = 0: D(t, G) of the paper without
  GenRate(t*, t*), which ``counted`` adds: ``weight * (size + 1)`` where the join is generalized.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner

TAXONOMY, ORDERED, SET = 0, 1, 2


class Space(NamedTuple):
    """The domains of all columns as flat arrays; column ``j`` starts at ``first`` and ``node0``."""

    kind: npt.NDArray[np.int8]
    size: npt.NDArray[np.int32]
    """Number of known positions, and so the position of missing."""
    weight: npt.NDArray[np.float64]
    full: npt.NDArray[np.float64]
    """``num`` of everything."""
    relative: bool
    """Whether ``inv`` of a group varies (KAIM) or is 1 (NCP)."""
    counted: bool
    """Whether a generalized join costs a constant on top: equation 12 of KAIM in full."""
    first: npt.NDArray[np.int64]
    inv: npt.NDArray[np.float64]
    """Per position, missing included."""
    base: npt.NDArray[np.float64]
    left: npt.NDArray[np.float64]
    """Ordered columns: ``num`` of positions lo .. hi is ``right[hi] - left[lo]``."""
    right: npt.NDArray[np.float64]
    node0: npt.NDArray[np.int64]
    up: npt.NDArray[np.int32]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    num: npt.NDArray[np.float64]
    node_inv: npt.NDArray[np.float64]
    node_base: npt.NDArray[np.float64]
    root: npt.NDArray[np.int32]
    """Root node of each taxonomy."""


class Group(NamedTuple):
    """A growing group: what is released for it in each column, and the terms of the formula."""

    size: npt.NDArray[np.int64]
    """One number: how many rows."""
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """Positions covered; ``hi`` is the position of missing as soon as one is in."""
    node: npt.NDArray[np.int32]
    members: npt.NDArray[np.int64]
    """Set columns: how many values are in the set."""
    num: npt.NDArray[np.float64]
    inv: npt.NDArray[np.float64]
    base: npt.NDArray[np.float64]
    stamp: npt.NDArray[np.int64]
    """Set columns, per position: the number of the last group that holds the value."""
    serial: npt.NDArray[np.int64]
    """One number: the number of this group, for the stamps."""
    table: npt.NDArray[np.float64]
    """Taxonomies, per position: ``num`` of the group joined with it."""
    top: npt.NDArray[np.int32]
    """Taxonomies: the child of the root whose stretch of the table is not all ``full``, or -1."""
    bags: npt.NDArray[np.uint64]
    """Set columns: the values in the set, one bit per value modulo 64."""
    terms: npt.NDArray[np.float64]
    """``[6, m]``: room for what a search works out about the group before it begins."""


def new_group(space: Space) -> Group:
    """Return the buffers of a growing group."""
    m, positions = space.kind.size, space.inv.size
    return Group(
        size=np.zeros(1, np.int64),
        lo=np.zeros(m, np.int32),
        hi=np.zeros(m, np.int32),
        node=np.zeros(m, np.int32),
        members=np.zeros(m, np.int64),
        num=np.zeros(m),
        inv=np.zeros(m),
        base=np.zeros(m),
        stamp=np.zeros(positions, np.int64),
        serial=np.zeros(1, np.int64),
        table=np.repeat(space.full, space.size + 1),
        top=np.full(m, -1, np.int32),
        bags=np.zeros(m, np.uint64),
        terms=np.zeros((6, m)),
    )


@inlined
def joined(space: Space, group: Group, j: int, p: int) -> float:
    """Return ``num`` of the group's value in column ``j`` joined with position ``p``."""
    missing, at = space.size[j], space.first[j]
    if p == missing or group.hi[j] == missing:
        return space.full[j]
    if space.kind[j] == TAXONOMY:
        return group.table[at + p]
    if space.kind[j] == ORDERED:
        lo = p if p < group.lo[j] else group.lo[j]
        hi = p if p > group.hi[j] else group.hi[j]
        return space.right[at + hi] - space.left[at + lo] if lo < hi else 0.0
    if group.stamp[at + p] == group.serial[0]:
        return group.num[j]
    return group.members[j] / (missing - 1 if missing > 1 else 1)


@inner
def cost(space: Space, group: Group, row: npt.NDArray[np.int32]) -> float:
    """Return the cost of adding ``row`` to the group."""
    total = 0.0
    size = group.size[0]
    for j in range(row.size):
        at = space.first[j] + row[j]
        num = joined(space, group, j, row[j])
        total += space.weight[j] * (
            num * (space.inv[at] + size * group.inv[j]) - (space.base[at] + size * group.base[j])
        )
        if space.counted and num > 0.0:
            total += space.weight[j] * (size + 1)
    return total


@inner
def _fill(space: Space, group: Group, j: int, node: int, value: float) -> None:
    """Write ``value`` into the table for every leaf under ``node``."""
    at, first = space.node0[j] + node, space.first[j]
    for p in range(first + space.lo[at], first + space.hi[at] + 1):
        group.table[p] = value


@inner
def _chart(space: Space, group: Group, j: int, p: int) -> None:
    """Fill the table of a taxonomy for a group that holds only leaf ``p`` (or missing).

    All but one subtree of the root costs ``full``; so only that subtree is written, and written
    back when the next group starts.
    """
    if group.top[j] >= 0:
        _fill(space, group, j, group.top[j], space.full[j])
        group.top[j] = -1
    if p == space.size[j]:
        return
    at = space.node0[j]
    depth, node = 0, p
    while node != space.root[j]:
        depth, group.top[j], node = depth + 1, node, space.up[at + node]
    for below in range(depth - 1, -1, -1):  # from the widest node down to the leaf
        node = p
        for _ in range(below):
            node = space.up[at + node]
        _fill(space, group, j, node, space.num[at + node])


@inner
def start(space: Space, group: Group, row: npt.NDArray[np.int32]) -> None:
    """Make ``row`` the only member of the group."""
    group.size[0] = 1
    group.serial[0] += 1
    for j in range(row.size):
        p = row[j]
        known = p < space.size[j]
        group.lo[j] = group.hi[j] = p
        group.members[j] = 1 if known else 0
        group.num[j] = 0.0 if known else space.full[j]
        group.inv[j] = space.inv[space.first[j] + p]
        group.base[j] = space.base[space.first[j] + p]
        group.stamp[space.first[j] + p] = group.serial[0]
        group.bags[j] = np.uint64(1) << np.uint64(p & 63) if known else np.uint64(0)
        if space.kind[j] == TAXONOMY:
            group.node[j] = p if known else space.root[j]
            _chart(space, group, j, p)


@inner
def add(space: Space, group: Group, row: npt.NDArray[np.int32]) -> None:
    """Add one row to the group."""
    group.size[0] += 1
    for j in range(row.size):
        p = row[j]
        if group.lo[j] == p and group.hi[j] == p:
            continue
        missing, at = space.size[j], space.first[j]
        group.num[j] = joined(space, group, j, p)
        if group.stamp[at + p] != group.serial[0]:
            group.stamp[at + p] = group.serial[0]
            group.members[j] += 1
            if p < missing:
                group.bags[j] |= np.uint64(1) << np.uint64(p & 63)
        if space.kind[j] == TAXONOMY:
            _raise(space, group, j, p)
        elif space.relative:
            group.inv[j] = 1.0 / group.num[j]
            group.base[j] = 0.0
        else:
            group.base[j] = group.num[j]
        group.lo[j] = p if p < group.lo[j] else group.lo[j]
        group.hi[j] = p if p > group.hi[j] else group.hi[j]
        if p == missing:
            group.num[j] = space.full[j]


@inner
def _raise(space: Space, group: Group, j: int, p: int) -> None:
    """Lift a taxonomy column's node until it covers ``p``, and note the new costs."""
    at, root = space.node0[j], space.root[j]
    node = group.node[j]
    if p == space.size[j]:
        node = root
    while p < space.lo[at + node] or (p > space.hi[at + node] and node != root):
        node = space.up[at + node]
    if node != group.node[j]:
        group.node[j] = node
        if node == root and group.top[j] >= 0:
            _fill(space, group, j, group.top[j], space.full[j])
            group.top[j] = -1
        elif node != root:
            _fill(space, group, j, node, space.num[at + node])
    group.inv[j], group.base[j] = space.node_inv[at + node], space.node_base[at + node]
