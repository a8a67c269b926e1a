"""Grow one new group out of freed rows, with rows that other groups can spare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inlined, inner
from shoal.kernels.boxes.conditions import Conditions, add, shortfall
from shoal.kernels.boxes.geometry import SET, TABLE, Boxes, Floats, Ints, Words, cover, span
from shoal.kernels.boxes.shard import Shard

DEAR = 40.0
"""What a row costs elsewhere counts up to here while groups grow."""


class Pool(NamedTuple):
    """The rows of one trial: those that are freed, then those that other groups can spare."""

    row: Ints
    codes: Ints
    """``[m, rows]``"""
    into: Ints
    """Number of the new group that has the row, -1 for none."""
    away: Ints
    """The group that takes a freed row at the least cost, -1 for none."""
    credit: Floats
    """What the row costs elsewhere."""
    mark: Ints
    """Per group: the number of the last trial that took it apart."""
    given: Ints
    """How many rows each other group has given."""
    box: Ints
    """``[4, m]``: the box that grows: lo, hi, missing cells; then the columns where rows of the
    pool have any."""
    part: Floats
    """``[m, rows]``: width of each column once the row has joined."""
    wide: Floats
    """The sum of those widths; infinite for a row that some new group has."""
    elsewhere: Floats
    """What counts of the credit while the group grows."""


@inner
def draw(seed: Words, n: int) -> int:
    """Next random integer below n (xorshift; the state is ours, so runs repeat)."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return int((x >> np.uint64(11)) % np.uint64(n))


@inlined
def _clear(boxes: Boxes, pool: Pool, freed: int, n: int, lean: float) -> None:
    """Let the box cover nothing."""
    for j in range(len(boxes.kind)):
        pool.box[0, j] = 0 if boxes.kind[j] == SET else np.int64(1) << 40
        pool.box[1, j] = 0 if boxes.kind[j] == SET else -1
        pool.box[2, j] = 0
        for i in range(n):
            pool.part[j, i] = 0.0
    for i in range(n):
        pool.wide[i] = 0.0 if pool.into[i] < 0 else np.inf
        credit = pool.credit[i]
        if i < freed:
            pool.elsewhere[i] = lean * (credit if credit < DEAR else DEAR)
        else:
            pool.elsewhere[i] = credit - 1e-7


@inlined
def _join(boxes: Boxes, pool: Pool, n: int, pick: int) -> None:
    """Let the box cover row `pick`, and weigh all rows again in the columns that this widens.

    Rows that are in a group are weighed too, for nothing: to ask each of them takes longer.
    """
    box, part, wide = pool.box, pool.part, pool.wide
    wide[pick] = np.inf
    for j in range(len(boxes.kind)):
        v = pool.codes[j, pick]
        lo, hi = cover(boxes, j, box[0, j], box[1, j], v)
        if v == boxes.size[j]:
            box[2, j] += 1
        if lo != box[0, j] or hi != box[1, j]:
            box[0, j], box[1, j] = lo, hi
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
    shard: Shard,
    rule: Conditions | None,
    pool: Pool,
    freed: int,
    n: int,
    z: int,
    gaps: int,
    short: float,
) -> tuple[int, float]:
    """Return the row to add to a group of z rows, -1 for none, and the loss with it."""
    k, boxes, state = shard.k, shard.boxes, shard.state
    shard.work.stamps[4] += 1
    best, pick, paid = np.inf, -1, 0.0
    pressed = short > 0.0 and short >= k - z
    for i in range(n):
        total = (z + 1) * pool.wide[i]
        for x in range(gaps):  # missing cells cost nothing
            j = pool.box[3, x]
            gap = 1 if pool.codes[j, i] == boxes.size[j] else 0
            total -= pool.part[j, i] * (pool.box[2, j] + gap)
        d = total - pool.elsewhere[i]
        if d >= best:
            continue
        if i >= freed:
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
    asked, step, hist = shard.work.asked, shard.work.stamps[4], shard.work.hist
    tag = shard.hidden.alike[r]
    if asked[tag] // 2 != step:
        add(rule, shard.hidden.sens, r, 1, hist)
        asked[tag] = 2 * step + int(shortfall(rule, hist) < short)
        add(rule, shard.hidden.sens, r, -1, hist)
    return asked[tag] % 2 == 1


@inner
def regrow(
    shard: Shard,
    rule: Conditions | None,
    pool: Pool,
    freed: int,
    n: int,
    left: int,
    made: int,
    lean: float,
    gaps: int,
) -> tuple[int, float, float]:
    """Grow group number `made` from a random free row; returns size, loss, worth of its rows.

    Each step adds the row with the smallest added loss less (a part `lean` of) what that row would
    cost elsewhere. Beyond k rows the group goes on only while a row comes cheaper than elsewhere
    and than the group's average, or while the rule still asks for other sensitive values. The first
    `freed` of the `n` rows are freed ones; in `gaps` columns some row of the pool misses a value.
    """
    boxes, hist = shard.boxes, shard.work.hist
    x, pick = draw(shard.work.seed, left), 0
    while pool.into[pick] >= 0 or x > 0:
        x -= pool.into[pick] < 0
        pick += 1
    z, spent, worth, paid = 0, 0.0, 0.0, 0.0
    _clear(boxes, pool, freed, n, lean)
    while True:
        z += 1
        spent = paid
        worth += pool.credit[pick]
        pool.into[pick] = made
        if pick >= freed:
            pool.given[shard.state.chains.group[pool.row[pick]]] += 1
        _join(boxes, pool, n, pick)
        short = 0.0
        if rule is not None:
            add(rule, shard.hidden.sens, pool.row[pick], 1, hist)
            short = shortfall(rule, hist)
        pick, paid = _cheapest(shard, rule, pool, freed, n, z, gaps, short)
        if pick < 0:
            break
        more = paid - spent
        dear = pick >= freed or more > pool.credit[pick] or more > spent / z + 1e-9
        if z >= shard.k and short == 0.0 and dear:
            break
    if rule is not None:
        if shortfall(rule, hist) > 0.0:
            z = 0
        for i in range(n):
            if pool.into[i] == made:
                add(rule, shard.hidden.sens, pool.row[i], -1, hist)
    return z, spent, worth
