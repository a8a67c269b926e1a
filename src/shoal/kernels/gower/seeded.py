"""Clusters around seeds that lie far apart: the first phase of (alpha, k) clustering."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.gower.search import (
    GAP,
    Field,
    Heap,
    Supply,
    begin_search,
    furthest_point,
    lower,
    next_point,
    relax,
    supply_more,
)
from shoal.kernels.limits import EPS, Limits, Tally, ban, clear, note


class Store(NamedTuple):
    """The free rows of each point ``e``: ``rows[head[e]:head[e] + left[e]]``."""

    rows: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    point: npt.NDArray[np.int64]
    """Point of each row."""


class Survey(NamedTuple):
    """How far every point lies from the clusters there are."""

    near: npt.NDArray[np.float64]
    peak: npt.NDArray[np.float64]
    trail: npt.NDArray[np.int64]


class Room(NamedTuple):
    """What a cluster is counted and searched with."""

    tally: Tally
    heap: Heap
    stock: npt.NDArray[np.int64]
    """Free rows per sensitive value."""
    votes: npt.NDArray[np.int64]
    """A count per name, all 0."""


class Filled(NamedTuple):
    """The rows of every cluster, ``[clusters, size]``, and its centre."""

    members: npt.NDArray[np.int64]
    centres: npt.NDArray[np.float64]


@inner
def _enough(limits: Limits, stock: npt.NDArray[np.int64], rest: int) -> bool:
    """Say whether the free rows with known values could fill one more cluster."""
    for c in range(limits.distinct.size):
        fit, kinds = 0, 0
        for v in range(limits.first[c], limits.first[c + 1]):
            kinds += 1 if stock[v] > 0 else 0
            cap = int(limits.share[v] * limits.target + EPS)
            fit += min(stock[v], cap) if limits.guarded[v] else stock[v]
        if fit < limits.target or kinds < limits.distinct[c]:
            return False
    return rest >= limits.target


@inner
def _ban_blanks(limits: Limits, tally: Tally, stock: npt.NDArray[np.int64], size: int) -> None:
    """Ban rows without a known value when, with one of them, too few others would fit in."""
    slots = limits.target - size - 1
    for tag in range(tally.banned.size):
        for c in range(limits.distinct.size):
            if limits.values[tag, c] >= 0 or tally.banned[tag]:
                continue
            fit, known = 0, tally.known[c] + slots
            for v in range(limits.first[c], limits.first[c + 1]):
                cap = int(limits.share[v] * known + EPS)
                if limits.guarded[v]:
                    fit += max(0, min(stock[v], cap - tally.counts[v]))
                else:
                    fit += stock[v]
            tally.banned[tag] = fit < slots


@inner
def _take(limits: Limits, stock: npt.NDArray[np.int64], tag: int) -> None:
    """Note that a row of a tag's values is free no more."""
    for c in range(limits.distinct.size):
        if limits.values[tag, c] >= 0:
            stock[limits.first[c] + limits.values[tag, c]] -= 1


@inner
def centre(
    field: Field,
    point: npt.NDArray[np.int64],
    members: npt.NDArray[np.int64],
    g: int,
    size: int,
    votes: npt.NDArray[np.int64],
    centres: npt.NDArray[np.float64],
) -> None:
    """Set centre ``g`` by the first ``size`` members: a number's mean, the most frequent name.

    A column in which all are missing is missing.

    Of equally frequent names the one of the smallest position wins. ``votes`` is room for a count
    per name, all 0.
    """
    x = field.x
    for j in range(field.numeric.size):
        total, known, best = 0.0, 0, -1
        for i in range(size):
            value = x[point[members[g, i]], j]
            if value < 0.0:
                continue
            known += 1
            if field.numeric[j]:
                total += value
                continue
            name = int(value)
            votes[name] += 1
            ahead = votes[name] - votes[best] if best >= 0 else 1
            if ahead > 0 or (ahead == 0 and name < best):
                best = name
        if known == 0:
            centres[g, j] = GAP
        elif field.numeric[j]:
            centres[g, j] = total / known
        else:
            centres[g, j] = best
            for i in range(size):
                value = x[point[members[g, i]], j]
                if value >= 0.0:
                    votes[int(value)] = 0


@inlined
def _fill(
    field: Field,
    supply: Supply,
    store: Store,
    limits: Limits,
    room: Room,
    filled: Filled,
    seed: int,
    hopeless: bool,
    moving: bool,
    g: int,
) -> int:
    """Fill a cluster with a seed, its equals and the rows nearest to it; return its size.

    A hopeless one takes nothing but the seed. ``moving``: with a seed and then always the row
    nearest to the centre of those it has.
    """
    tally, heap, members, centres = room.tally, room.heap, filled.members, filled.centres
    size, e, top = 0, seed, begin_search(field, supply, heap)
    while e >= 0:
        tag = supply.tag[e]
        while supply.left[e] > 0 and (hopeless or not tally.banned[tag]):
            members[g, size] = store.rows[store.head[e]]
            store.head[e] += 1
            supply_more(field, supply, e, -1)
            note(limits, tally, tag)
            _take(limits, room.stock, tag)
            size += 1
            if hopeless or size == limits.target:
                return size
            ban(limits, tally, size)
            _ban_blanks(limits, tally, room.stock, size)
            if moving:
                break
        if moving:
            centre(field, store.point, members, g, size, room.votes, centres)
            top = begin_search(field, supply, heap)
            e, top = next_point(field, supply, heap, top, centres, g)
        else:
            e, top = next_point(field, supply, heap, top, field.x, seed)
    return size


@kernel
def cluster(
    field: Field,
    supply: Supply,
    store: Store,
    survey: Survey,
    limits: Limits,
    room: Room,
    filled: Filled,
    seed: int,
    moving: bool,
) -> int:
    """Fill the rows of ``filled`` with one cluster each; return how many clusters there are.

    A cluster is a seed, its equals, and the free rows nearest to the seed that the limits admit;
    the next seed is the row furthest from its nearest centre. It ends when the rows left, or their
    known values, cannot fill one. A cluster that stays short is given up with its rows.

    Parameters
    ----------
    supply
        The free rows; what the tally bans is what the supply bans.
    seed
        Point of the first seed; -1 for the furthest.
    moving
        Whether rows come nearest to the centre, which moves with every row, not to the seed.
    """
    left, rest, groups, target = supply.left, supply.live[0], 0, limits.target
    tally, stock = room.tally, room.stock
    while _enough(limits, stock, rest):
        if groups > 0 or seed < 0 or left[seed] == 0:
            seed = furthest_point(field, supply, survey.near, survey.peak)
        clear(tally)
        ban(limits, tally, 0)
        _ban_blanks(limits, tally, stock, 0)
        hopeless = tally.banned[supply.tag[seed]]
        size = _fill(field, supply, store, limits, room, filled, seed, hopeless, moving, groups)
        for i in range(size):
            e = store.point[filled.members[groups, i]]
            if left[e] == 0:
                lower(field, supply, survey.near, survey.peak, e)
        rest -= size
        if size == target and not hopeless:
            centre(field, store.point, filled.members, groups, target, room.votes, filled.centres)
            relax(field, supply, survey.near, survey.peak, survey.trail, filled.centres, groups)
            groups += 1
    return groups
