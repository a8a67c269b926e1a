"""Peel: take every class that satisfies the rule off the table, cheapest pattern first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.conditions import add, shortfall
from shoal.kernels.boxes.geometry import Ints, Parts, Words
from shoal.kernels.boxes.lattice import signatures

Work = tuple[Words, Words, Ints, Ints, Ints, Ints, Ints]


@inner
def tally(hashes: Words, count: Ints, n: int, keys: Words, total: Ints, slot: Ints) -> int:
    """Count the first n entries by hash in an open-addressing table; slot[i] = its place.

    `total` must come in all 0: a place in use has a positive total. Two classes share a place only
    if their 64-bit signatures collide: that would cost loss, never privacy, for groups are always
    checked and recoded by their true members. Returns the largest total.
    """
    places = 16
    while places < 2 * n:
        places *= 2
    mask = np.uint64(places - 1)  # no larger than needed: late patterns then stay in the cache
    largest = 0
    for i in range(n):
        h = hashes[i]
        p = h & mask
        while total[p] != 0 and keys[p] != h:
            p = (p + np.uint64(1)) & mask
        keys[p] = h
        total[p] += count[i]
        largest = total[p] if total[p] > largest else largest
        slot[i] = p
    return largest


@kernel
def peel(
    lad: tuple[Words, Ints, Ints],
    patterns: npt.NDArray[np.int8],
    k: int,
    rule: Parts,
    codes: Ints,
    count: Ints,
    sens: Ints,
    rest: Ints,
    left: int,
    label: Ints,
    groups: int,
    work: Work,
    budget: float,
) -> tuple[int, int, float]:
    """Walk over patterns; label the entries of every class that satisfies the rule.

    The first `left` of codes [m, n], count, sens [n, s] and rest (the entries' own numbers) are
    those not yet placed; they are kept compact, in order. Returns the new `left`, the number of
    groups, and the budget (entries looked at) that remains; stops when it is used up.
    """
    sign, at, step = lad
    hashes, keys, total, slot, order, start, hist = work
    for q in range(len(patterns)):
        budget -= left
        signatures(sign, at, step, patterns[q], codes, left, hashes)
        largest = tally(hashes, count, left, keys, total, slot)
        first = groups
        if largest >= k:
            for i in range(left):  # a class to take becomes -1 - its number
                if total[slot[i]] >= k:
                    total[slot[i]] = -1 - groups
                    groups += 1
            if rule is not None:
                groups = _reject(
                    rule, count, sens, left, total, slot, first, groups, order, start, hist
                )
        keep = left
        if groups > first:
            keep = 0
            for i in range(left):
                if total[slot[i]] < 0:
                    label[rest[i]] = -1 - total[slot[i]]
                else:
                    for j in range(len(codes)):
                        codes[j, keep] = codes[j, i]
                    for c in range(sens.shape[1]):
                        sens[keep, c] = sens[i, c]
                    count[keep], rest[keep] = count[i], rest[i]
                    keep += 1
        for i in range(left):
            total[slot[i]] = 0
        left = keep
        if left == 0 or budget <= 0:
            break
    return left, groups, budget


@inner
def _reject(
    rule: Parts,
    count: Ints,
    sens: Ints,
    left: int,
    total: Ints,
    slot: Ints,
    first: int,
    groups: int,
    order: Ints,
    start: Ints,
    hist: Ints,
) -> int:
    """Check the new classes' histograms; renumber those that pass, unmark the others."""
    for c in range(groups - first + 2):  # one more than needed: it is shifted while it fills
        start[c] = 0
    for i in range(left):
        if total[slot[i]] < 0:
            start[-total[slot[i]] - first + 1] += 1
    for c in range(1, groups - first + 1):
        start[c + 1] += start[c]
    for i in range(left):
        if total[slot[i]] < 0:
            c = -1 - total[slot[i]] - first
            order[start[c + 1]] = i
            start[c + 1] += 1
    passed = first
    for c in range(groups - first):
        for x in range(start[c], start[c + 1]):
            add(rule[3], sens, order[x], count[order[x]], hist)
        good = shortfall(rule, hist) == 0.0
        for x in range(start[c], start[c + 1]):
            add(rule[3], sens, order[x], -count[order[x]], hist)
        total[slot[order[start[c]]]] = -1 - passed if good else 1
        passed += good
    return passed


def workspace(n: int, values: int) -> Work:
    """Return buffers to peel n entries: hashes, keys, total, slot, order, start, hist."""
    places = 1 << max(4, int(np.ceil(np.log2(2 * n + 1))))
    return (
        np.zeros(n, np.uint64),
        np.zeros(places, np.uint64),
        np.zeros(places, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n + 2, np.int64),
        np.zeros(values, np.int64),
    )
