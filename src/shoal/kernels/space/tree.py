"""A median-split tree over the distinct rows, and exact nearest / furthest searches in it.

Each tree node knows per column the range of known positions below it, whether a missing value is
below it, and how many rows are still alive. A node's bound is the cost of the nearest position in
that range, so a search that skips every node whose bound is above the best found so far is exact.
Entries are numbered in tree order, and ties go to the smallest number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner
from shoal.kernels.space.costs import ORDERED, TAXONOMY, Group, Space


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


def stack_for(tree: Tree) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return room for the nodes and bounds that a search may have open at once."""
    level = np.flatnonzero(tree.parent == -1)
    deep = 0
    while level.size:  # level by level; a child is the node after its parent, or its right child
        deep += 1
        inner = level[tree.right[level] >= 0]
        level = np.concatenate((inner + 1, tree.right[inner]))
    return np.empty(2 * deep + 2, np.int64), np.empty(2 * deep + 2)


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


@inlined
def near_num(
    kind: int,
    lo: int,
    hi: int,
    left_end: float,
    right_end: float,
    bag: np.uint64,
    first: int,
    missing: int,
    whole: float,
    table: npt.NDArray[np.float64],
    group_lo: int,
    group_hi: int,
    group_num: float,
    x_lo: float,
    x_hi: float,
    group_bag: np.uint64,
    outside: float,
) -> float:
    """Return ``num`` of the group joined with the nearest of a tree node's known positions.

    Inside the group's own range nothing is added. All of one column: the node's range, edges and
    bag, the domain, the group's range, ends, bag and ``num`` with one value more (``outside``).
    """
    if group_hi == missing:
        num = whole
    elif kind == TAXONOMY:
        p = group_lo if group_lo > lo else lo
        num = table[first + (p if p < hi else hi)]
    elif kind == ORDERED:
        num = group_num
        if lo > group_hi:
            num = right_end - x_lo
        elif hi < group_lo:
            num = x_hi - left_end
    elif (bag & group_bag) == np.uint64(0):
        num = outside
    else:
        num = group_num
    return num


