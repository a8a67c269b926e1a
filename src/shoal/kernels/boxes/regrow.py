"""Grow one new group out of freed rows, with rows that other groups can spare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inlined, inner
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import SET, TABLE, cover, span
from shoal.kernels.boxes.shard import STEP, Shard, draw

DEAR = 40.0
"""What a row costs elsewhere counts up to here while groups grow."""


class Pooled(NamedTuple):
    """What there is in the pool of a trial."""

    freed: int
    """The first rows, which need a group."""
    rows: int
    """Those and the rows that other groups can spare."""
    gaps: int
    """Columns where one of them misses a value."""


@inlined
def _clear(shard: Shard, pooled: Pooled, lean: float) -> None:
    """Let the box cover nothing."""
    kind, pool = shard.boxes.kind, shard.work.pool
    for j in range(len(kind)):
        pool.low[j] = 0 if kind[j] == SET else np.int64(1) << 40
        pool.high[j] = 0 if kind[j] == SET else -1
        pool.miss[j] = 0
        for i in range(pooled.rows):
            pool.part[j, i] = 0.0
    for i in range(pooled.rows):
        pool.wide[i] = 0.0 if pool.into[i] < 0 else np.inf
        credit = pool.credit[i]
        if i < pooled.freed:
            pool.elsewhere[i] = lean * (credit if credit < DEAR else DEAR)
        else:
            pool.elsewhere[i] = credit - 1e-7


@inlined
def _join(shard: Shard, n: int, pick: int) -> None:
    """Let the box cover row `pick`, and weigh all n rows again in the columns that this widens.

    Rows that are in a group are weighed too, for nothing: to ask each of them takes longer.
    """
    boxes, pool = shard.boxes, shard.work.pool
    part, wide, low, high = pool.part, pool.wide, pool.low, pool.high
    wide[pick] = np.inf
    for j in range(len(boxes.kind)):
        v = pool.codes[j, pick]
        lo, hi = cover(boxes, j, low[j], high[j], v)
        if v == boxes.size[j]:
            pool.miss[j] += 1
        if lo != low[j] or hi != high[j]:
            low[j], high[j] = lo, hi
            if boxes.kind[j] == TABLE:  # as the other kinds, without asking every row for it
                at, across = boxes.off[j], boxes.size[j] + 1
                for i in range(n):
                    v = pool.codes[j, i]
                    w = boxes.tab[at + (lo if lo < v else v) * across + (hi if hi > v else v)]
                    wide[i] += w - part[j, i]
                    part[j, i] = w
                continue
            for i in range(n):
                a, b = cover(boxes, j, lo, hi, pool.codes[j, i])
                w = span(boxes, j, a, b)
                wide[i] += w - part[j, i]
                part[j, i] = w


@inlined
def _cheapest(
    shard: Shard, rule: Conditions | None, pooled: Pooled, z: int, short: float
) -> tuple[int, float]:
    """Return the row to add to a group of z rows, -1 for none, and the loss with it."""
    k, boxes, state, pool = shard.k, shard.boxes, shard.state, shard.work.pool
    shard.work.counters[STEP] += 1
    best, pick, paid = np.inf, -1, 0.0
    pressed = short > 0.0 and short >= k - z
    for i in range(pooled.rows):
        total = (z + 1) * pool.wide[i]
        for x in range(pooled.gaps):  # missing cells cost nothing
            j = pool.gaps[x]
            gap = 1 if pool.codes[j, i] == boxes.size[j] else 0
            total -= pool.part[j, i] * (pool.miss[j] + gap)
        d = total - pool.elsewhere[i]
        if d >= best:
            continue
        if i >= pooled.freed:
            giver = state.chains.group[pool.row[i]]
            if pool.given[giver] >= state.size[giver] - k:
                continue
        if rule is not None and pressed and not _helps(shard, rule, pool.row[i], short):
            continue
        best, pick, paid = d, i, total
    return pick, paid


@inlined
def _helps(shard: Shard, rule: Conditions, r: int, short: float) -> bool:
    """Say whether row r brings the growing group nearer to the rule.

    Rows with the same sensitive values give the same answer: it is asked for once a step.
    """
    asked, step, hist = shard.work.asked, shard.work.counters[STEP], shard.work.hist
    tag = shard.hidden.alike[r]
    if asked[tag] // 2 != step:
        add(rule, shard.hidden.sens, r, 1, hist)
        asked[tag] = 2 * step + int(shortfall(rule, hist) < short)
        add(rule, shard.hidden.sens, r, -1, hist)
    return asked[tag] % 2 == 1


@inner
def regrow(
    shard: Shard, rule: Conditions | None, pooled: Pooled, left: int, made: int, lean: float
) -> tuple[int, float, float]:
    """Grow group number `made` from a random free row; returns size, loss, worth of its rows.

    Each step adds the row with the smallest added loss less (a part `lean` of) what that row would
    cost elsewhere. Beyond k rows the group goes on only while a row comes cheaper than elsewhere
    and than the group's average, or while the rule still asks for other sensitive values. `left`:
    how many freed rows no new group has.
    """
    pool, hist = shard.work.pool, shard.work.hist
    x, pick = draw(shard.work.seed, left), 0
    while pool.into[pick] >= 0 or x > 0:
        x -= pool.into[pick] < 0
        pick += 1
    z, spent, worth, paid = 0, 0.0, 0.0, 0.0
    _clear(shard, pooled, lean)
    while True:
        z += 1
        spent = paid
        worth += pool.credit[pick]
        pool.into[pick] = made
        if pick >= pooled.freed:
            pool.given[shard.state.chains.group[pool.row[pick]]] += 1
        _join(shard, pooled.rows, pick)
        short = 0.0
        if rule is not None:
            add(rule, shard.hidden.sens, pool.row[pick], 1, hist)
            short = shortfall(rule, hist)
        pick, paid = _cheapest(shard, rule, pooled, z, short)
        if pick < 0:
            break
        more = paid - spent
        dear = pick >= pooled.freed or more > pool.credit[pick] or more > spent / z + 1e-9
        if z >= shard.k and short == 0.0 and dear:
            break
    if rule is not None:
        if shortfall(rule, hist) > 0.0:
            z = 0
        for i in range(pooled.rows):
            if pool.into[i] == made:
                add(rule, shard.hidden.sens, pool.row[i], -1, hist)
    return z, spent, worth
