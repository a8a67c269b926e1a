"""Rows change clusters until shares are kept: the second and third phase of (alpha, k) clustering.

The centres stay where the first phase put them: a cluster gives away its outliers, not its place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.gower.search import (
    Field,
    Heap,
    Supply,
    begin_search,
    distance,
    next_point,
    supply_more,
)
from shoal.kernels.limits import EPS, Limits


class Clusters(NamedTuple):
    """Which rows are where, and what each cluster holds."""

    label: npt.NDArray[np.int64]
    """Cluster of each row, -1 for none."""
    size: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]
    """``[clusters, columns]``: rows with a known value."""
    counts: npt.NDArray[np.int32]
    """``[clusters, values]``"""
    kept: npt.NDArray[np.bool_]
    """Whether the cluster keeps its shares."""
    first: npt.NDArray[np.int64]
    """First row of each cluster, -1 for none; ``after`` and ``before`` chain the others."""
    after: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    giving: npt.NDArray[np.bool_]
    """Whether the cluster's rows are on offer."""


class Market(NamedTuple):
    """The points with the rows that clusters can give, and the centres of those that can take."""

    field: Field
    offers: Supply
    rows: npt.NDArray[np.int64]
    """Rows of point ``e``: ``rows[start[e]:start[e + 1]]``."""
    start: npt.NDArray[np.int64]
    point: npt.NDArray[np.int64]
    """Point of each row."""
    tag: npt.NDArray[np.int32]
    """Tag of each row."""
    centres: Field
    takers: Supply


@inner
def _within(limits: Limits, clusters: Clusters, g: int, fewer: int) -> bool:
    """Say whether a cluster keeps its shares with ``fewer`` known values than it has."""
    for c in range(limits.distinct.size):
        known = clusters.known[g, c] - fewer
        if known <= 0:
            return False
        for v in range(limits.first[c], limits.first[c + 1]):
            if limits.guarded[v] and clusters.counts[g, v] > limits.share[v] * known + EPS:
                return False
    return True


@inner
def _admits(limits: Limits, clusters: Clusters, g: int, tag: int, more: int) -> bool:
    """Say whether a cluster of ``more`` rows more has room for one row more of ``tag``'s values.

    0 rows more: it gives another row away in exchange.
    """
    for c in range(limits.distinct.size):
        if limits.values[tag, c] >= 0:
            v = limits.first[c] + limits.values[tag, c]
            reach = limits.share[v] * (clusters.known[g, c] + more) + EPS
            if limits.guarded[v] and clusters.counts[g, v] + 1 > reach:
                return False
    return True


@inner
def _roomy(limits: Limits, clusters: Clusters, g: int) -> bool:
    """Say whether a cluster has room for one row more of some limited value."""
    if not clusters.kept[g]:
        return False
    for c in range(limits.distinct.size):
        for v in range(limits.first[c], limits.first[c + 1]):
            reach = limits.share[v] * (clusters.known[g, c] + 1) + EPS
            if limits.guarded[v] and clusters.counts[g, v] + 1 <= reach:
                return True
    return False


@inner
def _tell(limits: Limits, clusters: Clusters, g: int, tag: int, amount: int) -> None:
    clusters.size[g] += amount
    for c in range(limits.distinct.size):
        if limits.values[tag, c] >= 0:
            clusters.known[g, c] += amount
            clusters.counts[g, limits.first[c] + limits.values[tag, c]] += amount


@inner
def enter(limits: Limits, clusters: Clusters, row: int, tag: int, g: int) -> None:
    """Put a row into a cluster."""
    clusters.label[row] = g
    head = clusters.first[g]
    clusters.after[row], clusters.before[row] = head, -1
    if head >= 0:
        clusters.before[head] = row
    clusters.first[g] = row
    _tell(limits, clusters, g, tag, 1)


@inner
def _leave(limits: Limits, clusters: Clusters, row: int, tag: int) -> None:
    """Take a row out of its cluster."""
    g, a, b = clusters.label[row], clusters.before[row], clusters.after[row]
    if a >= 0:
        clusters.after[a] = b
    else:
        clusters.first[g] = b
    if b >= 0:
        clusters.before[b] = a
    clusters.label[row] = -1
    _tell(limits, clusters, g, tag, -1)


@inner
def _offer(market: Market, clusters: Clusters, g: int, giving: bool) -> None:
    """Put all rows of a cluster on offer, or take them back."""
    if clusters.giving[g] == giving:
        return
    clusters.giving[g] = giving
    row = clusters.first[g]
    while row >= 0:
        supply_more(market.field, market.offers, market.point[row], 1 if giving else -1)
        row = clusters.after[row]


@inner
def advertise(limits: Limits, market: Market, clusters: Clusters, g: int, least: int) -> None:
    """Say anew what a cluster can give and take."""
    giving = clusters.kept[g] and clusters.size[g] > least and _within(limits, clusters, g, 1)
    _offer(market, clusters, g, giving)
    e = market.centres.place[g]
    roomy = 1 if _roomy(limits, clusters, g) else 0
    if roomy != market.takers.left[e]:
        supply_more(market.centres, market.takers, e, roomy - market.takers.left[e])


@inner
def _move(
    limits: Limits, market: Market, clusters: Clusters, row: int, to: int, least: int
) -> None:
    """Move a row to another cluster; both advertise anew."""
    origin, tag = clusters.label[row], market.tag[row]
    _offer(market, clusters, origin, False)
    _offer(market, clusters, to, False)
    _leave(limits, clusters, row, tag)
    enter(limits, clusters, row, tag, to)
    advertise(limits, market, clusters, origin, least)
    advertise(limits, market, clusters, to, least)


