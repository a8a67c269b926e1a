"""Grow one new group out of freed rows, with rows that other groups can spare."""

from __future__ import annotations

import numpy as np

from shoal.kernels import inner
from shoal.kernels.boxes.conditions import add, shortfall
from shoal.kernels.boxes.geometry import SET, Floats, Ints, Parts, Words, cover, span


@inner
def draw(seed: Words, n: int) -> int:
    """Next random integer below n (xorshift; the state is ours, so runs repeat)."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return int((x >> np.uint64(11)) % np.uint64(n))


@inner
def regrow(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    k: int,
    rule: Parts,
    sens: Ints,
    grp: Ints,
    size: Ints,
    pool: Ints,
    row: Ints,
    into: Ints,
    credit: Floats,
    nf: int,
    n: int,
    left: int,
    made: int,
    lean: float,
    given: Ints,
    gaps: bool,
    box: Ints,
    hist: Ints,
    part: Floats,
    wsum: Floats,
    seed: Words,
) -> tuple[int, float, float]:
    """Grow group number `made` from a random free row; returns size, loss, worth of its rows.

    Each step adds the row with the smallest added loss less (a part `lean` of) what that row would
    cost elsewhere. Beyond k rows the group goes on only while a row comes cheaper than its home and
    than the group's average, or while the rule still asks for other sensitive values.
    box[0..2] = lo, hi, missing cells; part[j, i] = width of column j once row i has joined, wsum[i]
    = their sum; `gaps` = some row of the pool misses a value.
    """
    x = draw(seed, left)
    s = 0
    while into[s] >= 0 or x > 0:
        x -= into[s] < 0
        s += 1
    z, spent, worth = 0, 0.0, 0.0
    pick, paid = s, 0.0
    for j in range(len(kind)):
        box[0, j] = 0 if kind[j] == SET else np.int64(1) << 40
        box[1, j] = 0 if kind[j] == SET else -1
        box[2, j] = 0
        for i in range(n):
            part[j, i] = 0.0
    for i in range(n):
        wsum[i] = 0.0
    while True:
        z += 1
        spent = paid
        worth += credit[pick]
        into[pick] = made
        if pick >= nf:
            given[grp[pool[pick]]] += 1
        if rule is not None:
            add(rule[3], sens, pool[pick], 1, hist)
        for j in range(len(kind)):
            v = row[j, pick]
            a, b = cover(kind, dsize, j, box[0, j], box[1, j], v)
            if v == dsize[j]:
                box[2, j] += 1
            if a != box[0, j] or b != box[1, j]:  # weigh all rows again in this column alone
                box[0, j], box[1, j] = a, b
                _weigh(kind, dsize, off, tab, row, into, n, j, a, b, part, wsum)
        short = 0.0
        if rule is not None:
            short = shortfall(rule, hist)
        pressed = short > 0.0 and short >= k - z
        best, pick = np.inf, -1
        for i in range(n):
            if into[i] >= 0:
                continue
            total = (z + 1) * wsum[i]
            if gaps:  # missing cells cost nothing
                for j in range(len(kind)):
                    total -= part[j, i] * (box[2, j] + (1 if row[j, i] == dsize[j] else 0))
            elsewhere = credit[i] - 1e-7
            if i < nf:
                elsewhere = lean * (credit[i] if credit[i] < 40.0 else 40.0)
            d = total - elsewhere
            if d >= best:
                continue
            if i >= nf and given[grp[pool[i]]] >= size[grp[pool[i]]] - k:
                continue
            if rule is not None and pressed:
                add(rule[3], sens, pool[i], 1, hist)
                helps = shortfall(rule, hist) < short
                add(rule[3], sens, pool[i], -1, hist)
                if not helps:
                    continue
            best, pick, paid = d, i, total
        if pick < 0:
            break
        dear = pick >= nf or paid - spent > credit[pick] or paid - spent > spent / z + 1e-9
        if z >= k and short == 0.0 and dear:
            break
    if rule is not None:
        if shortfall(rule, hist) > 0.0:
            z = 0
        for v in range(len(hist)):
            hist[v] = 0
    return z, spent, worth


@inner
def _weigh(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    row: Ints,
    into: Ints,
    n: int,
    j: int,
    lo: int,
    hi: int,
    part: Floats,
    wsum: Floats,
) -> None:
    for i in range(n):
        if into[i] < 0:
            a, b = cover(kind, dsize, j, lo, hi, row[j, i])
            w = span(kind, dsize, off, tab, j, a, b)
            wsum[i] += w - part[j, i]
            part[j, i] = w
