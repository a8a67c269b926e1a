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
from numba import njit

from shoal.kernels.space import ORDERED, SET, TAXONOMY, Group, Space

LEAF = 8
"""Entries a leaf holds at the most, unless they are all alike."""


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
    """The tags below, one bit per tag modulo 64."""
    alive: npt.NDArray[np.int64]
    """Rows still to be taken below each node."""
    home: npt.NDArray[np.int64]
    """Leaf of each entry."""
    codes: npt.NDArray[np.int32]
    """``[entries, m]``: positions of the entries, in tree order."""
    tag: npt.NDArray[np.int32]
    """Tag of each entry, in tree order."""
    x_left: npt.NDArray[np.float64]
    """``[entries, m]``: ordered columns, ``left`` and ``right`` of the positions, kept beside the
    entries because looking them up by position would miss the processor's cache."""
    x_right: npt.NDArray[np.float64]


@njit(cache=True)
def _spread(space: Space, j: int, p: int, q: int) -> float:
    """Return ``num`` of the join of two positions."""
    if p == q:
        return 0.0
    if p == space.size[j] or q == space.size[j]:
        return space.full[j]
    lo, hi = min(p, q), max(p, q)
    if space.kind[j] == TAXONOMY:
        node, at = lo, space.node0[j]
        while hi > space.hi[at + node]:
            node = space.up[at + node]
        return space.num[at + node]
    if space.kind[j] == SET:
        return 1.0 / max(space.size[j] - 1, 1)
    return space.right[space.first[j] + hi] - space.left[space.first[j] + lo]


