"""Rows left over join the finished clusters that may take them.

Whether a cluster may take a row depends on the row's sensitive values alone, its *tag*. So rows of
one tag stand together: when a tag begins, the clusters without room for it are shut; one that the
tag fills up is shut at that moment; and no search looks at either of them again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.limits import EPS, Limits
from shoal.kernels.space.cluster_index import ClusterIndex, reopen, shut_out, widen
from shoal.kernels.space.costs import start
from shoal.kernels.space.covers import Covers, join_into, start_cover
from shoal.kernels.space.search import Search, nearest_clusters


class Held(NamedTuple):
    """What the clusters hold, ``[clusters, columns]``, a column for each limited sensitive one."""

    known: npt.NDArray[np.int64]
    """Rows with a known value."""
    alike: npt.NDArray[np.int64]
    """Rows with the value of the present tag."""


def new_held(limits: Limits, clusters: int) -> Held:
    """Return room for the counts of so many clusters."""
    shape = (clusters, limits.distinct.size)
    return Held(np.zeros(shape, np.int64), np.zeros(shape, np.int64))


@inner
def _recount(
    limits: Limits,
    held: Held,
    tags: npt.NDArray[np.int32],
    entry_of: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    tag: int,
) -> None:
    """Count what the clusters hold of the values of ``tag``."""
    values = limits.values
    for c in range(held.known.shape[0]):
        for j in range(values.shape[1]):
            held.known[c, j] = held.alike[c, j] = 0
    for row in range(labels.size):
        c = labels[row]
        if c >= 0:
            other = tags[entry_of[row]]
            for j in range(values.shape[1]):
                held.known[c, j] += values[other, j] >= 0
                held.alike[c, j] += values[other, j] == values[tag, j]


@inner
def _admits(limits: Limits, held: Held, c: int, tag: int) -> bool:
    """Say whether a cluster stays within its shares with one row more of ``tag``."""
    for j in range(limits.values.shape[1]):
        value = limits.values[tag, j]
        v = limits.first[j] + value
        if value < 0 or not limits.guarded[v]:
            continue
        if held.alike[c, j] + 1 > limits.share[v] * (held.known[c, j] + 1) + EPS:
            return False
    return True


@kernel
def settle(
    search: Search,
    covers: Covers,
    index: ClusterIndex,
    limits: Limits,
    held: Held,
    entry_of: npt.NDArray[np.int64],
    rest: npt.NDArray[np.int64],
    clusters: int,
    labels: npt.NDArray[np.int64],
) -> None:
    """Let each row of ``rest``, in order, join the nearest cluster that may take it.

    A row that fits nowhere within the limits keeps its label. With limits, every change of tag from
    one row to the next costs a look at all rows. ``clusters``, how many there are, is a free place
    in covers.
    """
    space, tree = search.space, search.tree
    limited, tag = False, -1
    for v in range(limits.guarded.size):
        limited |= limits.guarded[v]
    for i in range(rest.size):
        row = rest[i]
        e = entry_of[row]
        if limited and tree.tag[e] != tag:
            tag = tree.tag[e]
            _recount(limits, held, tree.tag, entry_of, labels, tag)
            for c in range(clusters):
                index.shut[c] = not _admits(limits, held, c, tag)
            reopen(tree, index, covers, clusters)
        start(space, search.group, tree.codes[e])
        start_cover(space, covers, clusters, tree.codes[e])
        if nearest_clusters(search, index, covers, clusters, np.inf) == 0:
            continue
        target = index.best[0]
        join_into(space, covers, target, clusters)
        widen(tree, index, covers, target)
        labels[row] = target
        if limited:
            for j in range(limits.values.shape[1]):
                known = limits.values[tag, j] >= 0
                held.known[target, j] += known
                held.alike[target, j] += known
            if not _admits(limits, held, target, tag):
                shut_out(tree, index, target)
