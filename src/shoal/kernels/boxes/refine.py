"""Refine: take a few neighbouring groups apart and put their rows together in a better way.

One trial frees the rows of up to three groups that meet in a class of some pattern or would take a
row of each other at little cost, knows for every freed row the cheapest *candidate group*
elsewhere, grows new groups from random freed rows, preferring rows whose candidates are dear, with
rows that other groups can spare as fillers, and sends what is left to its candidates. The exact
change of loss, and the rule on every group touched, decide whether it stays. Moves, swaps,
re-splits and the dissolving of bad groups are all cases of this.
"""

from __future__ import annotations

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.candidate_groups import mark_again, renew
from shoal.kernels.boxes.classes import Classes
from shoal.kernels.boxes.conditions import Conditions
from shoal.kernels.boxes.covered import count_again, may_move
from shoal.kernels.boxes.geometry import Ints, loss_with
from shoal.kernels.boxes.regrow import Pooled, regrow
from shoal.kernels.boxes.shard import (
    KEEP,
    LOOKED,
    TRIAL,
    TRIES,
    WINDOW,
    Shard,
    allowance,
    draw,
)
from shoal.kernels.boxes.try_moves import try_moves


@kernel
def trials(
    shard: Shard, rule: Conditions | None, picks: Ints, now: int, heat: float
) -> tuple[float, int]:
    """Run one trial at every place of `picks` in the classes' rows.

    Returns the change of the total loss and the number of trials that stayed.
    """
    state, work, most = shard.state, shard.work, shard.most
    gain, stayed = 0.0, 0
    for pick in range(len(picks)):
        here = picks[pick]
        work.counters[TRIAL] += 1
        a = state.chains.group[shard.classes.rows[here]]
        if state.cost[a] <= 0.0 or state.size[a] > most or state.live[0] < 5:
            continue
        ruins, freed, old = _free(shard, rule, here, now)
        pooled = _spare(shard, rule, here, freed)
        _look_up(shard, rule, freed, now)
        lean = draw(work.seed, 1024) / 1023.0
        made, new = _grow_again(shard, rule, pooled, ruins, lean, old)
        count, new, lost = _plan(shard, pooled, new, new > old)
        allow = allowance(work.seed, heat)
        if lost or new > 1.1 * old + allow:
            continue  # candidates shared by several rows can still bring 10 % or so
        n, change = try_moves(shard, rule, work.moves, count, allow)
        if n > 0:
            gain += change
            stayed += 1
            state.live[0] -= made
            for i in range(ruins):
                state.free[state.live[0]] = work.ruined[i]
                state.live[0] += 1
            for i in range(n):
                mark_again(shard, work.touched.group[i])
                if rule is not None and len(shard.hidden.tally) > 0:
                    count_again(rule, shard.hidden, state.chains, work.touched.group[i])
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
def _free(shard: Shard, rule: Conditions | None, here: int, now: int) -> tuple[int, int, float]:
    """Free the rows of a group and of up to two near it: in its class, or candidates of its rows.

    Returns how many groups and how many rows that is, and what the groups lose.
    """
    state, classes, work, t = shard.state, shard.classes, shard.work, shard.work.counters[TRIAL]
    chains, pool, mark, seed = state.chains, work.pool, work.pool.mark, work.seed
    a = chains.group[classes.rows[here]]
    wanted = 1 + draw(seed, 3)
    work.ruined[0], mark[a], ruins, old = a, t, 1, state.cost[a]
    freed = _gather(chains.after, chains.first[a], pool.row, 0)
    near = draw(seed, 2) == 0
    for w in range(2, 2 * WINDOW + 2):
        if ruins == wanted or (near and w == TRIES):
            break
        if near:  # the groups that would take one of these rows at the least cost
            r = pool.row[draw(seed, freed)]
            renew(shard, rule, r, now)
            g = work.candidates[shard.entry[r], draw(seed, KEEP)]
        else:
            i = _neighbour(classes, here, w)
            g = chains.group[classes.rows[i]] if i >= 0 else -1
        if g >= 0 and mark[g] != t and state.cost[g] > 0.0 and state.size[g] <= shard.most:
            work.ruined[ruins], mark[g] = g, t
            ruins += 1
            old += state.cost[g]
            freed = _gather(chains.after, chains.first[g], pool.row, freed)
    return ruins, freed, old


