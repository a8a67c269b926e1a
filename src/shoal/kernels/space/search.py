"""Branch and bound over the tree of entries: the nearest entry, the furthest, or some clusters.

A node's bound is what the best thing below it could cost at the least, so a search that skips every
node whose bound is above the best found so far is exact. Ties go to the smallest number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner
from shoal.kernels.space.cluster_index import ClusterIndex, insert
from shoal.kernels.space.costs import ORDERED, TAXONOMY, Group, Space, joined, new_group
from shoal.kernels.space.covers import Covers, join_cost
from shoal.kernels.space.tree import Tree


class Search(NamedTuple):
    """What searches look through, the group they look for, and room to do it in."""

    space: Space
    group: Group
    tree: Tree
    stack: npt.NDArray[np.int64]
    """The nodes that are open, the next one on top."""
    bounds: npt.NDArray[np.float64]
    visits: npt.NDArray[np.int64]
    """One number, to which the nodes, entries and clusters looked at are added."""


def new_search(space: Space, tree: Tree, visits: npt.NDArray[np.int64] | None = None) -> Search:
    """Return room for searches in a tree."""
    level = np.flatnonzero(tree.parent == -1)
    deep = 0
    while level.size:  # level by level; a child is the node after its parent, or its right child
        deep += 1
        parents = level[tree.right[level] >= 0]
        level = np.concatenate((parents + 1, tree.right[parents]))
    room, seen = 2 * deep + 2, np.zeros(1, np.int64) if visits is None else visits
    return Search(space, new_group(space), tree, np.empty(room, np.int64), np.empty(room), seen)


class _Terms(NamedTuple):
    """What can be worked out about a group before a search begins, per column."""

    inv: npt.NDArray[np.float64]
    """``size * inv(g)`` of the formula, and ``size * base(g)``."""
    base: npt.NDArray[np.float64]
    gap: npt.NDArray[np.float64]
    """The cost of a missing value."""
    low: npt.NDArray[np.float64]
    """The group's ends if it is an interval."""
    high: npt.NDArray[np.float64]
    outside: npt.NDArray[np.float64]
    """``num`` of a set with one value more."""


@inlined
def _terms(space: Space, group: Group) -> _Terms:
    room, size = group.terms, group.size[0]
    terms = _Terms(room[0], room[1], room[2], room[3], room[4], room[5])
    for j in range(space.kind.size):
        first, missing = space.first[j], space.size[j]
        at = first + missing
        terms.inv[j], terms.base[j] = size * group.inv[j], size * group.base[j]
        terms.gap[j] = space.weight[j] * (
            space.full[j] * (space.inv[at] + terms.inv[j]) - (space.base[at] + terms.base[j])
        )
        if space.counted:
            terms.gap[j] += space.weight[j] * (size + 1)
        terms.low[j] = space.left[first + group.lo[j]]
        terms.high[j] = space.right[first + group.hi[j]]
        terms.outside[j] = group.members[j] / (missing - 1 if missing > 1 else 1)
    return terms


@inlined
def _near_num(space: Space, group: Group, terms: _Terms, tree: Tree, node: int, j: int) -> float:
    """Return ``num`` of the group joined with the nearest of a tree node's known positions.

    Inside the group's own range nothing is added.
    """
    lo, hi, num = tree.lo[node, j], tree.hi[node, j], group.num[j]
    if group.hi[j] == space.size[j]:
        num = space.full[j]
    elif space.kind[j] == TAXONOMY:
        p = group.lo[j] if group.lo[j] > lo else lo
        num = group.table[space.first[j] + (p if p < hi else hi)]
    elif space.kind[j] == ORDERED:
        if lo > group.hi[j]:
            num = tree.edge_right[node, j] - terms.low[j]
        elif hi < group.lo[j]:
            num = terms.high[j] - tree.edge_left[node, j]
    elif (tree.bag[node, j] & group.bags[j]) == np.uint64(0):
        num = terms.outside[j]
    return num


@inlined
def _least_cost(
    space: Space, group: Group, terms: _Terms, tree: Tree, node: int, limit: float
) -> float:
    """Return what adding any entry below a node costs at the least; stops above ``limit``."""
    total = 0.0
    for j in range(space.kind.size):
        least = np.inf
        if tree.lo[node, j] <= tree.hi[node, j]:
            num = _near_num(space, group, terms, tree, node, j)
            inv = tree.inv[node, j] if space.relative else 1.0
            least = space.weight[j] * (num * (inv + terms.inv[j]) - terms.base[j])
            if space.counted and num > 0.0:
                least += space.weight[j] * (group.size[0] + 1)
        if tree.gap[node, j] and terms.gap[j] < least:
            least = terms.gap[j]
        total += least
        if total > limit:
            break
    return total


