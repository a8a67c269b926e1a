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
from shoal.kernels.boxes.lattice import Ladders
from shoal.kernels.boxes.regrow import draw

NOWHERE = 1e12
"""What a row costs that no other open node covers."""
TAKE, CLOSE = 1, 2


class Listed(NamedTuple):
    """Nodes that are tried again and again: the entries under each, and what it costs a row."""

    start: Ints
    entry: Ints
    cost: Floats
    """Negative until it is asked for."""


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
    """Room to judge one node: by open node, and by entry."""

    have: Ints
    """Rows under the new node, by the node they are in; 0 in between."""
    away: Floats
    """What those would cost elsewhere."""
    touched: Ints
    quota: Ints
    """Rows that may be taken."""
    fate: Ints
    """0, TAKE or CLOSE; 0 in between."""
    order: Ints
    """The entries of large classes, class after class."""
    start: Ints
    goes: Ints
    """Where an entry would go."""


def new_trial(entries: int, nodes: int) -> Trial:
    """Return room for so many entries and nodes."""
    return Trial(
        np.zeros(nodes, np.int64),
        np.zeros(nodes),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(entries, np.int64),
        np.zeros(entries + 2, np.int64),
        np.zeros(entries, np.int64),
    )


@kernel
def look_around(rows: Ints, open_: Open) -> None:
    """Fill in what every entry would cost elsewhere."""
    for t in range(len(rows)):
        open_.other[t] = _second(open_, t, open_.of[t])
    _sum_up(rows, open_)


@kernel
def reopen(
    boxes: Boxes,
    ladders: Ladders,
    patterns: npt.NDArray[np.int8],
    codes: Codes,
    rows: Ints,
    k: int,
    heat: float,
    open_: Open,
    trial: Trial,
    hashed: Hashed,
    seed: Words,
) -> int:
    """Try to open every class of k rows of some patterns; return how many nodes were opened.

    ``codes`` [m, n]; ``rows`` that every entry stands for. A node that makes the loss larger may
    be opened while there is heat.
    """
    opened, start = 0, trial.start
    for q in range(len(patterns)):
        signatures(ladders, patterns[q], codes, len(rows), hashed.hashes)
        classes = large_classes(hashed, rows, k, trial.order, trial.start)
        for c in range(classes):
            begin, end = start[c], start[c + 1]
            cost = _cost(boxes, codes, trial.order, begin, end)
            new = _attempt(rows, k, heat, cost, open_, trial, trial.order, begin, end, seed)
            if new >= 0:
                for j in range(len(codes)):
                    open_.level[new, j] = patterns[q, j]
                opened += 1
    return opened


@kernel
def reopen_listed(
    boxes: Boxes,
    codes: Codes,
    listed: Listed,
    tried: Ints,
    rows: Ints,
    k: int,
    heat: float,
    open_: Open,
    trial: Trial,
    seed: Words,
) -> int:
    """Do the same with nodes whose entries are listed; ``tried`` says which, and in which order."""
    opened = 0
    for v in tried:
        begin, end = listed.start[v], listed.start[v + 1]
        cost = listed.cost[v]
        if cost < 0.0:
            cost = listed.cost[v] = _cost(boxes, codes, listed.entry, begin, end)
        if _attempt(rows, k, heat, cost, open_, trial, listed.entry, begin, end, seed) >= 0:
            opened += 1
    return opened


@inner
def _attempt(
    rows: Ints,
    k: int,
    heat: float,
    cost: float,
    open_: Open,
    trial: Trial,
    entry: Ints,
    begin: int,
    end: int,
    seed: Words,
) -> int:
    """Open a node over some entries if that may be; return its number, -1 if it was not."""
    new, allow = -1, -1e-9
    if heat > 0.0:
        allow = -heat * np.log((1 + draw(seed, 1 << 30)) / (1 << 30))
    touched = _under(rows, open_, trial, entry, begin, end)
    if _judge(k, cost, open_, trial, touched, allow):
        change, fits = _plan(rows, k, cost, open_, trial, entry, begin, end)
        if fits and change < allow:
            new = _open(rows, cost, open_, trial, entry, begin, end)
            if heat == 0.0:
                _drain(rows, k, open_)
            _sum_up(rows, open_)
    for x in range(touched):
        trial.have[trial.touched[x]] = trial.fate[trial.touched[x]] = 0
    return new


@inner
def _cost(boxes: Boxes, codes: Codes, order: Ints, begin: int, end: int) -> float:
    """Return what the join of some entries costs a row; next to a gap, everything."""
    cost = 0.0
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
def _under(rows: Ints, open_: Open, trial: Trial, entry: Ints, begin: int, end: int) -> int:
    """Count the rows of some entries by the node they are in; return how many nodes those are."""
    touched = 0
    for x in range(begin, end):
        t = entry[x]
        g, h = open_.of[t], open_.other[t]
        if trial.have[g] == 0:
            trial.touched[touched] = g
            touched += 1
            trial.away[g] = 0.0
        trial.have[g] += rows[t]
        trial.away[g] += rows[t] * (open_.cost[h] if h >= 0 else NOWHERE)
    return touched


@inner
def _closing(open_: Open, trial: Trial, g: int) -> float:
    """Return what the rows of a node that do not lie under the new one lose if it closes."""
    left = open_.size[g] - trial.have[g]
    return open_.away[g] - trial.away[g] - left * open_.cost[g] if left else 0.0