@inlined
def _spare(shard: Shard, rule: Conditions | None, here: int, freed: int) -> Pooled:
    """Add rows that other groups of the class can spare; return what is in the pool."""
    state, classes, pool, n = shard.state, shard.classes, shard.work.pool, freed
    for w in range(2, 2 * WINDOW + 2):
        i = _neighbour(classes, here, w)
        if i < 0:
            continue
        g = state.chains.group[classes.rows[i]]
        if pool.mark[g] != shard.work.counters[TRIAL] and shard.k < state.size[g] <= shard.most:
            if rule is not None and not may_move(rule, shard.hidden, classes.rows[i], g, -1):
                continue
            pool.given[g] = 0
            pool.row[n], pool.credit[n] = classes.rows[i], state.cost[g] / state.size[g]
            n += 1
    gaps = 0
    for j in range(len(shard.boxes.kind)):
        missing = False
        for i in range(n):
            pool.codes[j, i] = shard.codes[pool.row[i], j]
            missing |= pool.codes[j, i] == shard.boxes.size[j]
        if missing:
            pool.gaps[gaps] = j
            gaps += 1
    for i in range(n):
        pool.into[i] = -1
    return Pooled(freed, n, gaps)


@inlined
def _look_up(shard: Shard, rule: Conditions | None, freed: int, now: int) -> None:
    """Find the cheapest group elsewhere for every freed row."""
    boxes, codes, state, work = shard.boxes, shard.codes, shard.state, shard.work
    size, cost, pool = state.size, state.cost, work.pool
    for i in range(freed):
        r = pool.row[i]
        own = state.chains.group[r]
        renew(shard, rule, r, now)
        pool.away[i], pool.credit[i] = -1, 3.0 * cost[own] / size[own] + 0.5
        for x in range(KEEP):
            h = work.candidates[shard.entry[r], x]
            if h >= 0 and pool.mark[h] != work.counters[TRIAL] and 0 < size[h] <= shard.most:
                limit = cost[h] + pool.credit[i]
                d = loss_with(boxes, state.extents, h, size[h], codes, r, limit) - cost[h]
                if d < pool.credit[i]:
                    if rule is not None and not may_move(rule, shard.hidden, r, h, 1):
                        continue
                    pool.away[i], pool.credit[i] = h, d


@inlined
def _grow_again(
    shard: Shard, rule: Conditions | None, pooled: Pooled, ruins: int, lean: float, old: float
) -> tuple[int, float]:
    """Grow new groups while going elsewhere is dearer; return how many, and their loss."""
    pool, made, left, new = shard.work.pool, 0, pooled.freed, 0.0
    while left >= 2 and made <= ruins:
        shard.work.counters[LOOKED] += pooled.rows
        z, spent, worth = regrow(shard, rule, pooled, left, made, lean)
        if z < shard.k or spent >= worth:
            for i in range(pooled.rows):
                if pool.into[i] == made:
                    pool.into[i] = -1
                    if i >= pooled.freed:
                        pool.given[shard.state.chains.group[pool.row[i]]] -= 1
            break
        made += 1
        new += spent
        left = 0
        for i in range(pooled.freed):
            left += pool.into[i] < 0
        if new > old:
            break
    return made, new


@inlined
def _plan(shard: Shard, pooled: Pooled, new: float, lost: bool) -> tuple[int, float, bool]:
    """List the moves; return how many, what is lost with them, and whether they are hopeless."""
    free, live, count = shard.state.free, shard.state.live[0], 0
    pool, moves = shard.work.pool, shard.work.moves
    for i in range(pooled.rows):
        if pool.into[i] >= 0:
            moves.row[count], moves.to[count] = pool.row[i], free[live - 1 - pool.into[i]]
            count += 1
            if i >= pooled.freed:
                new -= pool.credit[i]
        elif i < pooled.freed:
            lost |= pool.away[i] < 0
            new += pool.credit[i]
            moves.row[count], moves.to[count] = pool.row[i], pool.away[i]
            count += 1
    return count, new, lost
