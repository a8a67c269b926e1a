"""Where else could a row go? Bit sets tell which groups cover a row's codes already.

For every column and code one bit per group: does the group's box cover the code without getting
wider? Adding up eight or twenty such bit rows finds, 64 groups at a time, the few groups that would
widen in at most two columns; only those are priced.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels import inlined, inner, kernel
from shoal.kernels.boxes.geometry import (
    SET,
    Boxes,
    Floats,
    Ints,
    Parts,
    Shape,
    Words,
    loss_with,
    star,
    width,
)

KEEP = 3
"""Homes remembered per row."""
WIDEN = 2
"""Columns that a home may widen in, at most."""
BUCKETS = 512
"""Bit rows a column has at the most; codes of a larger domain share them."""
MASK = 63
"""Values of a set column are told apart modulo this number, as in its boxes."""


def cover_bits(boxes: Boxes, groups: int) -> tuple[Words, Ints, Ints]:
    """Return empty bit rows, where each column's rows start, and how many codes share a row.

    A shared row says of a group that it covers some of its codes: a home may then be priced that
    turns out dear, but none is missed.
    """
    share = (boxes.size + BUCKETS) // BUCKETS
    rows = np.where(boxes.kind == SET, MASK + 1, boxes.size // share + 1)
    at = np.concatenate(([0], np.cumsum(rows))).astype(np.int64)
    return np.zeros((int(at[-1]), (groups + 63) // 64), np.uint64), at[:-1], share


@inlined
def bit_row(kind: Ints, dsize: Ints, at: Ints, share: Ints, j: int, v: int) -> int:
    """Return the bit row of code v of column j."""
    if kind[j] != SET:
        return at[j] + v // share[j]
    return at[j] + (MASK if v == dsize[j] else v % MASK)


@inner
def mark_cover(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    bits: Words,
    at: Ints,
    share: Ints,
    glo: Ints,
    ghi: Ints,
    gmiss: Ints,
    g: int,
) -> None:
    """Set the bits of group g for every code that its box covers."""
    word, bit = g // 64, np.uint64(1) << np.uint64(g % 64)
    for j in range(len(kind)):
        lo, hi = glo[g, j], ghi[g, j]
        a, b = 0, MASK if kind[j] == SET else dsize[j] // share[j]
        if gmiss[g, j] == 0 and kind[j] != SET:
            w = width(kind, dsize, off, tab, j, lo, hi)
            a, b = lo, hi  # walk outward while the join stays as it is
            while a > 0 and width(kind, dsize, off, tab, j, a - 1, hi) <= w:
                a -= 1
            while b + 1 < dsize[j] and width(kind, dsize, off, tab, j, lo, b + 1) <= w:
                b += 1
            a, b = a // share[j], b // share[j]
        for x in range(a, b + 1):
            if kind[j] != SET or gmiss[g, j] > 0 or (x < MASK and hi >> x & 1):
                bits[at[j] + x, word] |= bit


@kernel
def mark_all(space: Shape, state: Parts, bits: Words, at: Ints, share: Ints, most: int) -> None:
    """Set the bits of all groups that may take rows in."""
    kind, dsize, off, tab = space
    size, lo, hi, miss = state[4], state[6], state[7], state[8]
    for g in range(len(size)):
        if 0 < size[g] <= most:
            mark_cover(kind, dsize, off, tab, bits, at, share, lo, hi, miss, g)


@inner
def find_candidates(
    kind: Ints,
    dsize: Ints,
    off: Ints,
    tab: Floats,
    bits: Words,
    at: Ints,
    share: Ints,
    glo: Ints,
    ghi: Ints,
    gmiss: Ints,
    gsize: Ints,
    gcost: Floats,
    codes: Ints,
    r: int,
    own: int,
    cap: float,
    words: Words,
    candidates: Ints,
    price: Floats,
) -> int:
    """Price the groups that row r widens in fewest columns; candidates[r] = the KEEP cheapest.

    Its group ``own`` is no home, nor is one dearer than ``cap``. ``words`` has the groups by the
    number of columns they widen in, a bit each. Returns how many groups were priced.
    """
    seen = 0
    for i in range(KEEP):
        candidates[r, i], price[i] = -1, cap
    gap = 0.0  # what the row need not pay because it misses the value
    for j in range(len(kind)):
        if codes[r, j] == dsize[j]:
            gap += star(kind, dsize, off, tab, j)
    n = bits.shape[1]
    for w in range(n):
        level = ~np.uint64(0)
        words[0, w] = level
        for u in range(1, WIDEN + 1):
            words[u, w] = np.uint64(0)
        for j in range(len(kind)):  # groups that do not cover the code go down one level
            c = bits[bit_row(kind, dsize, at, share, j, codes[r, j]), w]
            for u in range(WIDEN, 0, -1):
                words[u, w] = (words[u, w] & c) | (words[u - 1, w] & ~c)
            words[0, w] &= c
    for u in range(WIDEN + 1):
        for w in range(n):
            x = words[u, w]
            while x:
                low = x & (~x + np.uint64(1))
                x ^= low
                g = 64 * w + _place(low)
                if g >= len(gsize):  # the last word has room for more groups than there are
                    break
                if g == own or gcost[g] >= (price[KEEP - 1] + gap) * gsize[g]:
                    continue  # the row would pay as much as the others do now, at least
                seen += 1
                d = (
                    loss_with(
                        kind,
                        dsize,
                        off,
                        tab,
                        glo,
                        ghi,
                        gmiss,
                        g,
                        gsize[g],
                        codes,
                        r,
                        gcost[g] + price[KEEP - 1],
                    )
                    - gcost[g]
                )
                if d < price[KEEP - 1]:
                    i = KEEP - 1
                    while i > 0 and price[i - 1] > d:
                        candidates[r, i], price[i] = candidates[r, i - 1], price[i - 1]
                        i -= 1
                    candidates[r, i], price[i] = g, d
        if u >= 1 and candidates[r, 0] >= 0:
            break
    return seen


@inner
def _place(low: np.uint64) -> int:
    """Position of the only bit set."""
    n = 0
    if low >> np.uint64(32):
        n += 32
        low >>= np.uint64(32)
    if low >> np.uint64(16):
        n += 16
        low >>= np.uint64(16)
    if low >> np.uint64(8):
        n += 8
        low >>= np.uint64(8)
    if low >> np.uint64(4):
        n += 4
        low >>= np.uint64(4)
    if low >> np.uint64(2):
        n += 2
        low >>= np.uint64(2)
    return n + int(low >> np.uint64(1))
