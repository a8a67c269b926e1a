"""Privacy rules as numbers: a list of conditions on a group's size and histograms.

`shortfall` is 0 when every condition holds and otherwise says how far off the group is; growth
uses it to see which rows bring a group nearer to the rule, and everything else only asks for 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import inner
from shoal.kernels.boxes.geometry import Codes, Floats, Ints

DISTINCT, SHARE, VALUE_SHARE, ENTROPY, RECURSIVE, T_EQUAL, T_ORDERED, BETA, PEOPLE = range(9)


class Conditions(NamedTuple):
    """What a group must meet beyond its size, in the form that kernels can read."""

    code: Ints
    """Which condition."""
    col: Ints
    """Which sensitive column it speaks of."""
    par: Floats
    """``[conditions, 2]``: its parameters."""
    base: Ints
    """Where each sensitive column's values start in a histogram, with the total at the end."""
    share: Floats
    """Share of each value among the known values of the whole table."""
    unit: Ints
    """The place in a histogram of what each unit counts for; empty where rows are counted."""
    first: Ints
    """Where the units of each sensitive column start."""
    whole: Floats
    """``[conditions, 2]``: the place of those of whom a share is one, below 0 for the sum of all
    values, and by how much the table's shares of them are larger."""


def stated(conditions: Conditions) -> Conditions | None:
    """Return the conditions as kernels take them; None when there are none.

    Numba leaves out what stands under ``if rule is not None`` for None, so nobody who asks for the
    size of groups alone waits until all rules are compiled.
    """
    return conditions if conditions.code.size else None


def room(conditions: Conditions) -> Ints:
    """Return an empty histogram."""
    return np.zeros(conditions.share.size + conditions.unit.size, np.int64)


@inner
def add(rule: Conditions, sens: Codes, r: int, count: int, hist: Ints) -> None:
    """Count row r (or `count` rows like it) into a histogram over all sensitive columns.

    Where people are counted, `sens` holds units (a person, or a person with a value), and each
    counts once for its value; how many rows it has stands behind all places.
    """
    for c in range(sens.shape[1]):
        if sens[r, c] < 0:
            continue
        if len(rule.unit) == 0:
            hist[rule.base[c] + sens[r, c]] += count
        else:
            u = rule.first[c] + sens[r, c]
            before = hist[len(rule.share) + u]
            hist[len(rule.share) + u] += count
            hist[rule.unit[u]] += int(before + count > 0) - int(before > 0)


@inner
def shortfall(rule: Conditions, hist: Ints) -> float:
    """How far a group's histogram is from the rule, its size aside; 0 when the rule holds."""
    short = 0.0
    for c in range(len(rule.code)):
        a, b = rule.base[rule.col[c]], rule.base[rule.col[c] + 1]
        miss = _miss(rule, c, rule.par[c, 0], rule.par[c, 1], hist, a, b)
        if miss > 1e-9:
            short += miss
    return short


@inner
def passes_with(rule: Conditions, sens: Codes, r: int, count: int, hist: Ints) -> bool:
    """Whether a group with this histogram meets the rule once row r joins it (1) or leaves (-1)."""
    add(rule, sens, r, count, hist)
    good = shortfall(rule, hist) == 0.0
    add(rule, sens, r, -count, hist)
    return good


@inner
def _miss(rule: Conditions, c: int, x: float, y: float, hist: Ints, a: int, b: int) -> float:
    """Return how far one condition is from holding; a group without known values never passes."""
    code, share = rule.code[c], rule.share
    known, seen, top = 0, 0, 0
    for v in range(a, b):
        known += hist[v]
        seen += 1 if hist[v] > 0 else 0
        top = hist[v] if hist[v] > top else top
    if known == 0:
        return x if x > 1.0 else 1.0
    if code == DISTINCT:
        return x - seen
    if code == PEOPLE:
        return x - known
    if rule.whole[c, 0] >= 0:
        known = hist[int(rule.whole[c, 0])]
    if code == SHARE:
        return top - x * known
    if code == VALUE_SHARE:
        return hist[a + int(y)] - x * known
    if code == ENTROPY:
        return x - _entropy(hist, a, b)
    if code == RECURSIVE:
        return _recursive(hist, a, b, known, x, int(y))
    if code in (T_EQUAL, T_ORDERED):
        if code == T_ORDERED and y > 0.0:
            return _distance_beside_missing(hist, share, a, b - 1, known) - x
        return _distance(hist, share, a, b, known, code == T_ORDERED) - x
    return _excess(hist, share, a, b, known, x, y > 0.0, rule.whole[c, 1])


@inner
def _entropy(hist: Ints, a: int, b: int) -> float:
    total, acc = 0, 0.0
    for v in range(a, b):
        if hist[v] > 0:
            total += hist[v]
            acc += hist[v] * np.log(hist[v])
    return np.log(total) - acc / total if total else 0.0


@inner
def _recursive(hist: Ints, a: int, b: int, known: int, c: float, n: int) -> float:
    """Most frequent value against c times the tail from the n-th on; they may not be equal."""
    tail, most, below, skipped = known, 0, known + 1, 0
    while skipped < n - 1 and below > 0:  # from the tail goes the largest count, then the next ...
        largest, times = 0, 0
        for v in range(a, b):
            if largest < hist[v] < below:
                largest, times = hist[v], 0
            times += 1 if hist[v] == largest else 0
        wanted = n - 1 - skipped
        times = times if times < wanted else wanted
        tail -= largest * times
        most = largest if largest > most else most
        below, skipped = largest, skipped + times
    if n == 1:
        for v in range(a, b):
            most = hist[v] if hist[v] > most else most
    return most - c * tail + 1e-6


@inner
def _distance(hist: Ints, share: Floats, a: int, b: int, known: int, ordered: bool) -> float:
    """Return the earth mover's distance to the table's shares, ordered or equal."""
    acc, run = 0.0, 0.0
    for v in range(a, b):
        diff = hist[v] / known - share[v]
        run += diff
        acc += abs(run) if ordered else 0.5 * abs(diff)
    return acc / (b - a - 1) if ordered and b - a > 2 else acc


@inner
def _distance_beside_missing(hist: Ints, share: Floats, a: int, b: int, known: int) -> float:
    """Return the ordered distance where place b counts missing values, at distance 1 from all."""
    p, q = hist[b] / known, share[b]
    acc, run = 0.0, 0.0
    if p < 1.0 and q < 1.0:
        for v in range(a, b):
            run += hist[v] / (known - hist[b]) - share[v] / (1.0 - q)
            acc += abs(run)
    return abs(p - q) + (1.0 - max(p, q)) * (acc / (b - a - 1) if b - a > 2 else acc)


@inner
def _excess(
    hist: Ints,
    share: Floats,
    a: int,
    b: int,
    known: int,
    beta: float,
    enhanced: bool,
    factor: float,
) -> float:
    """Return the largest relative gain of a value's share above its bound (beta-likeness)."""
    worst = 0.0
    for v in range(a, b):
        if hist[v] > 0:
            q = share[v] * factor
            gain = (hist[v] / known - q) / q
            bound = beta
            if enhanced and -np.log(q) < beta:
                bound = -np.log(q)
            over = gain - bound if bound > 0.0 else gain
            worst = over if over > worst else worst
    return worst
