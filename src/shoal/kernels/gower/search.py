"""Gower's mixed dissimilarity, and exact searches by it in a tree.

A row is a vector of numbers: a numeric column scaled to [0, 1], the position of a name otherwise,
-1 where the value is missing. The dissimilarity of two rows is the mean, over the columns known in
both, of ``|x - y|`` (numeric) or of 0 / 1 (names); 1 when no column is known in both.

A tree node's bound takes only the columns that every row below knows, and divides by all that some
row below knows: fewer terms, added in the same order, over at least as many columns, so that no row
below can be nearer, not even by rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel

GAP = -1.0
"""What stands for a missing value."""


class Field(NamedTuple):
    """Points and the tree over them; nodes in depth-first order, the left child after its parent.

    Points are numbered in tree order.
    """

    numeric: npt.NDArray[np.bool_]
    x: npt.NDArray[np.float64]
    """``[points, m]``"""
    label: npt.NDArray[np.int64]
    """What a search returns for a point; of equally near ones the smallest."""
    place: npt.NDArray[np.int64]
    """The point of a label."""
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    leaf: npt.NDArray[np.int64]
    """Leaf of each point."""
    lo: npt.NDArray[np.float64]
    """``[nodes, m]``: the known numbers below."""
    hi: npt.NDArray[np.float64]
    bag: npt.NDArray[np.uint64]
    """``[nodes, m]``: the names below, one bit per name modulo 64."""
    gap: npt.NDArray[np.bool_]
    """``[nodes, m]``: whether a missing value is below."""
    known: npt.NDArray[np.bool_]
    """``[nodes, m]``: whether a known value is below."""


class Supply(NamedTuple):
    """How much a search may find at each point, and below each node."""

    left: npt.NDArray[np.int64]
    live: npt.NDArray[np.int64]
    tag: npt.NDArray[np.int32]
    """Tag of each point."""
    tags: npt.NDArray[np.uint64]
    """The tags of what is left below each node, one bit per tag modulo 64."""
    banned: npt.NDArray[np.bool_]
    """Per tag: whether its points are not wanted now."""


class Heap(NamedTuple):
    """Nodes and points still to be looked at, nearest first.

    A point stands as its label, a node as a negative number: at one distance nodes come first.
    """

    key: npt.NDArray[np.float64]
    item: npt.NDArray[np.int64]


def new_heap(room: int) -> Heap:
    """Return a heap for as many points and nodes as one search may put in."""
    return Heap(np.empty(room + 1), np.empty(room + 1, np.int64))


@inner
def distance(
    numeric: npt.NDArray[np.bool_],
    x: npt.NDArray[np.float64],
    i: int,
    y: npt.NDArray[np.float64],
    h: int,
) -> float:
    """Return the dissimilarity of row ``i`` of ``x`` and row ``h`` of ``y``."""
    total, shared = 0.0, 0
    for j in range(numeric.size):
        a, b = x[i, j], y[h, j]
        if a < 0.0 or b < 0.0:
            continue
        shared += 1
        if numeric[j]:
            total += abs(a - b)
        elif a != b:
            total += 1.0
    return total / shared if shared else 1.0


@inner
def _least(field: Field, node: int, y: npt.NDArray[np.float64], h: int) -> float:
    """Return a dissimilarity to row ``h`` of ``y`` that no point below ``node`` goes under."""
    numeric, lo, hi, bag = field.numeric, field.lo, field.hi, field.bag
    total, shared = 0.0, 0
    for j in range(numeric.size):
        b = y[h, j]
        if b < 0.0 or not field.known[node, j]:
            continue
        shared += 1
        if field.gap[node, j]:
            continue
        if numeric[j]:
            if b < lo[node, j]:
                total += lo[node, j] - b
            elif b > hi[node, j]:
                total += b - hi[node, j]
        elif (bag[node, j] >> np.uint64(int(b) & 63)) & np.uint64(1) == np.uint64(0):
            total += 1.0
    return total / shared if shared else 1.0


@inner
def _push(heap: Heap, top: int, key: float, item: int) -> int:
    """Put one thing in; return how many there are."""
    keys, items = heap.key, heap.item
    at = top
    while at > 0:
        above = (at - 1) // 2
        if keys[above] < key or (keys[above] == key and items[above] < item):
            break
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return top + 1


@inner
def _drop(heap: Heap, top: int) -> int:
    """Take the first thing out; return how many are left."""
    keys, items = heap.key, heap.item
    top -= 1
    key, item, at = keys[top], items[top], 0
    while True:
        below = 2 * at + 1
        if below >= top:
            break
        if below + 1 < top and (
            keys[below + 1] < keys[below]
            or (keys[below + 1] == keys[below] and items[below + 1] < items[below])
        ):
            below += 1
        if key < keys[below] or (key == keys[below] and item < items[below]):
            break
        keys[at], items[at] = keys[below], items[below]
        at = below
    keys[at], items[at] = key, item
    return top


@inner
def begin_search(field: Field, supply: Supply, heap: Heap) -> int:
    """Start a search at the root; return how many things are in the heap."""
    if supply.live[0] == 0:
        return 0
    return _push(heap, 0, 0.0, -field.begin.size)


@inner
def next_point(
    field: Field, supply: Supply, heap: Heap, top: int, y: npt.NDArray[np.float64], h: int
) -> tuple[int, int]:
    """Return the label of the next nearest point to row ``h`` of ``y``, and the heap's new size.

    Points come in order of dissimilarity, then of their labels; -1 when there are no more. A tag
    that is banned once must stay so for the rest of a search.
    """
    begin, end, right, label = field.begin, field.end, field.right, field.label
    left, live, tag, banned = supply.left, supply.live, supply.tag, supply.banned
    nodes, tags, barred = field.begin.size, supply.tags, np.uint64(0)
    for t in range(banned.size if banned.size <= 64 else 0):
        if banned[t]:
            barred |= np.uint64(1) << np.uint64(t)
    while top > 0:
        item = heap.item[0]
        top = _drop(heap, top)
        if item >= 0:
            return item, top
        node = item + nodes
        if right[node] < 0:
            for e in range(begin[node], end[node]):
                if left[e] > 0 and not banned[tag[e]]:
                    near = distance(field.numeric, field.x, e, y, h)
                    top = _push(heap, top, near, label[e])
            continue
        for child in (node + 1, right[node]):
            if live[child] > 0 and (tags[child] & ~barred) != np.uint64(0):
                top = _push(heap, top, _least(field, child, y, h), child - nodes)
    return -1, 0


@inner
def _tags_at(field: Field, supply: Supply, leaf: int) -> np.uint64:
    """Return the tags of what is left at the points of a leaf."""
    tags = np.uint64(0)
    for e in range(field.begin[leaf], field.end[leaf]):
        if supply.left[e] > 0:
            tags |= np.uint64(1) << np.uint64(supply.tag[e] & 63)
    return tags


@inner
def supply_more(field: Field, supply: Supply, point: int, amount: int) -> None:
    """Change how much there is at a point."""
    live, parent, tags = supply.live, field.parent, supply.tags
    before = supply.left[point] > 0
    supply.left[point] += amount
    node = field.leaf[point]
    while node >= 0:
        live[node] += amount
        node = parent[node]
    if before == (supply.left[point] > 0):
        return
    node = field.leaf[point]
    found = _tags_at(field, supply, node)
    while node >= 0 and tags[node] != found:
        tags[node] = found
        node = parent[node]
        if node >= 0:
            found = tags[node + 1] | tags[field.right[node]]


@kernel
def refill(field: Field, supply: Supply) -> None:
    """Note what is below each node from what is at the points."""
    tags = supply.tags
    for node in range(field.begin.size - 1, -1, -1):
        supply.live[node] = 0
        if field.right[node] < 0:
            for e in range(field.begin[node], field.end[node]):
                supply.live[node] += supply.left[e]
            tags[node] = _tags_at(field, supply, node)
        else:
            tags[node] = tags[node + 1] | tags[field.right[node]]
            supply.live[node] = supply.live[node + 1] + supply.live[field.right[node]]


@inner
def relax(
    field: Field,
    supply: Supply,
    near: npt.NDArray[np.float64],
    peak: npt.NDArray[np.float64],
    trail: npt.NDArray[np.int64],
    y: npt.NDArray[np.float64],
    h: int,
) -> None:
    """Let row ``h`` of ``y`` be one more place that points may be near to.

    ``near`` is every point's distance to its nearest place, ``peak`` the largest of them below each
    node; a node that is further from the new place than its peak stays as it is. ``trail`` is room
    for as many nodes as there are, and two.
    """
    begin, end, right, left = field.begin, field.end, field.right, supply.left
    # Inner nodes passed stand at the front of the trail, nodes still to be passed at its back.
    last, seen = trail.size - 1, 0
    top, trail[last] = last, 0
    while top <= last:
        node = trail[top]
        top += 1
        if peak[node] < 0.0 or peak[node] <= _least(field, node, y, h):
            continue
        if right[node] >= 0:
            trail[seen] = node
            trail[top - 1], trail[top - 2] = right[node], node + 1
            seen, top = seen + 1, top - 2
            continue
        peak[node] = GAP
        for e in range(begin[node], end[node]):
            if left[e] > 0:
                near[e] = min(near[e], distance(field.numeric, field.x, e, y, h))
                peak[node] = max(peak[node], near[e])
    for i in range(seen - 1, -1, -1):  # children were passed after their parents
        node = trail[i]
        peak[node] = max(peak[node + 1], peak[right[node]])


@inner
def lower(
    field: Field,
    supply: Supply,
    near: npt.NDArray[np.float64],
    peak: npt.NDArray[np.float64],
    point: int,
) -> None:
    """Bring the peaks above a point that has run out up to date."""
    node = field.leaf[point]
    high = GAP
    for e in range(field.begin[node], field.end[node]):
        if supply.left[e] > 0:
            high = max(high, near[e])
    while peak[node] != high:
        peak[node] = high
        node = field.parent[node]
        if node < 0:
            break
        high = max(peak[node + 1], peak[field.right[node]])


@inner
def furthest_point(
    field: Field, supply: Supply, near: npt.NDArray[np.float64], peak: npt.NDArray[np.float64]
) -> int:
    """Return the first point, in tree order, that is furthest from its nearest place; -1 if none.

    All points are equally far, infinitely, as long as there is no place.
    """
    if peak[0] < 0.0:
        return -1
    node = 0
    while field.right[node] >= 0:
        node = node + 1 if peak[node + 1] == peak[node] else field.right[node]
    for e in range(field.begin[node], field.end[node]):
        if supply.left[e] > 0 and near[e] == peak[node]:
            return e
    return -1
