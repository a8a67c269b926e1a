"""Which groups a group would be cheapest to join with, found by the search for clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.cluster_index import ClusterIndex
from shoal.kernels.space.costs import SET, Group, Space, add, start
from shoal.kernels.space.covers import Covers, count_bits
from shoal.kernels.space.search import Search, nearest_clusters


@inner
def load(space: Space, group: Group, covers: Covers, a: int, row: npt.NDArray[np.int32]) -> None:
    """Let ``group`` cover what group ``a`` covers, as far as bounds are concerned.

    Outside of sets the first and the last position have the same join as all of them.
    """
    for j in range(row.size):
        row[j] = covers.lo[a, j]
    start(space, group, row)
    for j in range(row.size):
        row[j] = covers.hi[a, j]
    add(space, group, row)
    group.size[0] = covers.size[a]
    for j in range(row.size):
        if space.kind[j] == SET and covers.hi[a, j] < space.size[j]:
            group.num[j], group.members[j], group.bags[j] = covers.num[a, j], 0, np.uint64(0)
            for w in range(covers.word[j], covers.word[j + 1]):
                group.members[j] += count_bits(covers.bits[a, w])
                group.bags[j] |= covers.bits[a, w]


@kernel
def find_partners(
    search: Search,
    covers: Covers,
    index: ClusterIndex,
    wanting: npt.NDArray[np.int64],
    row: npt.NDArray[np.int32],
    near: npt.NDArray[np.int64],
) -> None:
    """Fill ``near[i]`` with the groups that are cheapest to join with group ``wanting[i]``.

    The cheapest come first, ties go to the smaller number. All groups are in the index; ``row``
    is room for a row.
    """
    for i in range(wanting.size):
        a = wanting[i]
        load(search.space, search.group, covers, a, row)
        index.shut[a] = True  # no group is its own partner
        nearest_clusters(search, index, covers, a, np.inf)
        index.shut[a] = False
        for x in range(near.shape[1]):
            near[i, x] = index.best[x]
