"""Where finished clusters are, and which of them is cheapest to join.

A finished cluster is found at the entry of its first row. Whatever joins the cluster covers that
entry too, so a search over the same tree of entries bounds the cost of joining the cluster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.costs import ORDERED, Group, Space
from shoal.kernels.space.covers import Covers, join_num
from shoal.kernels.space.tree import Tree, near_num


class ClusterIndex(NamedTuple):
    """Where the finished clusters are."""

    below: npt.NDArray[np.int64]
    """Open clusters to be found below each tree node."""
    first: npt.NDArray[np.int64]
    """First cluster to be found at each entry, -1 for none."""
    following: npt.NDArray[np.int64]
    """The next one at the same entry, per cluster."""
    entry: npt.NDArray[np.int64]
    """The entry at which each cluster is found."""
    widest: npt.NDArray[np.float64]
    """``[nodes, m]``: the largest ``num`` of the open clusters below."""
    slimmest: npt.NDArray[np.float64]
    """``[nodes, m]``: at most the smallest ``num`` of the open clusters below."""
    shut: npt.NDArray[np.bool_]
    """Clusters that searches pass by; all others are open."""
    best: npt.NDArray[np.int64]
    """What a search has found: the cheapest clusters first, as many as there is room for."""
    price: npt.NDArray[np.float64]
    least: int
    """Rows that a cluster has at the least."""


def new_index(tree: Tree, entries: int, clusters: int, least: int, wanted: int = 1) -> ClusterIndex:
    """Return an empty index for up to ``clusters`` clusters of at least so many rows.

    ``wanted``: how many clusters a search looks for.
    """
    return ClusterIndex(
        np.zeros(tree.begin.size, np.int64),
        np.full(entries, -1, np.int64),
        np.full(clusters, -1, np.int64),
        np.full(clusters, -1, np.int64),
        np.zeros(tree.lo.shape),
        np.full(tree.lo.shape, np.inf),
        np.zeros(clusters, np.bool_),
        np.full(wanted, -1, np.int64),
        np.empty(wanted),
        least,
    )


@inner
def add_cluster(tree: Tree, index: ClusterIndex, covers: Covers, cluster: int, entry: int) -> None:
    """Let a cluster be found at an entry."""
    index.following[cluster], index.first[entry] = index.first[entry], cluster
    index.entry[cluster] = entry
    widen(tree, index, covers, cluster)
    node = tree.leaf[entry]
    while node >= 0:
        index.below[node] += 1
        for j in range(covers.num.shape[1]):
            index.slimmest[node, j] = min(index.slimmest[node, j], covers.num[cluster, j])
        node = tree.parent[node]


@inner
def widen(tree: Tree, index: ClusterIndex, covers: Covers, cluster: int) -> None:
    """Tell the nodes above a cluster how wide it has become."""
    node, news = tree.leaf[index.entry[cluster]], True
    while node >= 0 and news:
        news = False
        for j in range(covers.num.shape[1]):
            if covers.num[cluster, j] > index.widest[node, j]:
                index.widest[node, j] = covers.num[cluster, j]
                news = True
        node = tree.parent[node]


@kernel
def add_all(
    tree: Tree, index: ClusterIndex, covers: Covers, entries: npt.NDArray[np.int64]
) -> None:
    """Let cluster ``c`` be found at ``entries[c]``."""
    for c in range(entries.size):
        add_cluster(tree, index, covers, c, entries[c])


@inner
def shut_out(tree: Tree, index: ClusterIndex, cluster: int) -> None:
    """Shut an open cluster."""
    index.shut[cluster] = True
    node = tree.leaf[index.entry[cluster]]
    while node >= 0:
        index.below[node] -= 1
        node = tree.parent[node]


@inner
def reopen(tree: Tree, index: ClusterIndex, covers: Covers, clusters: int) -> None:
    """Tell all nodes anew which of the first ``clusters`` clusters are open, and how wide."""
    below, widest, slimmest, m = index.below, index.widest, index.slimmest, covers.num.shape[1]
    for node in range(below.size):
        below[node] = 0
        for j in range(m):
            widest[node, j], slimmest[node, j] = 0.0, np.inf
    for c in range(clusters):
        if not index.shut[c]:
            node = tree.leaf[index.entry[c]]
            below[node] += 1
            for j in range(m):
                widest[node, j] = max(widest[node, j], covers.num[c, j])
                slimmest[node, j] = min(slimmest[node, j], covers.num[c, j])
    for node in range(below.size - 1, 0, -1):  # children come after their parents
        above = tree.parent[node]
        below[above] += below[node]
        for j in range(m):
            widest[above, j] = max(widest[above, j], widest[node, j])
            slimmest[above, j] = min(slimmest[above, j], slimmest[node, j])


@inner
def _insert(
    best: npt.NDArray[np.int64], price: npt.NDArray[np.float64], at: int, c: int, cost: float
) -> None:
    """Put a cluster into the list, in order; place ``at`` is free, or the last and given up."""
    while at > 0 and (price[at - 1] > cost or (price[at - 1] == cost and best[at - 1] > c)):
        price[at], best[at] = price[at - 1], best[at - 1]
        at -= 1
    price[at], best[at] = cost, c


@inner
def nearest_clusters(
    space: Space,
    group: Group,
    tree: Tree,
    index: ClusterIndex,
    covers: Covers,
    slot: int,
    limit: float,
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> int:
    """Fill ``index.best`` with the open clusters that are cheapest to join with the group.

    The group is ``group`` for the bounds and number ``slot`` of ``covers`` for the costs. A cluster
    costs at least what the group's own rows lose by covering its first row and becoming as wide as
    the slimmest cluster below a node, and what the cluster's rows lose beyond the widest one. Ties
    go to the smaller number. Returns how many were found below ``limit``.
    """
    right, low, high, bag = tree.right, tree.lo, tree.hi, tree.bag
    edge_left, edge_right, below = tree.edge_left, tree.edge_right, index.below
    widest, slimmest, least = index.widest, index.slimmest, index.least
    kind, missing, first, weight = space.kind, space.size, space.first, space.weight
    whole, table, group_num = space.full, group.table, group.num
    group_lo, group_hi = group.lo, group.hi
    m, size = kind.size, group.size[0]
    terms, bags = group.terms, group.bags
    x_lo, x_hi, outside = terms[3], terms[4], terms[5]
    for j in range(m):
        x_lo[j], x_hi[j] = space.left[first[j] + group_lo[j]], space.right[first[j] + group_hi[j]]
        outside[j] = group.members[j] / (missing[j] - 1 if missing[j] > 1 else 1)
    node0, up, node_lo, node_hi, node_num = space.node0, space.up, space.lo, space.hi, space.num
    lows, highs, nodes, bits, word = covers.lo, covers.hi, covers.node, covers.bits, covers.word
    nums, sizes, left_end, right_end = covers.num, covers.size, space.left, space.right
    best, price, found, seen = index.best, index.price, 0, 0
    worst, last = limit, -1  # what a cluster must undercut; the number it breaks ties with
    stack[0], bounds[0] = 0, 0.0
    top = 1 if below[0] > 0 else 0
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] > worst or (last < 0 and bounds[top] >= worst):
            continue  # below the limit means strictly below it
        if right[node] < 0:
            for e in range(tree.begin[node], tree.end[node]):
                c = index.first[e]
                while c >= 0:
                    if not index.shut[c]:
                        seen += 1
                        total = 0.0
                        for j in range(m):
                            num = join_num(
                                kind,
                                missing,
                                whole,
                                first,
                                left_end,
                                right_end,
                                node0,
                                up,
                                node_lo,
                                node_hi,
                                node_num,
                                lows,
                                highs,
                                nodes,
                                bits,
                                word,
                                slot,
                                c,
                                j,
                            )
                            mine, theirs = num - nums[slot, j], num - nums[c, j]
                            total += weight[j] * (size * mine + sizes[c] * theirs)
                            if total > worst:
                                break
                        if total < worst or (total == worst and c < last):
                            found += 1 if found < best.size else 0
                            _insert(best, price, found - 1, c, total)
                            if found == best.size:
                                worst, last = price[found - 1], best[found - 1]
                    c = index.following[c]
            continue
        near, far, near_bound, far_bound = -1, -1, np.inf, np.inf
        for child in (node + 1, right[node]):
            if below[child] == 0:
                continue
            seen += 1
            total = 0.0
            for j in range(m):
                num = whole[j]
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
                theirs = num - widest[child, j]
                num = max(num, slimmest[child, j])
                own = size * (num - group_num[j])
                total += weight[j] * (own + least * theirs if theirs > 0.0 else own)
                if total > worst:
                    break
            if total > worst or (last < 0 and total >= worst):
                continue
            if near < 0:
                near, near_bound = child, total
            elif total < near_bound:
                far, far_bound, near, near_bound = near, near_bound, child, total
            else:
                far, far_bound = child, total
        if far >= 0:
            stack[top], bounds[top] = far, far_bound
            top += 1
        if near >= 0:
            stack[top], bounds[top] = near, near_bound
            top += 1
    visits[0] += seen
    return found
