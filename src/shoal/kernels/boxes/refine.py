"""Refine: take a few neighbouring groups apart and put their rows together in a better way.

One trial frees the rows of up to three groups that meet in a class of some pattern, knows for every
freed row the cheapest *candidate group* elsewhere that would take it, grows new groups from random
freed rows, preferring rows whose candidates are dear, with rows that other groups can spare as
fillers, and sends what is left to its candidates. The exact change of loss, and the rule on every
group touched, decide whether it stays. Moves, swaps, re-splits and the dissolving of bad groups are
all cases of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.candidate_groups import (
    KEEP,
    WIDEN,
    Covered,
    find_candidates,
    mark_again,
)
from shoal.kernels.boxes.classes import Classes
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.geometry import Boxes, Codes, Extents, Floats, Ints, Words, loss_with
from shoal.kernels.boxes.groups import State, new_seen
from shoal.kernels.boxes.regrow import Pool, draw, regrow
from shoal.kernels.boxes.try_moves import Moves, Touched, try_moves

WINDOW = 24
"""How far on either side a class is looked through for neighbours."""
TOUCH = 256
"""Groups that one trial may touch."""
LIFE = 30
"""Rounds for which a row's candidates are remembered."""


class Work(NamedTuple):
    """Room for trials, made once for many of them. Few large arrays: each takes time to compile."""

    rows: Ints
    """``[7, rows]``: the pool, where each goes, where else; the moves: row, to, from; the ruins."""
    groups: Ints
    """``[3, groups]``: stamps and counts."""
    touch: Ints
    """``[2, TOUCH]``: the groups touched, and their new sizes."""
    boxes: Ints
    """``[3, TOUCH, m]``: their new boxes."""
    box: Ints
    """``[3, m]``: the box that grows."""
    codes: Ints
    """``[m, rows]``"""
    worth: Floats
    """``[2, rows]``: what a row costs elsewhere, and the widths once it has joined."""
    part: Floats
    """``[m, rows]``: those widths by column."""
    cost: Floats
    """New losses of the groups touched."""
    price: Floats
    candidates: Ints
    """``[all rows, KEEP]``: the cheapest groups elsewhere."""
    born: Ints
    """The round in which a row's candidates were looked up."""
    seen: Ints
    stamps: Ints
    """Running numbers, the last of them the groups and rows that trials have looked at."""
    hist: Ints
    words: Words


