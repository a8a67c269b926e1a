"""The geometry every kernel shares: how wide the join of some codes is.

A *box* is the join of a group's rows. Column j of a box is two integers `(lo, hi)`:

- taxonomy and ordered columns: the first and last position covered; position `size[j]` is "missing"
  and, being the last, drags `hi` to the end whenever a row of the group misses its value;
- set columns: the number of values covered and a mask of them (values folded modulo 63, so that
  beyond 63 values a join may look one value cheaper than it is; exact costs come from `measure`).

Weights are folded into the table, so a width is one lookup.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Shape = tuple[Ints, Ints, Ints, Floats]
Parts = Any  # a tuple of arrays

TABLE, ORDERED, SET, CLIMB = 0, 1, 2, 3
TABLE_LIMIT = 1200  # leaves up to which a column gets a full [lo, hi] table (11 MB at the limit)


class Boxes(NamedTuple):
    """Flat description of all quasi-identifier domains, weights included."""

    kind: Ints
    """One of TABLE, ORDERED, SET, CLIMB, per column."""
    size: Ints
    """Number of leaves or values, which is the code of missing."""
    off: Ints
    """Where the column starts in ``tab``."""
    tab: Floats
    """Widths by [lo, hi] (TABLE); the step of a value (SET); places (ORDERED); width, parent and
    last position of every node (CLIMB); the width of ``*`` comes first."""


# Two habits of these kernels, both measured. They take the four arrays one by one, for reading them
# out of the named tuple in an inner loop costs more than the work (58 ns against 7 ns a row). And
# they index [g, j] instead of slicing [g], for a slice counts references atomically (250 ns against
# 80 ns to price a row in a group).


@inlined
def span(kind: Ints, size: Ints, off: Ints, tab: Floats, j: int, lo: int, hi: int) -> float:
    """Weighted width of column j of a box."""
    at = off[j]
    if kind[j] == TABLE:
        return tab[at + lo * (size[j] + 1) + hi]
    if kind[j] == SET:
        wide = (lo - 1) * tab[at + 1]
        return wide if wide < tab[at] else tab[at]
    if hi == size[j]:
        return 0.0 if lo == hi else tab[at]
    if kind[j] == ORDERED:
        return tab[at + 1 + hi] - tab[at + 1 + lo]
    node = lo
    while tab[at + 3 + 3 * node] < hi:
        node = int(tab[at + 2 + 3 * node])
    return tab[at + 1 + 3 * node]


@inner
def width(kind: Ints, size: Ints, off: Ints, tab: Floats, j: int, lo: int, hi: int) -> float:
    """Return :func:`span` as a call: compiled once, for where it is asked a few times only."""
    return span(kind, size, off, tab, j, lo, hi)


@inner
def star(kind: Ints, size: Ints, off: Ints, tab: Floats, j: int) -> float:
    """Weighted width of `*` in column j."""
    return tab[off[j] + size[j]] if kind[j] == TABLE else tab[off[j]]


@inlined
def cover(kind: Ints, size: Ints, j: int, lo: int, hi: int, v: int) -> tuple[int, int]:
    """Column j of a box joined with code v."""
    if kind[j] != SET:
        return lo if lo < v else v, hi if hi > v else v
    if lo > size[j] or v == size[j]:  # a missing value spans the whole set
        return size[j] + 1, hi
    bit = np.int64(1) << np.int64(v % 63)
    if hi & bit:
        return lo, hi
    return lo + 1, int(hi | bit)


@inner
def clear(kind: Ints, lo: Ints, hi: Ints, miss: Ints, g: int) -> None:
    """Make box g cover nothing."""
    for j in range(len(kind)):
        miss[g, j] = 0
        if kind[j] == SET:
            lo[g, j], hi[g, j] = 0, 0
        else:
            lo[g, j], hi[g, j] = np.int64(1) << 40, -1


@inner
def extend(
    kind: Ints, size: Ints, lo: Ints, hi: Ints, miss: Ints, g: int, codes: Ints, r: int
) -> None:
    """Let row r join box g; `miss` counts the missing cells per column."""
    for j in range(len(kind)):
        v = codes[r, j]
        lo[g, j], hi[g, j] = cover(kind, size, j, lo[g, j], hi[g, j], v)
        if v == size[j]:
            miss[g, j] += 1


@inner
def loss(
    kind: Ints, size: Ints, off: Ints, tab: Floats, lo: Ints, hi: Ints, miss: Ints, g: int, z: int
) -> float:
    """Total loss of z rows in box g: known cells pay the width, missing ones nothing."""
    total = 0.0
    for j in range(len(kind)):
        if z > miss[g, j]:
            total += (z - miss[g, j]) * span(kind, size, off, tab, j, lo[g, j], hi[g, j])
    return total


@inner
def loss_with(
    kind: Ints,
    size: Ints,
    off: Ints,
    tab: Floats,
    lo: Ints,
    hi: Ints,
    miss: Ints,
    g: int,
    z: int,
    codes: Ints,
    r: int,
    limit: float,
) -> float:
    """Total loss of the z rows in box g once row r has joined them; stops early above `limit`."""
    total = 0.0
    for j in range(len(kind)):
        v = codes[r, j]
        known = z + 1 - miss[g, j] - (1 if v == size[j] else 0)
        if known > 0:
            a, b = cover(kind, size, j, lo[g, j], hi[g, j], v)
            total += known * span(kind, size, off, tab, j, a, b)
            if total > limit:
                break
    return total
