"""Open, close and swap whole nodes, as facility location does it.

A *node* is a box that rows are published under, for what it costs a row; it is used by k rows or by
none. Every row of a group costs the same, so opening one more node is judged group by group: from
those that cost more than it, it takes what they can spare, or all that lies under it, and such a
group is closed and its other rows go to the cheapest nodes left. Trials on rows do not find such
steps once groups have hundreds of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.classes import Hashed, large_classes, signatures
from shoal.kernels.boxes.geometry import Boxes, Codes, Floats, Ints, Words, width
from shoal.kernels.boxes.judge import (
    CLOSE,
    TAKE,
    Nodes,
    Offer,
    fill_up,
    forget,
    new_offer,
    take_gains,
)
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.shard import allowance

NOWHERE = 1e12
"""What a row costs that no other open node covers."""


class Open(NamedTuple):
    """The open nodes, where entries are, and where else they could go."""

    cost: Floats
    """What a node costs a row, infinite where the number is free."""
    turn: Ints
    """The numbers of nodes, cheapest first."""
    size: Ints
    """Rows published under it."""
    under: npt.NDArray[np.bool_]
    """``[entries, nodes]``"""
    of: Ints
    """The node of every entry."""
    other: Ints
    """The cheapest open node over it besides, -1 for none."""
    level: npt.NDArray[np.int8]
    """``[nodes, m]``: the pattern that a node was found at."""
    away: Floats
    """What the rows of a node would cost in their other nodes."""


class Trial(NamedTuple):
    """Room to judge one node."""

    offer: Offer
    away: Floats
    """Per open node: what its rows under the new one would cost elsewhere."""
    order: Ints
    """The entries of large classes, class after class."""
    start: Ints
    goes: Ints
    """Where an entry would go."""


class NodeTrials(NamedTuple):
    """A table as its different rows, the nodes that are open, and room to try others."""

    boxes: Boxes
    codes: Codes
    """``[m, n]``"""
    rows: Ints
    """The rows that every entry stands for."""
    k: int
    open: Open
    trial: Trial
    seed: Words


def start_node_trials(
    boxes: Boxes, codes: Codes, rows: Ints, k: int, open_: Open, luck: int
) -> NodeTrials:
    """Return what the search begins with; ``luck`` seeds its chances."""
    nodes, n = open_.size.size, rows.size
    room = np.zeros(n, np.int64), np.zeros(n + 2, np.int64), np.zeros(n, np.int64)
    trial, seed = Trial(new_offer(nodes), np.zeros(nodes), *room), np.array([luck], np.uint64)
    search = NodeTrials(boxes, codes, rows, k, open_, trial, seed)
    look_around(search)
    return search


@kernel
def look_around(search: NodeTrials) -> None:
    """Fill in what every entry would cost elsewhere."""
    for t in range(len(search.rows)):
        search.open.other[t] = _cheapest(search, t, search.open.of[t])
    _sum_up(search)


@kernel
def reopen(
    search: NodeTrials,
    ladders: Ladders,
    patterns: npt.NDArray[np.int8],
    hashed: Hashed,
    heat: float,
) -> int:
    """Try to open every class of k rows of some patterns; return how many nodes were opened.

    A node that makes the loss larger may be opened while there is heat.
    """
    opened, order, start = 0, search.trial.order, search.trial.start
    for q in range(len(patterns)):
        signatures(ladders, patterns[q], search.codes, len(search.rows), hashed.hashes)
        classes = large_classes(hashed, search.rows, search.k, order, start)
        for c in range(classes):
            cost = _cost(search, order, start[c], start[c + 1])
            new = _attempt(search, order, start[c], start[c + 1], cost, heat)
            if new >= 0:
                for j in range(len(search.codes)):
                    search.open.level[new, j] = patterns[q, j]
                opened += 1
    return opened


@kernel
def reopen_listed(search: NodeTrials, listed: Nodes, tried: Ints, heat: float) -> int:
    """Do the same with nodes whose entries are listed; ``tried`` says which, and in which order."""
    opened = 0
    for v in tried:
        begin, end = listed.start[v], listed.start[v + 1]
        cost = listed.cost[v]
        if cost < 0.0:
            cost = listed.cost[v] = _cost(search, listed.under, begin, end)
        if _attempt(search, listed.under, begin, end, cost, heat) >= 0:
            opened += 1
    return opened


@inner
def _attempt(
    search: NodeTrials, entry: Ints, begin: int, end: int, cost: float, heat: float
) -> int:
    """Open a node over some entries if that may be; return its number, -1 if it was not."""
    offer, size, k, new = search.trial.offer, search.open.size, search.k, -1
    allow = allowance(search.seed, heat)
    touched = _under(search, entry, begin, end, cost)
    taken, change = take_gains(offer, touched, size, k)
    # Where nothing gains it is at best the same node once more.
    if taken > 0 and fill_up(offer, touched, size, k, taken, change, allow):
        change, fits = _plan(search, touched, entry, begin, end, cost)
        if fits and change < allow:
            new = _open(search, entry, begin, end, cost)
            if heat == 0.0:
                _drain(search)
            _sum_up(search)
    forget(offer, touched)
    return new


@inner
def _cost(search: NodeTrials, order: Ints, begin: int, end: int) -> float:
    """Return what the join of some entries costs a row; next to a gap, everything."""
    boxes, codes, cost = search.boxes, search.codes, 0.0
    for j in range(len(codes)):
        low, high = int(boxes.size[j]), -1
        for x in range(begin, end):
            low = min(low, int(codes[j, order[x]]))
            high = max(high, int(codes[j, order[x]]))
        if high == boxes.size[j]:
            low = 0
        cost += width(boxes, j, low, high)
    return cost


@inner
def _under(search: NodeTrials, entry: Ints, begin: int, end: int, cost: float) -> int:
    """Find what open nodes have for one over some entries; return how many nodes those are."""
    rows, open_, offer, away, touched = (
        search.rows,
        search.open,
        search.trial.offer,
        search.trial.away,
        0,
    )
    for x in range(begin, end):
        t = entry[x]
        g, h = open_.of[t], open_.other[t]
        if offer.have[g] == 0:
            offer.touched[touched] = g
            touched += 1
            away[g] = 0.0
        offer.have[g] += rows[t]
        away[g] += rows[t] * (open_.cost[h] if h >= 0 else NOWHERE)
    for x in range(touched):
        g = offer.touched[x]
        left = open_.size[g] - offer.have[g]
        offer.each[g] = cost - open_.cost[g]
        offer.closing[g] = open_.away[g] - away[g] - left * open_.cost[g] if left else 0.0
    return touched


@inner
def _plan(
    search: NodeTrials, touched: int, entry: Ints, begin: int, end: int, cost: float
) -> tuple[float, bool]:
    """Say where every entry would go; return the change of the loss, and whether k rows come."""
    rows, k, open_, offer, goes = (
        search.rows,
        search.k,
        search.open,
        search.trial.offer,
        search.trial.goes,
    )
    change, taken = 0.0, 0
    for x in range(touched):
        g = offer.touched[x]
        if offer.fate[g] == TAKE:  # an entry stands for several rows: they may not add up to less
            offer.gives[g] = open_.size[g] - k
    for t in range(len(rows)):
        goes[t] = -1
    for turn in range(2):  # those that gain first
        for x in range(begin, end):
            t = entry[x]
            g = open_.of[t]
            gain = open_.cost[g] > cost
            if gain == (turn == 1) or offer.fate[g] == 0 or goes[t] >= 0:
                continue
            if offer.fate[g] == TAKE:
                if rows[t] > offer.gives[g] or (not gain and taken >= k):
                    continue
                offer.gives[g] -= rows[t]
            goes[t] = len(open_.cost)
            taken += rows[t]
            change += rows[t] * (cost - open_.cost[g])
    if taken < k:
        return 0.0, False
    for t in range(len(rows)):
        g = open_.of[t]
        if offer.fate[g] == CLOSE and goes[t] < 0:
            h = open_.other[t]
            if h >= 0 and offer.fate[h] == CLOSE:
                h = _cheapest(search, t, g)
            if h < 0:
                return 0.0, False
            goes[t] = h
            change += rows[t] * (open_.cost[h] - open_.cost[g])
    return change, True


@inner
def _cheapest(search: NodeTrials, t: int, but: int) -> int:
    """Return the cheapest node over an entry that does not close, but for one; -1 for none."""
    open_, fate = search.open, search.trial.offer.fate
    for g in open_.turn:
        if open_.cost[g] == np.inf:
            break
        if open_.under[t, g] and g != but and fate[g] != CLOSE:
            return g
    return -1


@inner
def _in_turn(open_: Open) -> None:
    """Put the nodes in order of cost, then number; few of them are out of it."""
    cost, turn = open_.cost, open_.turn
    for x in range(1, len(turn)):
        g, y = turn[x], x
        while y > 0 and (
            cost[turn[y - 1]] > cost[g] or (cost[turn[y - 1]] == cost[g] and turn[y - 1] > g)
        ):
            turn[y] = turn[y - 1]
            y -= 1
        turn[y] = g


@inner
def _open(search: NodeTrials, entry: Ints, begin: int, end: int, cost: float) -> int:
    """Carry out what was planned; return the number of the new node."""
    rows, open_, fate, goes = search.rows, search.open, search.trial.offer.fate, search.trial.goes
    of, other, size, under = open_.of, open_.other, open_.size, open_.under
    new, nodes = 0, len(size)
    while size[new] > 0:
        new += 1
    for t in range(len(rows)):
        under[t, new] = False
        if goes[t] >= 0:
            size[of[t]] -= rows[t]
            of[t] = new if goes[t] == nodes else goes[t]
            size[of[t]] += rows[t]
        elif other[t] >= 0 and fate[other[t]] == CLOSE:
            goes[t] = of[t]  # it stays, and looks around again
    for g in range(nodes):
        if fate[g] == CLOSE:
            open_.cost[g] = np.inf
            fate[g] = 0
    for x in range(begin, end):
        under[entry[x], new] = True
    open_.cost[new] = cost
    _in_turn(open_)
    for t in range(len(rows)):
        if goes[t] >= 0:
            other[t] = _cheapest(search, t, of[t])
        elif under[t, new]:
            h = other[t]
            if h < 0 or cost < open_.cost[h] or (cost == open_.cost[h] and new < h):
                other[t] = new
    return new


@inner
def _drain(search: NodeTrials) -> None:
    """Let rows that can be spared go where they cost less."""
    rows, open_ = search.rows, search.open
    of, other, size = open_.of, open_.other, open_.size
    for t in range(len(rows)):
        g, h = of[t], other[t]
        if h >= 0 and open_.cost[h] < open_.cost[g] - 1e-12 and size[g] - rows[t] >= search.k:
            of[t] = h
            size[g] -= rows[t]
            size[h] += rows[t]
            other[t] = _cheapest(search, t, h)


@inner
def _sum_up(search: NodeTrials) -> None:
    """Add up what the rows of every node would cost elsewhere."""
    rows, open_ = search.rows, search.open
    for g in range(len(open_.away)):
        open_.away[g] = 0.0
    for t in range(len(rows)):
        h = open_.other[t]
        open_.away[open_.of[t]] += rows[t] * (open_.cost[h] if h >= 0 else NOWHERE)
