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
from shoal.kernels.boxes.candidate_groups import KEEP, find_candidates, mark_again
from shoal.kernels.boxes.geometry import Extents, Floats, Ints, Words, loss_with, star, width
from shoal.kernels.boxes.regrow import draw
from shoal.kernels.boxes.shard import Shard
from shoal.kernels.boxes.try_moves import Moves, Touched, try_moves

NOWHERE = 1e6
"""What a row costs that no other group would take."""
TAKE, CLOSE = 1, 2
MARGIN = 0.05
"""How much more than it may a step may seem to cost, in losses of the new group: its join can be
narrower than the node."""


class NodeRows(NamedTuple):
    """Some nodes and the rows under each."""

    start: Ints
    rows: Ints
    cost: Floats
    """What a node costs a row, its missing cells included."""


class Elsewhere(NamedTuple):
    """What rows pay and would pay elsewhere, and room to judge one node."""

    pays: Floats
    """``[3, rows]``: what a row pays in its group, and in the cheapest one elsewhere; and what its
    missing cells would cost, which are free."""
    sums: Floats
    """``[4, groups]``: what all rows of a group would pay elsewhere; of those under the new node
    the same, what they pay now, and what their missing cells would cost."""
    counts: Ints
    """``[4, groups]``: rows under the new node, the group's fate (both 0 in between), how many rows
    it gives; and the groups that have any."""
    moves: Ints
    """``[3, rows]``: row, to, from."""
    going: Ints
    """Whether a row goes to the new node; 0 in between."""


def new_elsewhere(rows: int, groups: int) -> Elsewhere:
    """Return room for so many rows and group numbers."""
    return Elsewhere(
        np.zeros((3, rows)),
        np.zeros((4, groups)),
        np.zeros((4, groups), np.int64),
        np.zeros((3, rows), np.int64),
        np.zeros(rows, np.int64),
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
    shard: Shard, nodes: NodeRows, picks: Ints, room: Elsewhere, heat: float
) -> tuple[float, int]:
    """Try to open some nodes, one after the other.

    Returns the change of the loss, and how many nodes were opened. With ``heat``, a node may be
    opened that makes the loss larger.
    """
    state, work, change, opened = shard.state, shard.work, 0.0, 0
    for x in range(len(picks)):
        begin, end = nodes.start[picks[x]], nodes.start[picks[x] + 1]
        cost, allow = nodes.cost[picks[x]], -1e-9
        if heat > 0.0:
            allow = -heat * np.log((1 + draw(work.seed, 1 << 30)) / (1 << 30))
        touched, gains = _under(shard, nodes.rows, begin, end, cost, room)
        seems = allow + MARGIN * shard.k * cost
        if gains and state.live[0] > 0 and _judge(shard, room, cost, touched, seems):
            count = _plan(shard, nodes.rows, begin, end, touched, room)
            if count > 0:
                brought = _carry_out(shard, room, count, allow)
                change += brought
                opened += brought != 0.0
        for y in range(touched):
            g = room.counts[3, y]
            room.counts[0, g] = room.counts[1, g] = 0
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
    where = (shard.boxes, shard.covered, state, shard.codes, r, e, cap)
    find_candidates(*where, words, candidates, price, None, shard.hidden)
    while at < KEEP - 1 and candidates[e, at] == g:
        at += 1
    room.pays[1, r] = price[at] if candidates[e, at] not in (-1, g) else NOWHERE


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
        room.pays[0, r], room.pays[2, r] = pays, free
        total += room.pays[1, r]
        r = state.chains.after[r]
    room.sums[0, g] = total


@inlined
def _under(
    shard: Shard, rows: Ints, begin: int, end: int, cost: float, room: Elsewhere
) -> tuple[int, bool]:
    """Add up the rows under a node by group; return how many groups, and whether a row gains."""
    group, sums, counts = shard.state.chains.group, room.sums, room.counts
    touched, gains = 0, False
    for x in range(begin, end):
        r = rows[x]
        g = group[r]
        if counts[0, g] == 0:
            counts[3, touched] = g
            touched += 1
            sums[1, g] = sums[2, g] = sums[3, g] = 0.0
        counts[0, g] += 1
        sums[1, g] += room.pays[1, r]
        sums[2, g] += room.pays[0, r]
        sums[3, g] += room.pays[2, r]
        gains |= room.pays[0, r] + room.pays[2, r] > cost
    return touched, gains


@inlined
def _each(room: Elsewhere, cost: float, g: int) -> float:
    """Return what a row of a group under the node would lose, on average, if it went there."""
    return cost - (room.sums[2, g] + room.sums[3, g]) / room.counts[0, g]


