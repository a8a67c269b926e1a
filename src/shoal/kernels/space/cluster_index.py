"""Where finished clusters are to be found.

A finished cluster is found at the entry of its first row. Whatever joins the cluster covers that
entry too, so a search over the same tree of entries bounds the cost of joining the cluster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.covers import Covers
from shoal.kernels.space.tree import Tree


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
def insert(index: ClusterIndex, at: int, c: int, cost: float) -> None:
    """Put a cluster into the list, in order; place ``at`` is free, or the last and given up."""
    best, price = index.best, index.price
    while at > 0 and (price[at - 1] > cost or (price[at - 1] == cost and best[at - 1] > c)):
        price[at], best[at] = price[at - 1], best[at - 1]
        at -= 1
    price[at], best[at] = cost, c