def new_work(boxes: Boxes, most: int, rows: int, groups: int, values: int) -> Work:
    """Return room for trials.

    Parameters
    ----------
    most
        Rows of a group that a trial may take apart.
    rows, groups, values
        Number of rows, of group numbers and of sensitive values.
    """
    columns = boxes.size.size
    room = 3 * most + 2 * WINDOW + 8  # rows in one trial: three groups, and what others spare
    return Work(
        rows=np.empty((7, room), np.int64),
        groups=np.full((3, groups), -1),
        touch=np.empty((2, TOUCH), np.int64),
        boxes=np.empty((3, TOUCH, columns), np.int64),
        box=np.empty((3, columns), np.int64),
        codes=np.empty((columns, room), np.int64),
        worth=np.empty((2, room)),
        part=np.empty((columns, room)),
        cost=np.empty(TOUCH),
        price=np.empty(KEEP),
        candidates=np.full((rows, KEEP), -1),
        born=np.full(rows, -1 - LIFE),
        seen=new_seen(boxes),
        stamps=np.zeros(4, np.int64),
        hist=np.zeros(values, np.int64),
        words=np.empty((WIDEN + 1, (groups + 63) // 64), np.uint64),
    )


@kernel
def trials(
    boxes: Boxes,
    k: int,
    rule: Conditions | None,
    codes: Codes,
    sens: Codes,
    state: State,
    covered: Covered,
    classes: Classes,
    picks: Ints,
    most: int,
    now: int,
    heat: float,
    seed: Words,
    work: Work,
) -> tuple[float, int]:
    """Run one trial at every place of `picks` in the classes' rows.

    Returns the change of the total loss and the number of trials that stayed.
    """
    rows, groups, touch = work.rows, work.groups, work.touch
    mark, ruined, stamps = groups[0], rows[6], work.stamps
    pool = Pool(
        rows[0],
        work.codes,
        rows[1],
        rows[2],
        work.worth[0],
        groups[1],
        work.box,
        work.part,
        work.worth[1],
    )
    moves = Moves(rows[3], rows[4], rows[5])
    changed = Extents(work.boxes[0], work.boxes[1], work.boxes[2])
    touched = Touched(touch[0], touch[1], work.cost, changed, groups[2])
    gain, stayed = 0.0, 0
    for pick in range(len(picks)):
        here = picks[pick]
        stamps[2] += 1
        a = state.chains.group[classes.rows[here]]
        if state.cost[a] <= 0.0 or state.size[a] > most or state.live[0] < 5:
            continue
        ruins, freed, old = _free(state, classes, here, most, seed, pool, mark, stamps[2], ruined)
        n, gaps = _spare(boxes, k, codes, state, classes, here, most, pool, freed, mark, stamps[2])
        _look_up(boxes, codes, state, covered, most, pool, freed, mark, now, work)
        lean = draw(seed, 1024) / 1023.0
        made, new = _grow_anew(
            boxes, k, rule, sens, state, pool, freed, n, ruins, lean, gaps, old, work, seed
        )
        count, new, lost = _plan(state, pool, freed, n, new, new > old, moves)
        allow = -1e-9
        if heat > 0.0:
            allow = -heat * np.log((1 + draw(seed, 1 << 30)) / (1 << 30))
        if lost or new > 1.1 * old + allow:
            continue  # candidates shared by several rows can still bring 10 % or so
        n, change = try_moves(
            boxes,
            k,
            rule,
            codes,
            sens,
            state,
            moves,
            count,
            touched,
            work.seen,
            stamps,
            work.hist,
            allow,
        )
        if n > 0:
            gain += change
            stayed += 1
            state.live[0] -= made
            for i in range(ruins):
                state.free[state.live[0]] = ruined[i]
                state.live[0] += 1
            for i in range(n):
                mark_again(boxes, covered, state, touched.group[i], most)
    return gain, stayed


@inlined
def _neighbour(classes: Classes, here: int, w: int) -> int:
    """Return the w-th place around `here`, to and fro from 2 on; -1 outside of its class."""
    i = here + w // 2 if w % 2 else here - w // 2
    return i if 0 <= i < len(classes.of) and classes.of[i] == classes.of[here] else -1


@inner
def _gather(after: Ints, r: int, pool: Ints, n: int) -> int:
    while r >= 0:
        pool[n] = r
        n += 1
        r = after[r]
    return n


@inlined
def _free(
    state: State,
    classes: Classes,
    here: int,
    most: int,
    seed: Words,
    pool: Pool,
    mark: Ints,
    t: int,
    ruined: Ints,
) -> tuple[int, int, float]:
    """Free the rows of a group and of up to two that it meets in its class.

    Returns how many groups and how many rows that is, and what the groups lose.
    """
    chains = state.chains
    a = chains.group[classes.rows[here]]
    wanted = 1 + draw(seed, 3)
    ruined[0], mark[a], ruins, old = a, t, 1, state.cost[a]
    freed = _gather(chains.after, chains.first[a], pool.row, 0)
    for w in range(2, 2 * WINDOW + 2):
        i = _neighbour(classes, here, w)
        if ruins == wanted or i < 0:
            continue
        g = chains.group[classes.rows[i]]
        if mark[g] != t and state.cost[g] > 0.0 and state.size[g] <= most:
            ruined[ruins], mark[g] = g, t
            ruins += 1
            old += state.cost[g]
            freed = _gather(chains.after, chains.first[g], pool.row, freed)
    return ruins, freed, old


@inlined
def _spare(
    boxes: Boxes,
    k: int,
    codes: Codes,
    state: State,
    classes: Classes,
    here: int,
    most: int,
    pool: Pool,
    freed: int,
    mark: Ints,
    t: int,
) -> tuple[int, bool]:
    """Add rows that other groups of the class can spare.

    Returns how many rows the pool has, and whether one of them misses a value.
    """
    n = freed
    for w in range(2, 2 * WINDOW + 2):
        i = _neighbour(classes, here, w)
        if i < 0:
            continue
        g = state.chains.group[classes.rows[i]]
        if mark[g] != t and k < state.size[g] <= most:
            pool.given[g] = 0
            pool.row[n], pool.credit[n] = classes.rows[i], state.cost[g] / state.size[g]
            n += 1
    gaps = n < 0
    for i in range(n):
        pool.into[i] = -1
        for j in range(len(boxes.kind)):
            pool.codes[j, i] = codes[pool.row[i], j]
            gaps |= pool.codes[j, i] == boxes.size[j]
    return n, gaps


@inlined
def _look_up(
    boxes: Boxes,
    codes: Codes,
    state: State,
    covered: Covered,
    most: int,
    pool: Pool,
    freed: int,
    mark: Ints,
    now: int,
    work: Work,
) -> None:
    """Find the cheapest group elsewhere for every freed row; candidates live for some rounds."""
    size, cost = state.size, state.cost
    for i in range(freed):
        r = pool.row[i]
        own = state.chains.group[r]
        cap = 3.0 * cost[own] / size[own] + 0.5
        if now - work.born[r] > LIFE:
            work.stamps[3] += find_candidates(
                boxes, covered, state, codes, r, cap, work.words, work.candidates, work.price
            )
            work.born[r] = now
        pool.away[i], pool.credit[i] = -1, cap
        for x in range(KEEP):
            h = work.candidates[r, x]
            if h >= 0 and mark[h] != work.stamps[2] and 0 < size[h] <= most:
                limit = cost[h] + pool.credit[i]
                d = loss_with(boxes, state.extents, h, size[h], codes, r, limit) - cost[h]
                if d < pool.credit[i]:
                    pool.away[i], pool.credit[i] = h, d


@inlined
def _grow_anew(
    boxes: Boxes,
    k: int,
    rule: Conditions | None,
    sens: Codes,
    state: State,
    pool: Pool,
    freed: int,
    n: int,
    ruins: int,
    lean: float,
    gaps: bool,
    old: float,
    work: Work,
    seed: Words,
) -> tuple[int, float]:
    """Grow new groups while going elsewhere is dearer; return how many, and their loss."""
    made, left, new = 0, freed, 0.0
    while left >= 2 and made <= ruins:
        work.stamps[3] += n
        z, spent, worth = regrow(
            boxes, k, rule, sens, state, pool, freed, n, left, made, lean, gaps, work.hist, seed
        )
        if z < k or spent >= worth:
            for i in range(n):
                if pool.into[i] == made:
                    pool.into[i] = -1
                    if i >= freed:
                        pool.given[state.chains.group[pool.row[i]]] -= 1
            break
        made += 1
        new += spent
        left = 0
        for i in range(freed):
            left += pool.into[i] < 0
        if new > old:
            break
    return made, new


@inlined
def _plan(
    state: State, pool: Pool, freed: int, n: int, new: float, lost: bool, moves: Moves
) -> tuple[int, float, bool]:
    """List the moves; return how many, what is lost with them, and whether they are hopeless."""
    count = 0
    for i in range(n):
        if pool.into[i] >= 0:
            moves.row[count] = pool.row[i]
            moves.to[count] = state.free[state.live[0] - 1 - pool.into[i]]
            count += 1
            if i >= freed:
                new -= pool.credit[i]
        elif i < freed:
            lost |= pool.away[i] < 0
            new += pool.credit[i]
            moves.row[count], moves.to[count] = pool.row[i], pool.away[i]
            count += 1
    return count, new, lost
