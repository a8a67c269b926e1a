"""Open nodes that prices name: each is tried as one more group, judged group by group.

Of a group that has rows under the new node, it takes what the group can spare, or all that lies
under it; such a group is closed, and its other rows go to the cheapest groups elsewhere. What that
would change is added up from what rows pay where they are and would pay elsewhere; moves that seem
worth it are then made for real, and taken back unless they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.candidate_groups import find_candidates, mark_again
from shoal.kernels.boxes.geometry import Floats, Ints, Words, loss_with, star, width
from shoal.kernels.boxes.judge import CLOSE, Nodes, Offer, fill_up, forget, new_offer, take_gains
from shoal.kernels.boxes.shard import KEEP, Moves, Shard, allowance, new_moves
from shoal.kernels.boxes.try_moves import try_moves

NOWHERE = 1e6
"""What a row costs that no other group would take."""
MARGIN = 0.05
"""How much more than it may a step may seem to cost, in losses of the new group: its join can be
narrower than the node."""


class Elsewhere(NamedTuple):
    """What rows pay and would pay elsewhere, and room to judge one node."""

    now: Floats
    """Per row: what it pays in its group,"""
    away: Floats
    """and in the cheapest one elsewhere;"""
    free: Floats
    """and what its missing cells would cost, which are free."""
    total: Floats
    """Per group: what all its rows would pay elsewhere;"""
    under_away: Floats
    """of those under the new node the same,"""
    under_now: Floats
    """what they pay now,"""
    under_free: Floats
    """and what their missing cells would cost."""
    offer: Offer
    moves: Moves
    going: Ints
    """Whether a row goes to the new node; 0 in between."""


def new_elsewhere(rows: int, groups: int) -> Elsewhere:
    """Return room for so many rows and group numbers."""
    row, group, moves = np.zeros((3, rows)), np.zeros((4, groups)), new_moves(rows)
    return Elsewhere(
        *(row[0], row[1], row[2], group[0], group[1], group[2], group[3]),
        *(new_offer(groups), moves, np.zeros(rows, np.int64)),
    )


@kernel
def look_some(
    shard: Shard, room: Elsewhere, first: int, last: int, words: Words, price: Floats
) -> None:
    """Find out what rows would pay elsewhere, for entries from ``first`` up to ``last``.

    Nobody else may look for the same entries meanwhile, nor in the same ``words`` and ``price``.
    """
    state = shard.state
    for g in range(len(state.size)):
        if _may_close(shard, g):
            r = state.chains.first[g]
            while r >= 0:
                if first <= shard.entry[r] < last:
                    _look_away(shard, room, g, r, words, price)
                r = state.chains.after[r]


@kernel
def look_around(shard: Shard, room: Elsewhere) -> None:
    """Find out what every row pays, and add up what was found out before."""
    state = shard.state
    for g in range(len(state.size)):
        if state.size[g] > 0:
            _add_up(shard, room, g)


@kernel
def open_nodes(
    shard: Shard, nodes: Nodes, picks: Ints, room: Elsewhere, heat: float
) -> tuple[float, int]:
    """Try to open some nodes, one after the other.

    Returns the change of the loss, and how many nodes were opened. With ``heat``, a node may be
    opened that makes the loss larger.
    """
    state, change, opened, offer = shard.state, 0.0, 0, room.offer
    for x in range(len(picks)):
        begin, end = nodes.start[picks[x]], nodes.start[picks[x] + 1]
        cost = nodes.cost[picks[x]]
        allow = allowance(shard.work.seed, heat)
        touched, gains = _under(shard, nodes.under, begin, end, cost, room)
        seems = allow + MARGIN * shard.k * cost
        if gains and state.live[0] > 0 and _judge(shard, offer, touched, seems):
            count = _plan(shard, nodes.under, begin, end, touched, room)
            if count > 0:
                brought = _carry_out(shard, room, count, allow)
                change += brought
                opened += brought != 0.0
        forget(offer, touched)
    return change, opened


@inlined
def _may_close(shard: Shard, g: int) -> bool:
    """Say whether a group may be closed: not one that costs nothing, nor one that is too large."""
    return shard.state.cost[g] > 0.0 and 0 < shard.state.size[g] <= shard.most


@inner
def _look_away(shard: Shard, room: Elsewhere, g: int, r: int, words: Words, price: Floats) -> None:
    """Find the cheapest groups elsewhere for a row of a group, and what it would pay there."""
    state, candidates, e, at = shard.state, shard.work.candidates, shard.entry[r], 0
    cap = 3.0 * state.cost[g] / state.size[g] + 0.5
    find_candidates(shard, None, r, cap, words, price)
    while at < KEEP - 1 and candidates[e, at] == g:
        at += 1
    room.away[r] = price[at] if candidates[e, at] not in (-1, g) else NOWHERE


@inner
def _add_up(shard: Shard, room: Elsewhere, g: int) -> None:
    """Find out what the rows of a group pay, and add up what they would pay elsewhere."""
    boxes, state, total = shard.boxes, shard.state, 0.0
    r = state.chains.first[g]
    while r >= 0:
        pays, free = 0.0, 0.0
        for j in range(len(boxes.kind)):
            if shard.codes[r, j] == boxes.size[j]:
                free += star(boxes, j)
            else:
                pays += width(boxes, j, state.extents.lo[g, j], state.extents.hi[g, j])
        room.now[r], room.free[r] = pays, free
        total += room.away[r]
        r = state.chains.after[r]
    room.total[g] = total


@inlined
def _under(
    shard: Shard, rows: Ints, begin: int, end: int, cost: float, room: Elsewhere
) -> tuple[int, bool]:
    """Find what groups have for a node; return how many groups, and whether a row gains."""
    state, offer = shard.state, room.offer
    away, now, free = room.under_away, room.under_now, room.under_free
    touched, gains = 0, False
    for x in range(begin, end):
        r = rows[x]
        g = state.chains.group[r]
        if offer.have[g] == 0:
            offer.touched[touched] = g
            touched += 1
            away[g] = now[g] = free[g] = 0.0
        offer.have[g] += 1
        away[g] += room.away[r]
        now[g] += room.now[r]
        free[g] += room.free[r]
        gains |= room.now[r] + room.free[r] > cost
    for x in range(touched):
        g = offer.touched[x]
        offer.each[g] = cost - (now[g] + free[g]) / offer.have[g]
        offer.closing[g] = np.inf
        if _may_close(shard, g):
            offer.closing[g] = room.total[g] - away[g] - (state.cost[g] - now[g])
    return touched, gains


@inlined
def _judge(shard: Shard, offer: Offer, touched: int, allow: float) -> bool:
    """Decide group by group what the node takes; say whether that may be worth it."""
    size, k = shard.state.size, shard.k
    taken, change = take_gains(offer, touched, size, k)
    return fill_up(offer, touched, size, k, taken, change, allow)


@inner
def _plan(shard: Shard, rows: Ints, begin: int, end: int, touched: int, room: Elsewhere) -> int:
    """List the moves; return how many, or -1 when a row has nowhere to go."""
    state, offer, moves, count = shard.state, room.offer, room.moves, 0
    new = state.free[state.live[0] - 1]
    for x in range(begin, end):
        g = state.chains.group[rows[x]]
        if offer.fate[g] and offer.gives[g] > 0:
            offer.gives[g] -= 1
            moves.row[count], moves.to[count] = rows[x], new
            room.going[rows[x]] = 1
            count += 1
    total = count
    for x in range(touched):
        g = offer.touched[x]
        r = state.chains.first[g] if offer.fate[g] == CLOSE else -1
        while r >= 0 and total >= 0:
            if room.going[r] == 0:
                to = _cheapest_left(shard, room, r)
                moves.row[total], moves.to[total] = r, to
                total = total + 1 if to >= 0 else -1
            r = state.chains.after[r]
    for x in range(count):
        room.going[moves.row[x]] = 0
    return total


@inner
def _cheapest_left(shard: Shard, room: Elsewhere, r: int) -> int:
    """Return the cheapest of a row's candidates that does not close, -1 for none."""
    state, best, to = shard.state, NOWHERE, -1
    for c in range(KEEP):
        h = shard.work.candidates[shard.entry[r], c]
        if h >= 0 and room.offer.fate[h] != CLOSE and 0 < state.size[h] <= shard.most:
            limit = state.cost[h] + best
            wide = loss_with(shard.boxes, state.extents, h, state.size[h], shard.codes, r, limit)
            if wide - state.cost[h] < best:
                best, to = wide - state.cost[h], h
    return to


