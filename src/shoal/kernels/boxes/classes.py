"""Which rows look alike at a pattern: hashes of their looks, counted in an open-addressing table.

Two classes become one only if their 64-bit signatures collide: that would cost loss, never privacy,
for groups are always checked and recoded by their true members.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.geometry import Codes, Ints, Words
from shoal.kernels.boxes.lattice import Ladders


class Hashed(NamedTuple):
    """Entries by the hash of what they look like."""

    hashes: Words
    keys: Words
    """The hash at each place of the table."""
    total: Ints
    """What is counted there: positive where a place is in use."""
    slot: Ints
    """The place of each entry."""


def new_hashed(n: int) -> Hashed:
    """Return room for n entries."""
    places = 1 << max(4, int(np.ceil(np.log2(2 * n + 1))))
    return Hashed(
        np.zeros(n, np.uint64),
        np.zeros(places, np.uint64),
        np.zeros(places, np.int64),
        np.zeros(n, np.int64),
    )


@kernel
def signatures(
    ladders: Ladders, pattern: npt.NDArray[np.int8], codes: Codes, n: int, out: Words
) -> None:
    """Hash of what each of the first n entries looks like at a pattern.

    `codes` is [m, n], a column after the other: that is the order they are read in.
    """
    sign = ladders.sign
    for j in range(len(ladders.at)):
        base = ladders.at[j] + pattern[j] * ladders.step[j]
        if j == 0:
            for i in range(n):
                out[i] = sign[base + codes[j, i]]
        else:
            for i in range(n):
                out[i] ^= sign[base + codes[j, i]]


@inner
def signatures_of(
    ladders: Ladders,
    pattern: npt.NDArray[np.int8],
    codes: Codes,
    chosen: Codes,
    n: int,
    out: Words,
) -> None:
    """Do the same for the first n of some chosen entries."""
    sign = ladders.sign
    for i in range(n):
        out[i] = 0
    for j in range(len(ladders.at)):
        base = ladders.at[j] + pattern[j] * ladders.step[j]
        for i in range(n):
            out[i] ^= sign[base + codes[j, chosen[i]]]


@inlined
def _place(hashed: Hashed, h: np.uint64, mask: np.uint64) -> np.uint64:
    """Return the place of a hash in the table, or the free one that it would have."""
    p = h & mask
    while hashed.total[p] != 0 and hashed.keys[p] != h:
        p = (p + np.uint64(1)) & mask
    return p


@inner
def tally(hashed: Hashed, count: Ints, n: int) -> int:
    """Add up the counts of the first n entries by hash; return the largest total.

    `total` must come in all 0.
    """
    keys, total = hashed.keys, hashed.total
    places = 16
    while places < 2 * n:
        places *= 2
    mask = np.uint64(places - 1)  # no larger than needed: late patterns then stay in the cache
    largest = 0
    for i in range(n):
        h = hashed.hashes[i]
        p = _place(hashed, h, mask)
        keys[p] = h
        total[p] += count[i]
        largest = total[p] if total[p] > largest else largest
        hashed.slot[i] = p
    return largest


@inner
def large_classes(hashed: Hashed, rows: Ints, k: int, order: Ints, start: Ints) -> int:
    """List the entries of every class of k rows in ``order``; return how many classes.

    Class c has those from ``start[c]`` on.
    """
    total, slot = hashed.total, hashed.slot
    tally(hashed, rows, len(rows))
    classes = 0
    start[0] = 0
    for t in range(len(rows)):  # a class of k rows becomes -1 - its number
        if total[slot[t]] >= k:
            total[slot[t]] = -1 - classes
            classes += 1
            start[classes] = 0
        if total[slot[t]] < 0:
            start[-total[slot[t]]] += 1
    for c in range(classes):
        start[c + 1] += start[c]
    for c in range(classes, 0, -1):
        start[c] = start[c - 1]
    for t in range(len(rows)):
        if total[slot[t]] < 0:
            c = -total[slot[t]]
            order[start[c]] = t
            start[c] += 1
    for t in range(len(rows)):
        total[slot[t]] = 0
    return classes


class Classes(NamedTuple):
    """All rows, class after class, and the class of each."""

    rows: Ints
    of: Ints


@kernel
def by_class(hashed: Hashed, shuffled: Ints, classes: Classes) -> None:
    """Fill in the classes; within a class rows stand as `shuffled` has them."""
    keys, total, slot = hashed.keys, hashed.total, hashed.slot
    n, mask = len(shuffled), np.uint64(len(keys) - 1)
    for place in range(len(total)):
        total[place] = 0
    for x in range(n):
        i = shuffled[x]
        h = hashed.hashes[i]
        p = _place(hashed, h, mask)
        keys[p] = h
        total[p] += 1
        slot[i] = p
    run = 0
    for x in range(n):  # the first row met of a class opens its stretch: total becomes -1 - start
        p = slot[shuffled[x]]
        if total[p] > 0:
            run += total[p]
            total[p] = -1 - (run - total[p])
    for x in range(n):
        p = slot[shuffled[x]]
        place = -1 - total[p]
        classes.rows[place], classes.of[place] = shuffled[x], p
        total[p] -= 1