@njit(cache=True)
def _split_column(
    space: Space, codes: npt.NDArray[np.int32], order: npt.NDArray[np.int64], a: int, b: int
) -> int:
    """Return the column in which pairs of entries differ most, -1 when all entries are alike."""
    best, column = 0.0, -1
    half = (b - a) // 2
    step = max(1, half // 16)
    for j in range(codes.shape[1]):
        spread = 0.0
        for i in range(a, a + half, step):
            spread += _spread(space, j, codes[order[i], j], codes[order[i + half], j])
        if spread * space.weight[j] > best:
            best, column = spread * space.weight[j], j
    if column < 0:  # the sampled pairs agree: look for any difference at all
        for j in range(codes.shape[1]):
            for i in range(a + 1, b):
                if codes[order[i], j] != codes[order[a], j]:
                    return j
    return column


@njit(cache=True)
def _median(part: npt.NDArray[np.int32]) -> int:
    """Return the middle value of ``part``, which is reordered (Hoare's selection)."""
    a, b, middle = 0, part.size - 1, part.size // 2
    while a < b:
        pivot, i, j = part[(a + b) // 2], a, b
        while i <= j:
            while part[i] < pivot:
                i += 1
            while part[j] > pivot:
                j -= 1
            if i <= j:
                part[i], part[j] = part[j], part[i]
                i, j = i + 1, j - 1
        if middle <= j:
            b = j
        elif middle >= i:
            a = i
        else:
            break
    return part[middle]


@njit(cache=True)
def _split(
    codes: npt.NDArray[np.int32], order: npt.NDArray[np.int64], a: int, b: int, column: int
) -> int:
    """Reorder entries a .. b so that smaller positions come first; return where the rest begins."""
    part, held = np.empty(b - a, np.int32), np.empty(b - a, np.int64)
    least = codes[order[a], column]
    for i in range(a, b):
        held[i - a], part[i - a] = order[i], codes[order[i], column]
        least = min(least, part[i - a])
    pivot = max(_median(part.copy()), least + 1)  # left: below the pivot; never empty
    at = a
    for i in range(held.size):
        if part[i] < pivot:
            order[at] = held[i]
            at += 1
    middle = at
    for i in range(held.size):
        if part[i] >= pivot:
            order[at] = held[i]
            at += 1
    return middle


@njit(cache=True)
def _plant(
    space: Space,
    codes: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int64],
    todo: npt.NDArray[np.int64],
) -> int:
    """Split the entries into a tree, reordering ``order``; return the number of nodes."""
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, codes.shape[0], -1
    nodes, top = 0, 1
    while top > 0:
        top -= 1
        a, b, above = todo[top, 0], todo[top, 1], todo[top, 2]
        node, nodes = nodes, nodes + 1
        if node > 0 and above < 0:  # a right child brings the complement of its parent
            above = ~above
            right[above] = node
        begin[node], end[node], parent[node] = a, b, above
        if b - a <= LEAF:
            continue
        column = _split_column(space, codes, order, a, b)
        if column < 0:
            continue
        middle = _split(codes, order, a, b, column)
        todo[top, 0], todo[top, 1], todo[top, 2] = middle, b, ~node
        todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = a, middle, node
        top += 2
    return nodes


@njit(cache=True)
def _furnish(space: Space, count: npt.NDArray[np.int64], tree: Tree) -> None:
    """Fill in what each node knows of the entries below it; children come after their parents."""
    one = np.uint64(1)
    for node in range(tree.begin.size - 1, -1, -1):
        if tree.right[node] < 0:
            for e in range(tree.begin[node], tree.end[node]):
                tree.home[e] = node
                tree.alive[node] += count[e]
                tree.tags[node] |= one << np.uint64(tree.tag[e] & 63)
                for j in range(space.kind.size):
                    p = tree.codes[e, j]
                    if p == space.size[j]:
                        tree.gap[node, j] = True
                        continue
                    tree.lo[node, j] = min(tree.lo[node, j], p)
                    tree.hi[node, j] = max(tree.hi[node, j], p)
                    tree.inv[node, j] = min(tree.inv[node, j], space.inv[space.first[j] + p])
                    tree.bag[node, j] |= one << np.uint64(p & 63)
        above = tree.parent[node]
        if above >= 0:
            tree.alive[above] += tree.alive[node]
            tree.tags[above] |= tree.tags[node]
            for j in range(space.kind.size):
                tree.lo[above, j] = min(tree.lo[above, j], tree.lo[node, j])
                tree.hi[above, j] = max(tree.hi[above, j], tree.hi[node, j])
                tree.inv[above, j] = min(tree.inv[above, j], tree.inv[node, j])
                tree.gap[above, j] |= tree.gap[node, j]
                tree.bag[above, j] |= tree.bag[node, j]


def plant(
    space: Space,
    codes: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    tag: npt.NDArray[np.int32],
) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Build the tree over distinct rows; return it and the order of the entries in it."""
    entries, m = codes.shape
    room = 2 * entries + 1
    order = np.arange(entries)
    shape = [np.full(room, -1, np.int64) for _ in range(4)]
    todo = np.empty((entries + 2, 3), np.int64)
    nodes = _plant(space, codes, order, shape[0], shape[1], shape[2], shape[3], todo)
    kept = np.ascontiguousarray(codes[order])
    begin, end, right, parent = (part[:nodes].copy() for part in shape)
    tree = Tree(
        begin=begin,
        end=end,
        right=right,
        parent=parent,
        lo=np.full((nodes, m), np.iinfo(np.int32).max, np.int32),
        hi=np.full((nodes, m), -1, np.int32),
        inv=np.full((nodes, m), np.inf),
        gap=np.zeros((nodes, m), np.bool_),
        edge_right=np.empty((0, m)),
        edge_left=np.empty((0, m)),
        bag=np.zeros((nodes, m), np.uint64),
        tags=np.zeros(nodes, np.uint64),
        alive=np.zeros(nodes, np.int64),
        home=np.empty(entries, np.int64),
        codes=kept,
        tag=tag[order],
        x_left=np.empty((0, m)),
        x_right=np.empty((0, m)),
    )
    _furnish(space, count[order], tree)
    if (space.kind == ORDERED).any():
        tree = tree._replace(
            edge_right=space.right[space.first + np.minimum(tree.lo, space.size)],
            edge_left=space.left[space.first + np.maximum(tree.hi, 0)],
            x_left=space.left[space.first + kept],
            x_right=space.right[space.first + kept],
        )
    return tree, order


def stack_for(tree: Tree) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return room for the nodes and bounds that a search may have open at once."""
    level = np.flatnonzero(tree.parent == -1)
    deep = 0
    while level.size:  # level by level; a child is the node after its parent, or its right child
        deep += 1
        inner = level[tree.right[level] >= 0]
        level = np.concatenate((inner + 1, tree.right[inner]))
    return np.empty(2 * deep + 2, np.int64), np.empty(2 * deep + 2)


@njit(cache=True, inline="always")
def take(tree: Tree, entry: int) -> None:
    """Note that one row of an entry is gone."""
    node = tree.home[entry]
    while node >= 0:
        tree.alive[node] -= 1
        node = tree.parent[node]


@njit(cache=True)
def bag_of(space: Space, row: npt.NDArray[np.int32], bags: npt.NDArray[np.uint64]) -> None:
    """Add the values of ``row`` to the group's bags (one bit per value modulo 64)."""
    for j in range(row.size):
        if space.kind[j] == SET and row[j] < space.size[j]:
            bags[j] |= np.uint64(1) << np.uint64(row[j] & 63)


@njit(cache=True)
def nearest(
    space: Space,
    group: Group,
    bags: npt.NDArray[np.uint64],
    tree: Tree,
    left: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> tuple[int, float]:
    """Return the living entry (of a tag not banned) that is cheapest to add, -1 if there is none.

    The formula of :mod:`shoal.kernels.space` is written out here, over local names: a call with all
    these arrays would cost more than the arithmetic.
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
    inv_g, base_g, gap_cost = np.empty(m), np.empty(m), np.empty(m)
    x_lo, x_hi, outside = np.empty(m), np.empty(m), np.empty(m)
    for j in range(m):
        at = first[j] + missing[j]
        inv_g[j], base_g[j] = size * group.inv[j], size * group.base[j]
        gap_cost[j] = weight[j] * (whole[j] * (inv[at] + inv_g[j]) - (space.base[at] + base_g[j]))
        x_lo[j], x_hi[j] = space.left[first[j] + group_lo[j]], space.right[first[j] + group_hi[j]]
        outside[j] = group.members[j] / max(missing[j] - 1, 1)
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
                if lo <= hi:  # the nearest position; inside the group's own range nothing is added
                    if group_hi[j] == missing[j]:
                        num = whole[j]
                    elif kind[j] == TAXONOMY:
                        num = table[first[j] + min(max(group_lo[j], lo), hi)]
                    elif kind[j] == ORDERED:
                        num = group_num[j]
                        if lo > group_hi[j]:
                            num = edge_right[child, j] - x_lo[j]
                        elif hi < group_lo[j]:
                            num = x_hi[j] - edge_left[child, j]
                    elif (bag[child, j] & bags[j]) == np.uint64(0):
                        num = outside[j]
                    else:
                        num = group_num[j]
                    inv_p = least_inv[child, j] if relative else 1.0
                    least = weight[j] * (num * (inv_p + inv_g[j]) - base_g[j])
                if gap[child, j]:
                    least = min(least, gap_cost[j])
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


@njit(cache=True)
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
    outside = group.members / np.maximum(missing - 1, 1)
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
                        lo, hi = min(group_lo[j], p), max(group_hi[j], p)
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
                    most = max(table[at + lo], table[at + hi])
                elif kind[j] == ORDERED:
                    lo, hi = min(group_lo[j], lo), max(group_hi[j], hi)
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