@inlined
def _closing(shard: Shard, room: Elsewhere, g: int) -> float:
    """Return what the rows of a group that are not under the node lose if it closes."""
    if not _may_close(shard, g):
        return np.inf
    sums = room.sums
    return sums[0, g] - sums[1, g] - (shard.state.cost[g] - sums[2, g])


@inner
def _judge(shard: Shard, room: Elsewhere, cost: float, touched: int, allow: float) -> bool:
    """Decide group by group what the node takes; say whether that may be worth it.

    First what gains, then, up to k rows, what loses least.
    """
    state, k, counts = shard.state, shard.k, room.counts
    taken, change = 0, 0.0
    for x in range(touched):
        g = counts[3, x]
        have = counts[0, g]
        each, spare = _each(room, cost, g), min(have, state.size[g] - k)
        counts[2, g] = 0
        if each >= 0.0:
            continue
        closing = _closing(shard, room, g) + have * each
        if have > spare and closing < spare * each:
            counts[1, g], counts[2, g] = CLOSE, have
            change += closing
        elif spare > 0:
            counts[1, g], counts[2, g] = TAKE, spare
            change += spare * each
        taken += counts[2, g]
    while taken < k and change < allow:
        best, least, fate, brings = -1, np.inf, TAKE, 0
        for x in range(touched):
            g = counts[3, x]
            have, given = counts[0, g], counts[2, g]
            each, spare = _each(room, cost, g), min(have, state.size[g] - k)
            if counts[1, g] == 0 and spare > 0 and each < least:
                best, least, fate, brings = g, each, TAKE, min(spare, k - taken)
            if counts[1, g] != CLOSE and have > given:
                dearer = each + _closing(shard, room, g) / (have - given)
                if dearer < least:
                    best, least, fate, brings = g, dearer, CLOSE, have - given
        if best < 0:
            return False
        change += least * brings
        taken += brings
        counts[1, best] = fate
        counts[2, best] = counts[0, best] if fate == CLOSE else brings
    return taken >= k and change < allow


@inner
def _plan(shard: Shard, rows: Ints, begin: int, end: int, touched: int, room: Elsewhere) -> int:
    """List the moves; return how many, or -1 when a row has nowhere to go."""
    state, counts, moves, count = shard.state, room.counts, room.moves, 0
    new = state.free[state.live[0] - 1]
    for x in range(begin, end):
        g = state.chains.group[rows[x]]
        if counts[1, g] and counts[2, g] > 0:
            counts[2, g] -= 1
            moves[0, count], moves[1, count] = rows[x], new
            room.going[rows[x]] = 1
            count += 1
    total = count
    for x in range(touched):
        g = counts[3, x]
        r = state.chains.first[g] if counts[1, g] == CLOSE else -1
        while r >= 0 and total >= 0:
            if room.going[r] == 0:
                to = _cheapest_left(shard, room, r)
                moves[0, total], moves[1, total] = r, to
                total = total + 1 if to >= 0 else -1
            r = state.chains.after[r]
    for x in range(count):
        room.going[moves[0, x]] = 0
    return total


@inner
def _cheapest_left(shard: Shard, room: Elsewhere, r: int) -> int:
    """Return the cheapest of a row's candidates that does not close, -1 for none."""
    state, best, to = shard.state, NOWHERE, -1
    for c in range(KEEP):
        h = shard.work.candidates[shard.entry[r], c]
        if h >= 0 and room.counts[1, h] != CLOSE and 0 < state.size[h] <= shard.most:
            limit = state.cost[h] + best
            wide = loss_with(shard.boxes, state.extents, h, state.size[h], shard.codes, r, limit)
            if wide - state.cost[h] < best:
                best, to = wide - state.cost[h], h
    return to


@inner
def _carry_out(shard: Shard, room: Elsewhere, count: int, allow: float) -> float:
    """Make the moves if they are worth it; return the change of the loss, 0 if they are not."""
    state, work, most = shard.state, shard.work, shard.most
    moves = Moves(room.moves[0], room.moves[1], room.moves[2])
    changed = Extents(work.boxes[0], work.boxes[1], work.boxes[2])
    touched = Touched(work.touch[0], work.touch[1], work.cost, changed, work.groups[2])
    n, change = try_moves(shard, None, moves, count, touched, allow)
    if n == 0:
        return 0.0
    state.live[0] -= 1
    for x in range(n):
        g = touched.group[x]
        mark_again(shard.boxes, shard.covered, state, g, most)
        if state.size[g] == 0:
            state.free[state.live[0]] = g
            state.live[0] += 1
    for x in range(n):
        g = touched.group[x]
        if state.size[g] > 0:
            r = state.chains.first[g] if _may_close(shard, g) else -1
            while r >= 0:
                _look_away(shard, room, g, r, work.words, work.price)
                r = state.chains.after[r]
            _add_up(shard, room, g)
    return change