@inner
def _carry_out(shard: Shard, room: Elsewhere, count: int, allow: float) -> float:
    """Make the moves if they are worth it; return the change of the loss, 0 if they are not."""
    state, work, group = shard.state, shard.work, shard.work.touched.group
    n, change = try_moves(shard, None, room.moves, count, allow)
    if n == 0:
        return 0.0
    state.live[0] -= 1
    for x in range(n):
        g = group[x]
        mark_again(shard, g)
        if state.size[g] == 0:
            state.free[state.live[0]] = g
            state.live[0] += 1
    for x in range(n):
        g = group[x]
        if state.size[g] > 0:
            r = state.chains.first[g] if _may_close(shard, g) else -1
            while r >= 0:
                _look_away(shard, room, g, r, work.words, work.price)
                r = state.chains.after[r]
            _add_up(shard, room, g)
    return change


@kernel
def components(one: Ints, other: Ints, parent: Ints) -> None:
    """Fill ``parent`` with the component of every group, those of ``one`` first.

    Groups of two partitions that share a row belong together, and so on: a *component* is a
    smallest set of rows that both divide by themselves.

    ``one`` and ``other`` are group numbers per row, both counted on from 0: those of ``other``
    behind those of ``one``. ``parent`` comes in with every group as its own.
    """
    for r in range(len(one)):
        a, b = _root(parent, one[r]), _root(parent, other[r])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for g in range(len(parent)):
        parent[g] = _root(parent, g)


@inner
def _root(parent: Ints, g: int) -> int:
    while parent[g] != g:
        parent[g] = parent[parent[g]]
        g = parent[g]
    return g