@inner
def _judge(k: int, cost: float, open_: Open, trial: Trial, touched: int, allow: float) -> bool:
    """Decide node by node what a new one takes; say whether that may be worth it.

    First what gains, then, up to k rows, what loses least.
    """
    taken, change = 0, 0.0
    for x in range(touched):
        g = trial.touched[x]
        gain, have = open_.cost[g] - cost, trial.have[g]
        spare = min(have, open_.size[g] - k)
        trial.quota[g] = 0
        if gain <= 0.0:
            continue
        closing = _closing(open_, trial, g) - have * gain
        if have > spare and closing < -spare * gain:
            trial.fate[g], trial.quota[g] = CLOSE, have
            change += closing
        elif spare > 0:
            trial.fate[g], trial.quota[g] = TAKE, spare
            change -= spare * gain
        taken += trial.quota[g]
    if taken == 0:  # nobody gains: at best the same node once more
        return False
    while taken < k and change < allow:
        best, least, fate, brings = -1, np.inf, TAKE, 0
        for x in range(touched):
            g = trial.touched[x]
            loss, have, quota = cost - open_.cost[g], trial.have[g], trial.quota[g]
            spare = min(have, open_.size[g] - k)
            if trial.fate[g] == 0 and spare > 0 and loss < least:
                best, least, fate, brings = g, loss, TAKE, min(spare, k - taken)
            if trial.fate[g] != CLOSE and have > quota:
                each = loss + _closing(open_, trial, g) / (have - quota)
                if each < least:
                    best, least, fate, brings = g, each, CLOSE, have - quota
        if best < 0:
            return False
        change += least * brings
        taken += brings
        trial.fate[best] = fate
        trial.quota[best] = trial.have[best] if fate == CLOSE else open_.size[best] - k
    return change < allow


@inner
def _plan(
    rows: Ints, k: int, cost: float, open_: Open, trial: Trial, entry: Ints, begin: int, end: int
) -> tuple[float, bool]:
    """Say where every entry would go; return the change of the loss, and whether k rows come."""
    goes, change, taken = trial.goes, 0.0, 0
    for t in range(len(rows)):
        goes[t] = -1
    for turn in range(2):  # those that gain first
        for x in range(begin, end):
            t = entry[x]
            g = open_.of[t]
            gain = open_.cost[g] > cost
            if gain == (turn == 1) or trial.fate[g] == 0 or goes[t] >= 0:
                continue
            if trial.fate[g] == TAKE:
                if rows[t] > trial.quota[g] or (not gain and taken >= k):
                    continue
                trial.quota[g] -= rows[t]
            goes[t] = len(open_.cost)
            taken += rows[t]
            change += rows[t] * (cost - open_.cost[g])
    if taken < k:
        return 0.0, False
    for t in range(len(rows)):
        g = open_.of[t]
        if trial.fate[g] == CLOSE and goes[t] < 0:
            h = open_.other[t]
            if h >= 0 and trial.fate[h] == CLOSE:
                h = _left_open(open_, trial, t)
            if h < 0:
                return 0.0, False
            goes[t] = h
            change += rows[t] * (open_.cost[h] - open_.cost[g])
    return change, True


@inner
def _left_open(open_: Open, trial: Trial, t: int) -> int:
    """Return the cheapest node over an entry that does not close, -1 for none."""
    for g in open_.turn:
        if open_.cost[g] == np.inf:
            break
        if open_.under[t, g] and trial.fate[g] != CLOSE:
            return g
    return -1


@inner
def _second(open_: Open, t: int, but: int) -> int:
    """Return the cheapest node over an entry but for one, -1 for none."""
    for g in open_.turn:
        if open_.cost[g] == np.inf:
            break
        if open_.under[t, g] and g != but:
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
def _open(
    rows: Ints, cost: float, open_: Open, trial: Trial, entry: Ints, begin: int, end: int
) -> int:
    """Carry out what was planned; return the number of the new node."""
    of, other, size, under, goes = open_.of, open_.other, open_.size, open_.under, trial.goes
    new, nodes = 0, len(size)
    while size[new] > 0:
        new += 1
    for t in range(len(rows)):
        under[t, new] = False
        if goes[t] >= 0:
            size[of[t]] -= rows[t]
            of[t] = new if goes[t] == nodes else goes[t]
            size[of[t]] += rows[t]
        elif other[t] >= 0 and trial.fate[other[t]] == CLOSE:
            goes[t] = of[t]  # it stays, and looks around anew
    for g in range(nodes):
        if trial.fate[g] == CLOSE:
            open_.cost[g] = np.inf
    for x in range(begin, end):
        under[entry[x], new] = True
    open_.cost[new] = cost
    _in_turn(open_)
    for t in range(len(rows)):
        if goes[t] >= 0:
            other[t] = _second(open_, t, of[t])
        elif under[t, new]:
            h = other[t]
            if h < 0 or cost < open_.cost[h] or (cost == open_.cost[h] and new < h):
                other[t] = new
    return new


@inner
def _drain(rows: Ints, k: int, open_: Open) -> None:
    """Let rows that can be spared go where they cost less."""
    of, other, size = open_.of, open_.other, open_.size
    for t in range(len(rows)):
        g, h = of[t], other[t]
        if h >= 0 and open_.cost[h] < open_.cost[g] - 1e-12 and size[g] - rows[t] >= k:
            of[t] = h
            size[g] -= rows[t]
            size[h] += rows[t]
            other[t] = _second(open_, t, h)


@inner
def _sum_up(rows: Ints, open_: Open) -> None:
    """Add up what the rows of every node would cost elsewhere."""
    for g in range(len(open_.away)):
        open_.away[g] = 0.0
    for t in range(len(rows)):
        h = open_.other[t]
        open_.away[open_.of[t]] += rows[t] * (open_.cost[h] if h >= 0 else NOWHERE)
