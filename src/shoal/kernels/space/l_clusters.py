"""L-clustering: clusters of different sensitive values, which may swallow finished clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.cluster_index import ClusterIndex, add_cluster, widen
from shoal.kernels.space.costs import start
from shoal.kernels.space.covers import Covers, join_into, start_cover
from shoal.kernels.space.grow import Stock, take_row
from shoal.kernels.space.search import Search, nearest, nearest_clusters


@inner
def _ban(banned: npt.NDArray[np.bool_], tag: int) -> None:
    """Ban one tag and no other."""
    for t in range(banned.size):
        banned[t] = t == tag


@kernel
def form_clusters(
    search: Search,
    covers: Covers,
    index: ClusterIndex,
    stock: Stock,
    seeds: npt.NDArray[np.int64],
    unassigned: npt.NDArray[np.int64],
    l: int,  # noqa: E741
    labels: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_],
    members: npt.NDArray[np.int64],
) -> int:
    """Build the clusters (step 2 of the paper); return how many there are.

    A cluster takes l different values, then any rows until it has as many as ``members`` has room
    for. The last tag stands for a missing sensitive value: such a row neither starts a cluster nor
    is taken for its diversity. ``unassigned`` counts the rows of each tag, ``labels`` is -1 before.
    """
    space, tree, codes = search.space, search.tree, search.tree.codes
    values, none = 0, banned.size - 1
    for t in range(none):
        values += 1 if unassigned[t] > 0 else 0
    at, clusters = 0, 0
    while values >= l:
        while labels[seeds[at]] >= 0 or tree.tag[stock.entry_of[seeds[at]]] == none:
            at += 1
        _ban(banned, none)
        seed = e = stock.entry_of[seeds[at]]
        spare, target, size = clusters + 1, clusters, 0
        start(space, search.group, codes[seed])
        start_cover(space, covers, clusters, codes[seed])
        while e >= 0:
            row = take_row(search, stock, e, size == 0)
            if size > 0:
                start_cover(space, covers, spare, codes[e])
                join_into(space, covers, clusters, spare)
            members[size] = row
            labels[row] = clusters
            banned[tree.tag[e]] = size < l
            unassigned[tree.tag[e]] -= 1
            values -= 1 if unassigned[tree.tag[e]] == 0 else 0
            size += 1
            if size >= members.size:
                break
            if size == l:  # diverse enough: from here on any row will do
                _ban(banned, -1)
            e, price = nearest(search, stock.left, banned)
            # A cluster must be strictly cheaper than any row. One that is diverse only lacks rows:
            # all of them pay wherever they go, and whoever swallows most would swallow the rest.
            if size >= l and e >= 0:
                continue
            if nearest_clusters(search, index, covers, clusters, price) > 0:
                target = index.best[0]
                join_into(space, covers, target, clusters)
                widen(tree, index, covers, target)
                for i in range(size):
                    labels[members[i]] = target
                break
        if target == clusters:
            add_cluster(tree, index, covers, clusters, seed)
            clusters += 1
    return clusters
