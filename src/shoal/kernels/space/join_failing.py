"""Join groups that break a rule with the nearest group that makes them keep it, one by one.

Covers, histograms and the index of groups follow every joint, so nothing is counted or built anew
for the next group, and a group that another one took in need not look for partners of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import Codes, Ints
from shoal.kernels.space.cluster_index import ClusterIndex, shut_out, widen
from shoal.kernels.space.covers import Covers, join_into
from shoal.kernels.space.partners import load
from shoal.kernels.space.search import Search, nearest_clusters


class Mended(NamedTuple):
    """Groups that are joined: the rows of each as a list, and the group that took it in."""

    first: Ints
    last: Ints
    after: Ints
    """The next row of the same group, -1 for none."""
    into: Ints
    """Per group: itself, or the group that it has become a part of."""
    counts: npt.NDArray[np.int32]
    """``[groups, values]``: how often each group has each sensitive value; empty where that is too
    much to hold."""
    hist: Ints
    """Room for one histogram, all 0."""
    row: Codes
    """Room for a row."""


@inner
def _add(rule: Conditions, sens: Codes, mended: Mended, g: int, times: int) -> None:
    """Count the rows of group g into the histogram (1), or out of it (-1)."""
    if len(mended.counts) > 0:
        for v in range(mended.counts.shape[1]):
            mended.hist[v] += times * mended.counts[g, v]
        return
    r = mended.first[g]
    while r >= 0:
        add(rule, sens, r, times, mended.hist)
        r = mended.after[r]


@inlined
def _partner(
    rule: Conditions | None,
    k: int,
    sens: Codes,
    covers: Covers,
    mended: Mended,
    index: ClusterIndex,
    found: int,
    a: int,
    short: float,
) -> tuple[int, bool]:
    """Return the place of the partner to take, -1 for the cheapest, and whether it is enough.

    That is the cheapest that makes group a pass, or else, of those that bring it nearer to the
    rule, the one that costs least for what it brings.
    """
    best, chosen = np.inf, -1
    for x in range(found):
        b = index.best[x]
        miss = 0.0
        if rule is not None:
            _add(rule, sens, mended, b, 1)
            miss = shortfall(rule, mended.hist)
            _add(rule, sens, mended, b, -1)
        if miss == 0.0 and covers.size[a] + covers.size[b] >= k:
            return x, True
        if miss < short and index.price[x] / (short - miss) < best:
            best, chosen = index.price[x] / (short - miss), x
    return chosen, False


@inlined
def _take_in(
    search: Search, covers: Covers, index: ClusterIndex, mended: Mended, a: int, b: int
) -> None:
    """Let group a have the rows of group b, which is no more."""
    join_into(search.space, covers, a, b)
    shut_out(search.tree, index, b)
    widen(search.tree, index, covers, a)
    mended.after[mended.last[a]] = mended.first[b]
    mended.last[a], mended.into[b] = mended.last[b], a
    if len(mended.counts) > 0:
        for v in range(mended.counts.shape[1]):
            mended.counts[a, v] += mended.counts[b, v]


@kernel
def mend(
    search: Search,
    covers: Covers,
    few: ClusterIndex,
    many: ClusterIndex,
    rule: Conditions | None,
    k: int,
    sens: Codes,
    failing: Ints,
    times: int,
    mended: Mended,
) -> int:
    """Join each of the failing groups with others; those that still fail come first in ``failing``.

    ``few`` and ``many`` are one index with room for a few partners and for many: these are looked
    for only where none of the few makes a group pass. ``times``: how many of the cheapest a group
    takes that none of them brings nearer. Returns how many fail still.
    """
    left = 0
    for i in range(failing.size):
        a = failing[i]
        if covers.size[a] == 0:
            continue
        short, at, good = 0.0, -1, False
        if rule is not None:
            _add(rule, sens, mended, a, 1)
            short = shortfall(rule, mended.hist)
        load(search.space, search.group, covers, a, mended.row)
        few.shut[a] = True  # no group is its own partner
        index = few
        found = nearest_clusters(search, few, covers, a, np.inf)
        at, good = _partner(rule, k, sens, covers, mended, few, found, a, short)
        if not good and found == few.best.size and many.best.size > few.best.size:
            index = many
            found = nearest_clusters(search, many, covers, a, np.inf)
            at, good = _partner(rule, k, sens, covers, mended, many, found, a, short)
        few.shut[a] = False
        if rule is not None:
            _add(rule, sens, mended, a, -1)
        if at >= 0:
            _take_in(search, covers, index, mended, a, index.best[at])
        for x in range(0 if at >= 0 else min(found, times)):
            _take_in(search, covers, index, mended, a, index.best[x])
        if not good:
            failing[left] = a
            left += 1
    return left