@inlined
def _cost(space: Space, group: Group, terms: _Terms, tree: Tree, e: int, limit: float) -> float:
    """Return what adding an entry costs; stops above ``limit``."""
    total = 0.0
    for j in range(space.kind.size):
        p, first = tree.codes[e, j], space.first[j]
        if p == space.size[j]:
            total += terms.gap[j]
            continue
        num = group.num[j]
        if space.kind[j] == TAXONOMY:
            num = group.table[first + p]
        elif group.hi[j] == space.size[j]:
            num = space.full[j]
        elif space.kind[j] == ORDERED:
            if p > group.hi[j]:
                num = tree.x_right[e, j] - terms.low[j]
            elif p < group.lo[j]:
                num = terms.high[j] - tree.x_left[e, j]
        elif group.stamp[first + p] != group.serial[0]:
            num = terms.outside[j]
        inv = space.inv[first + p] if space.relative else 1.0
        total += space.weight[j] * (num * (inv + terms.inv[j]) - terms.base[j])
        if space.counted and num > 0.0:
            total += space.weight[j] * (group.size[0] + 1)
        if total > limit:
            break
    return total


@inlined
def _most_width(space: Space, group: Group, terms: _Terms, tree: Tree, node: int) -> float:
    """Return how wide the join of the group with any entry below a node is at the most."""
    total = 0.0
    for j in range(space.kind.size):
        lo, hi, at = tree.lo[node, j], tree.hi[node, j], space.first[j]
        if tree.gap[node, j] or group.hi[j] == space.size[j]:
            most = space.full[j]
        elif space.kind[j] == TAXONOMY:
            most = max(group.table[at + lo], group.table[at + hi])
        elif space.kind[j] == ORDERED:
            most = space.right[at + max(group.hi[j], hi)] - space.left[at + min(group.lo[j], lo)]
        else:
            most = terms.outside[j]
        total += space.weight[j] * most
    return total


@inlined
def _width(space: Space, group: Group, tree: Tree, e: int) -> float:
    """Return how wide the join of the group with an entry is."""
    total = 0.0
    for j in range(space.kind.size):
        total += space.weight[j] * joined(space, group, j, tree.codes[e, j])
    return total


@inlined
def _least_join(
    space: Space,
    group: Group,
    terms: _Terms,
    tree: Tree,
    index: ClusterIndex,
    node: int,
    limit: float,
) -> float:
    """Return what joining any open cluster below a node costs at the least; stops above ``limit``.

    It costs what the group's own rows lose by covering the cluster's first row and becoming as wide
    as the slimmest cluster, and what the cluster's rows lose beyond the widest one.
    """
    total, size = 0.0, group.size[0]
    for j in range(space.kind.size):
        num = space.full[j]
        if tree.lo[node, j] <= tree.hi[node, j]:
            num = _near_num(space, group, terms, tree, node, j)
        theirs = num - index.widest[node, j]
        num = max(num, index.slimmest[node, j])
        own = size * (num - group.num[j])
        total += space.weight[j] * (own + index.least * theirs if theirs > 0.0 else own)
        if total > limit:
            break
    return total


class _Best(NamedTuple):
    """The best found so far: what must be undercut, and the number that breaks ties with it."""

    cost: float
    number: int
    found: int
    """How many clusters were found."""
    seen: int
    """How many entries or clusters were looked at."""


@inlined
def _scan_clusters(
    space: Space, tree: Tree, index: ClusterIndex, covers: Covers, slot: int, node: int, best: _Best
) -> _Best:
    """Return the best once the open clusters at the entries of a leaf are looked at."""
    worst, last, found, seen = best
    for e in range(tree.begin[node], tree.end[node]):
        c = index.first[e]
        while c >= 0:
            if not index.shut[c]:
                seen += 1
                total = join_cost(space, covers, slot, c, worst)
                if total < worst or (total == worst and c < last):
                    found += 1 if found < index.best.size else 0
                    insert(index, found - 1, c, total)
                    if found == index.best.size:
                        worst, last = index.price[found - 1], index.best[found - 1]
            c = index.following[c]
    return _Best(worst, last, found, seen)


@inlined
def _scan_entries(
    space: Space,
    group: Group,
    terms: _Terms,
    tree: Tree,
    left: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_] | None,
    node: int,
    best: _Best,
) -> _Best:
    """Return the best once the living entries of a leaf are looked at."""
    worst, last, found, seen = best
    for e in range(tree.begin[node], tree.end[node]):
        if left[e] == 0:
            continue
        if banned is None:
            total = -_width(space, group, tree, e)
        else:
            if banned[tree.tag[e]]:
                continue
            seen += 1
            total = _cost(space, group, terms, tree, e, worst)
        if total < worst or (total == worst and e < last):
            worst, last = total, e
    return _Best(worst, last, found, seen)


