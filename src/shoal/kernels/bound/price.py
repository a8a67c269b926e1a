"""Price nodes: what every node gains at given prices of rows, and which rows it would take.

A node gains its rows' prices less its cost, over the k dearest rows and whoever else is dearer than
the cost. Prices and costs are whole numbers: sums of them are exact, in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.bound.number import NONE
from shoal.kernels.boxes.geometry import Codes, Ints


class Priced(NamedTuple):
    """Entries in falling order of price."""

    order: Codes
    """Their numbers."""
    price: Ints
    """Their prices, in this order; none is negative."""
    rows: Ints
    """How many rows they stand for, in this order."""


class NodeTally(NamedTuple):
    """Room to price the nodes of one pattern, all 0 in between."""

    have: Ints
    gain: Ints
    touched: Codes


def new_tally(nodes: int) -> NodeTally:
    """Return room for so many nodes."""
    return NodeTally(
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int32)
    )


@kernel
def price(
    ids: npt.NDArray[np.uint16],
    first: Ints,
    cost: Ints,
    least: Ints,
    priced: Priced,
    k: int,
    tally: NodeTally,
    gains: Ints,
    taken: Ints,
) -> int:
    """Price the nodes of some patterns; return the sum of all gains.

    ``ids`` [patterns, entries]; ``cost`` of pattern p begins at ``first[p]``, ``least[p]`` is the
    least of it. ``taken`` grows by how many rows of every entry the nodes with a gain take.
    ``gains``, as long as ``cost``, gets the gain of every node (0 for none), unless it is empty.
    """
    total = 0
    for p in range(len(ids)):
        if priced.price[0] <= least[p]:
            continue
        touched, end = _fill(ids[p], cost[first[p] :], least[p], priced, k, tally)
        some = False
        for x in range(touched):
            c = tally.touched[x]
            missing = k - tally.have[c]
            if missing > 0:  # the others have no price at all, or too little to matter
                tally.gain[c] -= missing * cost[first[p] + c]
            if tally.gain[c] > 0:
                total += tally.gain[c]
                some = True
                if len(gains):
                    gains[first[p] + c] = tally.gain[c]
            tally.have[c] = 0
        if some:
            _take(ids[p], cost[first[p] :], end, priced, k, tally, taken)
        for x in range(touched):
            tally.gain[tally.touched[x]] = tally.have[tally.touched[x]] = 0
    return total


@inner
def _fill(
    row: npt.NDArray[np.uint16], cost: Ints, least: int, priced: Priced, k: int, tally: NodeTally
) -> tuple[int, int]:
    """Add up what nodes gain, dearest entries first; return the nodes touched, entries looked at.

    Entries dearer than the cheapest node open nodes; below that, rows only fill up to k. It ends
    once no node that still needs rows can have a gain.
    """
    have, gain = tally.have, tally.gain
    touched, i, n = 0, 0, len(priced.order)
    while i < n and priced.price[i] > least:
        c = row[priced.order[i]]
        if c != NONE:
            profit = priced.price[i] - cost[c]
            if profit > 0:
                if have[c] == 0:
                    tally.touched[touched] = c
                    touched += 1
                have[c] += priced.rows[i]
                gain[c] += priced.rows[i] * profit
            elif 0 < have[c] < k:
                rows = min(priced.rows[i], k - have[c])
                have[c] += rows
                gain[c] += rows * profit
        i += 1
    while i < n and priced.price[i] > 0:
        floor = _floor(cost, priced.price[i], k, tally, touched)
        if floor > priced.price[i]:
            break
        while i < n and priced.price[i] > 0 and priced.price[i] >= floor:
            c = row[priced.order[i]]
            if c != NONE and 0 < have[c] < k:
                rows = min(priced.rows[i], k - have[c])
                have[c] += rows
                gain[c] += rows * (priced.price[i] - cost[c])
            i += 1
    return touched, i


@inner
def _floor(cost: Ints, now: int, k: int, tally: NodeTally, touched: int) -> int:
    """Return the price down to which some node that needs rows can still have a gain.

    Nothing that is still to come is dearer than ``now``, so a gain falls by the node's cost less
    that, or more, for every row that the node needs.
    """
    floor = now + 1
    for x in range(touched):
        c = tally.touched[x]
        need, gain = k - tally.have[c], tally.gain[c]
        if need > 0 and gain > need * (cost[c] - now):
            floor = min(floor, cost[c] - (gain - 1) // need)
    return floor


@inner
def _take(
    row: npt.NDArray[np.uint16],
    cost: Ints,
    end: int,
    priced: Priced,
    k: int,
    tally: NodeTally,
    taken: Ints,
) -> None:
    """Count the rows that nodes with a gain take, in the same order."""
    for i in range(end):
        t = priced.order[i]
        c = row[t]
        if c == NONE or tally.gain[c] <= 0:
            continue
        if priced.price[i] > cost[c]:
            taken[t] += priced.rows[i]
            tally.have[c] += priced.rows[i]
        elif tally.have[c] < k:
            rows = min(priced.rows[i], k - tally.have[c])
            taken[t] += rows
            tally.have[c] += rows


@kernel
def cheapest(ids: npt.NDArray[np.uint16], first: Ints, cost: Ints, out: Ints) -> None:
    """Lower ``out`` to what every entry costs under the cheapest node over it."""
    for p in range(len(ids)):
        for t in range(ids.shape[1]):
            c = ids[p, t]
            if c != NONE and cost[first[p] + c] < out[t]:
                out[t] = cost[first[p] + c]