@inner
def nearest(
    space: Space,
    group: Group,
    tree: Tree,
    left: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> tuple[int, float]:
    """Return the living entry (of a tag not banned) that is cheapest to add, -1 if there is none.

    The formula of :mod:`shoal.kernels.space.costs` is written out here, over local names: a call
    with all these arrays would cost more than the arithmetic.
    """
    codes, tag, x_left, x_right = tree.codes, tree.tag, tree.x_left, tree.x_right
    begin, end, right, alive, tags = tree.begin, tree.end, tree.right, tree.alive, tree.tags
    low, high, gap, least_inv, bag = tree.lo, tree.hi, tree.gap, tree.inv, tree.bag
    edge_left, edge_right = tree.edge_left, tree.edge_right
    kind, missing, first, weight, inv = space.kind, space.size, space.first, space.weight, space.inv
    relative, whole = space.relative, space.full
    table, stamp, serial = group.table, group.stamp, group.serial[0]
    group_lo, group_hi, group_num = group.lo, group.hi, group.num
    m, size = kind.size, group.size[0]
    # Per column: size * inv(g) and size * base(g) of the formula, the cost of a missing value, the
    # group's ends if it is an interval, and num of a set with one value more.
    terms, bags = group.terms, group.bags
    inv_g, base_g, gap_cost = terms[0], terms[1], terms[2]
    x_lo, x_hi, outside = terms[3], terms[4], terms[5]
    for j in range(m):
        at = first[j] + missing[j]
        inv_g[j], base_g[j] = size * group.inv[j], size * group.base[j]
        gap_cost[j] = weight[j] * (whole[j] * (inv[at] + inv_g[j]) - (space.base[at] + base_g[j]))
        x_lo[j], x_hi[j] = space.left[first[j] + group_lo[j]], space.right[first[j] + group_hi[j]]
        outside[j] = group.members[j] / (missing[j] - 1 if missing[j] > 1 else 1)
    barred = np.uint64(0)
    for t in range(banned.size if banned.size <= 64 else 0):
        if banned[t]:
            barred |= np.uint64(1) << np.uint64(t)
    best, best_cost, seen = -1, np.inf, 0
    stack[0], bounds[0] = 0, 0.0
    top = 1 if alive[0] > 0 else 0
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound > best_cost or (bound == best_cost and begin[node] > best):
            continue
        if right[node] < 0:
            for e in range(begin[node], end[node]):
                if left[e] == 0 or banned[tag[e]]:
                    continue
                seen += 1
                total = 0.0
                for j in range(m):
                    p = codes[e, j]
                    if p == missing[j]:
                        total += gap_cost[j]
                        continue
                    if kind[j] == TAXONOMY:
                        num = table[first[j] + p]
                    elif group_hi[j] == missing[j]:
                        num = whole[j]
                    elif kind[j] == ORDERED:
                        num = group_num[j]
                        if p > group_hi[j]:
                            num = x_right[e, j] - x_lo[j]
                        elif p < group_lo[j]:
                            num = x_hi[j] - x_left[e, j]
                    else:
                        num = group_num[j] if stamp[first[j] + p] == serial else outside[j]
                    inv_p = inv[first[j] + p] if relative else 1.0
                    total += weight[j] * (num * (inv_p + inv_g[j]) - base_g[j])
                    if total > best_cost:
                        break
                if total < best_cost or (total == best_cost and e < best):
                    best, best_cost = e, total
            continue
        near, far, near_bound, far_bound = -1, -1, np.inf, np.inf
        for child in (node + 1, right[node]):
            if alive[child] == 0 or (tags[child] & ~barred) == np.uint64(0):
                continue
            seen += 1
            total = 0.0
            for j in range(m):
                least = np.inf
                lo, hi = low[child, j], high[child, j]
                if lo <= hi:
                    edges = kind[j] == ORDERED
                    num = near_num(
                        kind[j],
                        lo,
                        hi,
                        edge_left[child, j] if edges else 0.0,
                        edge_right[child, j] if edges else 0.0,
                        bag[child, j],
                        first[j],
                        missing[j],
                        whole[j],
                        table,
                        group_lo[j],
                        group_hi[j],
                        group_num[j],
                        x_lo[j],
                        x_hi[j],
                        bags[j],
                        outside[j],
                    )
                    inv_p = least_inv[child, j] if relative else 1.0
                    least = weight[j] * (num * (inv_p + inv_g[j]) - base_g[j])
                if gap[child, j] and gap_cost[j] < least:
                    least = gap_cost[j]
                total += least
                if total > best_cost:
                    break
            if total > best_cost or (total == best_cost and begin[child] > best):
                continue
            if near < 0:
                near, near_bound = child, total
            elif total < near_bound:
                far, far_bound, near, near_bound = near, near_bound, child, total
            else:
                far, far_bound = child, total
        if far >= 0:  # the nearer child goes on top of the stack
            stack[top], bounds[top] = far, far_bound
            top += 1
        if near >= 0:
            stack[top], bounds[top] = near, near_bound
            top += 1
    visits[0] += seen
    return best, best_cost


@inner
def furthest(
    space: Space,
    group: Group,
    tree: Tree,
    left: npt.NDArray[np.int64],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
) -> int:
    """Return the living entry whose join with the group is widest, -1 when none is alive."""
    kind, missing, first = space.kind, space.size, space.first
    weight, whole, table = space.weight, space.full, group.table
    low, high, gap, alive, right = tree.lo, tree.hi, tree.gap, tree.alive, tree.right
    reach_left, reach_right = space.left, space.right
    group_lo, group_hi, stamp, serial = group.lo, group.hi, group.stamp, group.serial[0]
    outside = group.terms[5]
    for j in range(kind.size):
        outside[j] = group.members[j] / (missing[j] - 1 if missing[j] > 1 else 1)
    best, best_distance = -1, -1.0
    stack[0], bounds[0] = 0, np.inf
    top = 1 if alive[0] > 0 else 0
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best_distance or (bound == best_distance and tree.begin[node] > best):
            continue
        if right[node] < 0:
            for e in range(tree.begin[node], tree.end[node]):
                if left[e] == 0:
                    continue
                total = 0.0
                for j in range(kind.size):
                    p, at = tree.codes[e, j], first[j]
                    if p == missing[j] or group_hi[j] == missing[j]:
                        num = whole[j]
                    elif kind[j] == TAXONOMY:
                        num = table[at + p]
                    elif kind[j] == ORDERED:
                        lo = p if p < group_lo[j] else group_lo[j]
                        hi = p if p > group_hi[j] else group_hi[j]
                        num = reach_right[at + hi] - reach_left[at + lo] if lo < hi else 0.0
                    else:
                        num = group.num[j] if stamp[at + p] == serial else outside[j]
                    total += weight[j] * num
                if total > best_distance or (total == best_distance and e < best):
                    best, best_distance = e, total
            continue
        near, far, near_bound, far_bound = -1, -1, -1.0, -1.0
        for child in (node + 1, right[node]):
            if alive[child] == 0:
                continue
            total = 0.0
            for j in range(kind.size):
                most, at = 0.0, first[j]
                lo, hi = low[child, j], high[child, j]
                if gap[child, j] or group_hi[j] == missing[j]:
                    most = whole[j]
                elif kind[j] == TAXONOMY:
                    low_end, high_end = table[at + lo], table[at + hi]
                    most = low_end if low_end > high_end else high_end
                elif kind[j] == ORDERED:
                    lo = group_lo[j] if group_lo[j] < lo else lo
                    hi = group_hi[j] if group_hi[j] > hi else hi
                    most = reach_right[at + hi] - reach_left[at + lo]
                else:
                    most = outside[j]
                total += weight[j] * most
            if total < best_distance or (total == best_distance and tree.begin[child] > best):
                continue
            if near < 0:
                near, near_bound = child, total
            elif total > near_bound:
                far, far_bound, near, near_bound = near, near_bound, child, total
            else:
                far, far_bound = child, total
        if far >= 0:
            stack[top], bounds[top] = far, far_bound
            top += 1
        if near >= 0:
            stack[top], bounds[top] = near, near_bound
            top += 1
    return best