@inner
def _outlier(
    limits: Limits, market: Market, clusters: Clusters, g: int, centre: npt.NDArray[np.float64]
) -> int:
    """Return the row furthest from the centre of those whose value is too frequent; -1 if none.

    Of equally far ones the smallest row number.
    """
    worst, best = -1.0, -1
    row = clusters.first[g]
    while row >= 0:
        over, tag = False, market.tag[row]
        for c in range(limits.distinct.size):
            if limits.values[tag, c] >= 0:
                v = limits.first[c] + limits.values[tag, c]
                reach = limits.share[v] * clusters.known[g, c] + EPS
                over |= limits.guarded[v] and clusters.counts[g, v] > reach
        if over:
            far = distance(market.field.numeric, market.field.x, market.point[row], centre, g)
            if far > worst or (far == worst and row < best):
                worst, best = far, row
        row = clusters.after[row]
    return best


@inner
def _taker(
    limits: Limits,
    market: Market,
    clusters: Clusters,
    heap: Heap,
    places: Supply,
    row: int,
    more: int,
) -> int:
    """Return the nearest of the clusters in ``places`` that has room for a row; -1 if none."""
    field, point, tag = market.centres, market.point[row], market.tag[row]
    top = begin_search(field, places, heap)
    g, top = next_point(field, places, heap, top, market.field.x, point)
    while g >= 0 and not (clusters.kept[g] and _admits(limits, clusters, g, tag, more)):
        g, top = next_point(field, places, heap, top, market.field.x, point)
    return g


@inner
def _giver(
    limits: Limits,
    market: Market,
    clusters: Clusters,
    heap: Heap,
    g: int,
    centre: npt.NDArray[np.float64],
) -> int:
    """Return the row on offer nearest to a centre whose value its cluster has room for; -1: none.

    A row without a known value lowers no share and is not asked for.
    """
    field, offers, values = market.field, market.offers, limits.values
    top = begin_search(field, offers, heap)
    e, top = next_point(field, offers, heap, top, centre, g)
    while e >= 0:
        for i in range(market.start[e], market.start[e + 1]):
            row = market.rows[i]
            tag = market.tag[row]
            wanted = clusters.label[row] >= 0 and clusters.giving[clusters.label[row]]
            for c in range(values.shape[1]):
                wanted &= values[tag, c] >= 0
            if wanted and _admits(limits, clusters, g, tag, 1):
                return row
        e, top = next_point(field, offers, heap, top, centre, g)
    return -1


@kernel
def populate(
    limits: Limits,
    market: Market,
    clusters: Clusters,
    members: npt.NDArray[np.int64],
    least: int,
) -> None:
    """Put the rows of ``members`` into clusters, and let these advertise."""
    for g in range(members.shape[0]):
        for i in range(members.shape[1]):
            enter(limits, clusters, members[g, i], market.tag[members[g, i]], g)
        clusters.kept[g] = _within(limits, clusters, g, 0)
        advertise(limits, market, clusters, g, least)


@kernel
def exchange(
    limits: Limits,
    market: Market,
    clusters: Clusters,
    heap: Heap,
    worst: npt.NDArray[np.int64],
    centre: npt.NDArray[np.float64],
    least: int,
) -> None:
    """Let the clusters in ``worst``, in this order, give rows away until they keep their shares.

    The row of a too frequent value that lies furthest from the centre goes to the nearest cluster
    with room for it, and the nearest row that another cluster can spare comes in its place, so that
    nobody falls below ``least`` rows. When no cluster has room, spare rows come in all the same. A
    cluster for which there are none stays as it is.
    """
    for i in range(worst.size):
        g = worst[i]
        while True:
            row = _outlier(limits, market, clusters, g, centre)
            if row < 0:
                clusters.kept[g] = _within(limits, clusters, g, 0)
                advertise(limits, market, clusters, g, least)
                break
            # Where a row must come back, a cluster that can give one is worth a longer way.
            more = 0 if clusters.size[g] <= least else 1
            to = _taker(limits, market, clusters, heap, market.takers, row, more)
            if to < 0 and more == 0:
                to = _taker(limits, market, clusters, heap, market.takers, row, 1)
            if to >= 0:
                _move(limits, market, clusters, row, to, least)
                if clusters.size[g] >= least:
                    continue
            other = _giver(limits, market, clusters, heap, g, centre)
            if other >= 0:
                _move(limits, market, clusters, other, g, least)
                continue
            if to >= 0:
                _move(limits, market, clusters, row, g, least)
            break


@kernel
def settle(
    limits: Limits,
    market: Market,
    clusters: Clusters,
    heap: Heap,
    everywhere: Supply,
    rest: npt.NDArray[np.int64],
    least: int,
) -> None:
    """Let each row of ``rest``, in order, join the nearest cluster that stays within its shares.

    A row that fits nowhere joins the nearest cluster of all, which then keeps its shares no more.
    """
    for i in range(rest.size):
        row = rest[i]
        tag = market.tag[row]
        limited = False
        for c in range(limits.distinct.size):
            v = limits.values[tag, c]
            limited |= v >= 0 and limits.guarded[limits.first[c] + v]
        # Only a roomy cluster takes a limited value: fewer places to look at.
        places = market.takers if limited else everywhere
        g = _taker(limits, market, clusters, heap, places, row, 1)
        if g < 0:
            top = begin_search(market.centres, everywhere, heap)
            g, top = next_point(
                market.centres, everywhere, heap, top, market.field.x, market.point[row]
            )
        _offer(market, clusters, g, False)
        enter(limits, clusters, row, tag, g)
        clusters.kept[g] = _within(limits, clusters, g, 0)
        advertise(limits, market, clusters, g, least)
