"""The geometry every kernel shares: how wide the join of some codes is.

A *box* is the join of a group's rows. Column j of a box is two integers `(lo, hi)`:

- taxonomy and ordered columns: the first and last position covered; position `size[j]` is "missing"
  and, being the last, drags `hi` to the end whenever a row of the group misses its value;
- set columns: the number of values covered and a mask of them (values folded modulo 63, so that
  beyond 63 values a join may look one value cheaper than it is; exact costs come from `measure`).

Weights are folded into the table, so a width is one lookup.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inlined, inner

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

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
    """Widths by [lo, hi] (TABLE); the step of a value (SET); where intervals from, and to, each
    value begin and end (ORDERED); width, parent and last position of every node (CLIMB); the width
    of ``*`` comes first."""


class Extents(NamedTuple):
    """The boxes of some groups, ``[groups, m]`` each.

    Kernels index [g, j] instead of slicing [g], which takes longer than to price a column.
    """

    lo: Ints
    hi: Ints
    miss: Ints
    """Missing cells."""


@inlined
def span(boxes: Boxes, j: int, lo: int, hi: int) -> float:
    """Weighted width of column j of a box."""
    at, kind, size, tab = boxes.off[j], boxes.kind[j], boxes.size[j], boxes.tab
    if kind == TABLE:
        return tab[at + lo * (size + 1) + hi]
    if kind == SET:
        wide = (lo - 1) * tab[at + 1]
        return wide if wide < tab[at] else tab[at]
    if hi == size:
        return 0.0 if lo == hi else tab[at]
    if kind == ORDERED:
        return 0.0 if lo == hi else tab[at + 1 + size + hi] - tab[at + 1 + lo]
    node = lo
    while tab[at + 3 + 3 * node] < hi:
        node = int(tab[at + 2 + 3 * node])
    return tab[at + 1 + 3 * node]


@inner
def width(boxes: Boxes, j: int, lo: int, hi: int) -> float:
    """Return :func:`span` as a call: compiled once, for where it is asked a few times only."""
    return span(boxes, j, lo, hi)


@inner
def star(boxes: Boxes, j: int) -> float:
    """Weighted width of `*` in column j."""
    return boxes.tab[boxes.off[j] + (boxes.size[j] if boxes.kind[j] == TABLE else 0)]


@inlined
def cover(boxes: Boxes, j: int, lo: int, hi: int, v: int) -> tuple[int, int]:
    """Column j of a box joined with code v."""
    if boxes.kind[j] != SET:
        return lo if lo < v else v, hi if hi > v else v
    size = boxes.size[j]
    if lo > size or v == size:  # a missing value spans the whole set
        return size + 1, hi
    bit = np.int64(1) << np.int64(v % 63)
    if hi & bit:
        return lo, hi
    return lo + 1, int(hi | bit)


@inner
def clear(boxes: Boxes, extents: Extents, g: int) -> None:
    """Make box g cover nothing."""
    for j in range(len(boxes.kind)):
        extents.miss[g, j] = 0
        if boxes.kind[j] == SET:
            extents.lo[g, j], extents.hi[g, j] = 0, 0
        else:
            extents.lo[g, j], extents.hi[g, j] = np.int64(1) << 40, -1


@inner
def extend(boxes: Boxes, extents: Extents, g: int, codes: Codes, r: int) -> None:
    """Let row r join box g."""
    lo, hi = extents.lo, extents.hi
    for j in range(len(boxes.kind)):
        v = codes[r, j]
        lo[g, j], hi[g, j] = cover(boxes, j, lo[g, j], hi[g, j], v)
        if v == boxes.size[j]:
            extents.miss[g, j] += 1


@inner
def loss(boxes: Boxes, extents: Extents, g: int, z: int) -> float:
    """Total loss of z rows in box g: known cells pay the width, missing ones nothing."""
    total = 0.0
    for j in range(len(boxes.kind)):
        known = z - extents.miss[g, j]
        if known > 0:
            total += known * span(boxes, j, extents.lo[g, j], extents.hi[g, j])
    return total


@inner
def loss_with(
    boxes: Boxes, extents: Extents, g: int, z: int, codes: Codes, r: int, limit: float
) -> float:
    """Total loss of the z rows in box g once row r has joined them; stops early above `limit`."""
    total = 0.0
    for j in range(len(boxes.kind)):
        v = codes[r, j]
        known = z + 1 - extents.miss[g, j] - (1 if v == boxes.size[j] else 0)
        if known > 0:
            a, b = cover(boxes, j, extents.lo[g, j], extents.hi[g, j], v)
            total += known * span(boxes, j, a, b)
            if total > limit:
                break
    return total
