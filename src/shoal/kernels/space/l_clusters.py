"""L-clustering: clusters of different sensitive values, which may swallow finished clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import kernel
from shoal.kernels.space.cluster_index import ClusterIndex, add_cluster, nearest_clusters, widen
from shoal.kernels.space.costs import Group, Space, add, start
from shoal.kernels.space.covers import Covers, join_into, start_cover
from shoal.kernels.space.grow import Stock
from shoal.kernels.space.tree import Tree, nearest, take


@kernel
def form_clusters(
    space: Space,
    group: Group,
    tree: Tree,
    covers: Covers,
    index: ClusterIndex,
    stock: Stock,
    seeds: npt.NDArray[np.int64],
    unassigned: npt.NDArray[np.int64],
    l: int,  # noqa: E741
    labels: npt.NDArray[np.int64],
    banned: npt.NDArray[np.bool_],
    members: npt.NDArray[np.int64],
    stack: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.float64],
    visits: npt.NDArray[np.int64],
) -> int:
    """Build the clusters (step 2 of the paper); return how many there are.

    A cluster takes l different values, then any rows until it has as many as ``members`` has room
    for. The last tag stands for a missing sensitive value: such a row neither starts a cluster nor
    is taken for its diversity. ``unassigned`` counts the rows of each tag, ``labels`` is -1 before.
    """
    codes, none = tree.codes, banned.size - 1
    head, tail, left, rows = stock.head, stock.tail, stock.left, stock.rows
    values = 0
    for t in range(none):
        values += 1 if unassigned[t] > 0 else 0
    at, clusters = 0, 0
    while values >= l:
        while labels[seeds[at]] >= 0 or tree.tag[stock.entry_of[seeds[at]]] == none:
            at += 1
        for t in range(none):
            banned[t] = False
        banned[none] = True
        seed = e = stock.entry_of[seeds[at]]
        spare, target, size = clusters + 1, clusters, 0
        start(space, group, codes[seed])
        start_cover(space, covers, clusters, codes[seed])
        while True:
            if size == 0:
                row = rows[head[e]]
                head[e] += 1
            else:
                tail[e] -= 1
                row = rows[tail[e]]
                add(space, group, codes[e])
                start_cover(space, covers, spare, codes[e])
                join_into(space, covers, clusters, spare)
            members[size] = row
            labels[row] = clusters
            left[e] -= 1
            take(tree, left, e)
            banned[tree.tag[e]] = True
            unassigned[tree.tag[e]] -= 1
            values -= 1 if unassigned[tree.tag[e]] == 0 else 0
            size += 1
            if size >= members.size:
                break
            if size == l:  # diverse enough: from here on any row will do
                for t in range(banned.size):
                    banned[t] = False
            e, price = nearest(space, group, tree, left, banned, stack, bounds, visits)
            cheaper = nearest_clusters(
                space, group, tree, index, covers, clusters, price, stack, bounds, visits
            )
            if cheaper > 0:  # a cluster is strictly cheaper than any row
                other = index.best[0]
                join_into(space, covers, other, clusters)
                widen(tree, index, covers, other)
                target = other
                break
            if e < 0:
                break
        if target == clusters:
            add_cluster(tree, index, covers, clusters, seed)
            clusters += 1
        else:
            for i in range(size):
                labels[members[i]] = target
    return clusters