@inlined
def _barred(banned: npt.NDArray[np.bool_]) -> np.uint64:
    """Return the banned tags, a bit each; none when there are more than bits."""
    barred = np.uint64(0)
    for t in range(banned.size if banned.size <= 64 else 0):
        if banned[t]:
            barred |= np.uint64(1) << np.uint64(t)
    return barred


@inlined
def _bound(
    search: Search,
    terms: _Terms,
    banned: npt.NDArray[np.bool_] | None,
    barred: np.uint64,
    index: ClusterIndex | None,
    node: int,
    limit: float,
) -> float:
    """Return what the best thing below a node costs at the least; infinity when there is none."""
    space, group, tree = search.space, search.group, search.tree
    if index is not None:
        if index.below[node] == 0:
            return np.inf
        return _least_join(space, group, terms, tree, index, node, limit)
    if tree.alive[node] == 0:
        return np.inf
    if banned is None:
        return -_most_width(space, group, terms, tree, node)
    if (tree.tags[node] & ~barred) == np.uint64(0):
        return np.inf
    return _least_cost(space, group, terms, tree, node, limit)


@inner
def _search(
    search: Search,
    left: npt.NDArray[np.int64] | None,
    banned: npt.NDArray[np.bool_] | None,
    index: ClusterIndex | None,
    covers: Covers | None,
    slot: int,
    limit: float,
) -> _Best:
    """Return the best that costs less than ``limit``.

    One loop for three searches; what does not apply is None, and left out of what is compiled.
    Clusters if there is an index; else the nearest entry of a tag not banned; without tags the
    furthest, whose cost is its width below 0.
    """
    space, group, tree = search.space, search.group, search.tree
    stack, bounds, terms = search.stack, search.bounds, _terms(search.space, search.group)
    best, visits, barred = _Best(limit, -1, 0, 0), 0, np.uint64(0)
    if banned is not None:
        barred = _barred(banned)
    stack[0], bounds[0], top = 0, -np.inf if left is not None else 0.0, 1
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        # Clusters are not numbered in tree order: any node may have one of a smaller number.
        ahead = tree.begin[node] if index is None else 0
        if bound > best.cost or (bound == best.cost and ahead > best.number):
            continue
        if tree.right[node] < 0:
            if index is not None and covers is not None:
                best = _scan_clusters(space, tree, index, covers, slot, node, best)
            elif left is not None:
                best = _scan_entries(space, group, terms, tree, left, banned, node, best)
            continue
        near, far, near_bound, far_bound = -1, -1, np.inf, np.inf
        for child in (node + 1, tree.right[node]):
            bound = _bound(search, terms, banned, barred, index, child, best.cost)
            visits += 1 if bound < np.inf else 0
            ahead = tree.begin[child] if index is None else 0
            if bound > best.cost or (bound == best.cost and ahead > best.number):
                continue
            if near < 0:
                near, near_bound = child, bound
            elif bound < near_bound:
                far, far_bound, near, near_bound = near, near_bound, child, bound
            else:
                far, far_bound = child, bound
        if far >= 0:  # the nearer child goes on top of the stack
            stack[top], bounds[top], top = far, far_bound, top + 1
        if near >= 0:
            stack[top], bounds[top], top = near, near_bound, top + 1
    search.visits[0] += visits + best.seen
    return best


@inlined
def nearest(
    search: Search, left: npt.NDArray[np.int64], banned: npt.NDArray[np.bool_]
) -> tuple[int, float]:
    """Return the living entry (of a tag not banned) that is cheapest to add, -1 if there is none.

    ``left`` has the rows that each entry still has.
    """
    best = _search(search, left, banned, None, None, 0, np.inf)
    return best.number, best.cost


@inlined
def furthest(search: Search, left: npt.NDArray[np.int64]) -> int:
    """Return the living entry whose join with the group is widest, -1 when none is alive."""
    return _search(search, left, None, None, None, 0, np.inf).number


@inlined
def nearest_clusters(
    search: Search, index: ClusterIndex, covers: Covers, slot: int, limit: float
) -> int:
    """Fill ``index.best`` with the open clusters that are cheapest to join with the group.

    The group is that of the search for the bounds and number ``slot`` of ``covers`` for the costs.
    Returns how many were found below ``limit``.
    """
    return _search(search, None, None, index, covers, slot, limit).found
