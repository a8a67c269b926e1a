"""Building the tree over the distinct rows: median splits, then what each node knows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.costs import ORDERED, SET, TAXONOMY, Space
from shoal.kernels.space.tree import Tree

LEAF = 8
"""Entries a leaf holds at the most, unless they are all alike."""


@inner
def _spread(space: Space, j: int, p: int, q: int) -> float:
    """Return ``num`` of the join of two positions."""
    if p == q:
        return 0.0
    if p == space.size[j] or q == space.size[j]:
        return space.full[j]
    lo, hi = (p, q) if p < q else (q, p)
    if space.kind[j] == TAXONOMY:
        node, at = lo, space.node0[j]
        while hi > space.hi[at + node]:
            node = space.up[at + node]
        return space.num[at + node]
    if space.kind[j] == SET:
        return 1.0 / (space.size[j] - 1 if space.size[j] > 1 else 1)
    return space.right[space.first[j] + hi] - space.left[space.first[j] + lo]


@inner
def _split_column(
    space: Space, codes: npt.NDArray[np.int32], order: npt.NDArray[np.int64], a: int, b: int
) -> int:
    """Return the column in which pairs of entries differ most, -1 when all entries are alike."""
    best, column = 0.0, -1
    half = (b - a) // 2
    step = half // 16 if half >= 32 else 1
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


@inner
def _median(part: npt.NDArray[np.int32], size: int) -> int:
    """Return the middle of the first ``size`` values, which are reordered (Hoare's selection)."""
    a, b, middle = 0, size - 1, size // 2
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


@inner
def _split(
    codes: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    a: int,
    b: int,
    column: int,
    part: npt.NDArray[np.int32],
    held: npt.NDArray[np.int64],
) -> int:
    """Reorder entries a .. b so that smaller positions come first; return where the rest begins.

    ``part`` and ``held`` are room for as many numbers as there are entries.
    """
    least = codes[order[a], column]
    for i in range(a, b):
        held[i - a], part[i - a] = order[i], codes[order[i], column]
        least = part[i - a] if part[i - a] < least else least
    pivot = _median(part, b - a)
    if pivot == least:  # left: below the pivot; never empty
        pivot += 1
    at, over = a, 0
    for i in range(b - a):
        if codes[held[i], column] < pivot:
            order[at] = held[i]
            at += 1
        else:
            held[over] = held[i]
            over += 1
    for i in range(over):
        order[at + i] = held[i]
    return at


@kernel
def _split_all(
    space: Space,
    codes: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int64],
    todo: npt.NDArray[np.int64],
    part: npt.NDArray[np.int32],
    held: npt.NDArray[np.int64],
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
        middle = _split(codes, order, a, b, column, part, held)
        todo[top, 0], todo[top, 1], todo[top, 2] = middle, b, ~node
        todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = a, middle, node
        top += 2
    return nodes


@inner
def _include(tree: Tree, node: int, j: int, lo: int, hi: int, inv: float, bag: np.uint64) -> None:
    """Let column ``j`` of a node cover positions lo .. hi too."""
    low, high, least = tree.lo[node, j], tree.hi[node, j], tree.inv[node, j]
    tree.lo[node, j] = lo if lo < low else low
    tree.hi[node, j] = hi if hi > high else high
    tree.inv[node, j] = inv if inv < least else least
    tree.bag[node, j] |= bag


@kernel
def _describe(space: Space, count: npt.NDArray[np.int64], tree: Tree) -> None:
    """Fill in what each node knows of the entries below it; children come after their parents."""
    one = np.uint64(1)
    for node in range(tree.begin.size - 1, -1, -1):
        if tree.right[node] < 0:
            for e in range(tree.begin[node], tree.end[node]):
                tree.leaf[e] = node
                tree.alive[node] += count[e]
                tree.tags[node] |= one << np.uint64(tree.tag[e] & 63)
                for j in range(space.kind.size):
                    p = tree.codes[e, j]
                    if p == space.size[j]:
                        tree.gap[node, j] = True
                        continue
                    inv = space.inv[space.first[j] + p]
                    _include(tree, node, j, p, p, inv, one << np.uint64(p & 63))
        above = tree.parent[node]
        if above >= 0:
            tree.alive[above] += tree.alive[node]
            tree.tags[above] |= tree.tags[node]
            for j in range(space.kind.size):
                tree.gap[above, j] |= tree.gap[node, j]
                lo, hi = tree.lo[node, j], tree.hi[node, j]
                _include(tree, above, j, lo, hi, tree.inv[node, j], tree.bag[node, j])


def build_tree(
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
    part, held = np.empty(entries, np.int32), np.empty(entries, np.int64)
    nodes = _split_all(
        space, codes, order, shape[0], shape[1], shape[2], shape[3], todo, part, held
    )
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
        leaf=np.empty(entries, np.int64),
        codes=kept,
        tag=tag[order],
        x_left=np.empty((0, m)),
        x_right=np.empty((0, m)),
    )
    _describe(space, count[order], tree)
    if (space.kind == ORDERED).any():
        tree = tree._replace(
            edge_right=space.right[space.first + np.minimum(tree.lo, space.size)],
            edge_left=space.left[space.first + np.maximum(tree.hi, 0)],
            x_left=space.left[space.first + kept],
            x_right=space.right[space.first + kept],
        )
    return tree, order
