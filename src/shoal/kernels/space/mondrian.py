"""Cuts of many groups at once: how wide each column is, where it is cut, who goes where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.space.costs import ORDERED, TAXONOMY, Space

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class Extent(NamedTuple):
    """What the groups span, ``[groups, m]``."""

    node: Codes
    """Taxonomies: the node over the known values."""
    gaps: npt.NDArray[np.bool_]
    """Whether known and missing values meet."""
    width: npt.NDArray[np.float64]
    """Width of the cut column: 0 where nothing can be cut, 1 where known and missing meet."""


class Scratch(NamedTuple):
    """Room to work in, made once."""

    stamp: Ints
    """Per position and one more, all zero at first."""
    buffer: Codes
    """Per row."""
    seat: Ints
    owner: Ints
    """Per node of all taxonomies."""
    side: Codes
    """Per row: the part of its group that it goes to."""


def new_scratch(space: Space, rows: int) -> Scratch:
    """Return room to cut a table of so many rows."""
    return Scratch(
        np.zeros(space.inv.size + 1, np.int64),
        np.empty(rows, np.int32),
        np.empty(space.up.size, np.int64),
        np.empty(space.up.size, np.int64),
        np.empty(rows, np.int32),
    )


@kernel
def measure(space: Space, table: Codes, starts: Ints, stamp: Ints, extent: Extent) -> None:
    """Fill in what all groups span; ``table`` has the positions ``[m, n]``, group after group."""
    node, gaps, width = extent
    serial = stamp[-1]
    for j in range(table.shape[0]):
        missing, first, counted = space.size[j], space.first[j], space.kind[j] > ORDERED
        for g in range(starts.size - 1):
            serial += 1
            lo, hi, values, known = missing, -1, 0, 0
            for i in range(starts[g], starts[g + 1]):
                p = table[j, i]
                if p < missing:
                    known += 1
                    lo, hi = min(lo, p), max(hi, p)
                    if counted and stamp[first + p] != serial:
                        stamp[first + p] = serial
                        values += 1
            gaps[g, j] = 0 < known < starts[g + 1] - starts[g]
            width[g, j] = 0.0
            if gaps[g, j]:
                width[g, j] = 1.0
            elif lo < hi:
                if space.kind[j] == TAXONOMY:
                    at, top = space.node0[j], lo
                    while space.hi[at + top] < hi:
                        top = space.up[at + top]
                    node[g, j] = top
                    width[g, j] = space.num[at + top]
                elif space.kind[j] == ORDERED:
                    width[g, j] = space.right[first + hi] - space.left[first + lo]
                else:
                    width[g, j] = (values - 1) / max(missing - 1, 1)
    stamp[-1] = serial


@kernel
def median(buffer: Codes, count: int) -> int:
    """Return the lower median of ``buffer[:count]``, which is put in another order."""
    left, right, middle = 0, count - 1, (count - 1) // 2
    while left < right:
        pivot = buffer[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while buffer[i] < pivot:
                i += 1
            while buffer[j] > pivot:
                j -= 1
            if i <= j:
                swap = buffer[i]
                buffer[i] = buffer[j]
                buffer[j] = swap
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return buffer[middle]


@inner
def _halves(table: Codes, begin: int, end: int, j: int, relaxed: bool, scratch: Scratch) -> None:
    """Cut one group in an ordered column (or a set, by name) as close to its middle as may be."""
    count, buffer, side = end - begin, scratch.buffer, scratch.side
    for i in range(count):
        buffer[i] = table[j, begin + i]
    value = median(buffer, count)
    less = equal = 0
    for i in range(begin, end):
        p = table[j, i]
        less += p < value
        equal += p == value
    if relaxed:
        shared = (count + 1) // 2 - less  # so many rows with the median value go to the left
    elif less + equal == count or (less > 0 and count - 2 * less < 2 * (less + equal) - count):
        shared = 0
    else:
        shared = equal
    for i in range(begin, end):
        p = table[j, i]
        right = p > value
        if p == value:
            right = shared <= 0
            shared -= 1
        side[i] = 1 if right else 0


@kernel
def cut(
    space: Space,
    table: Codes,
    starts: Ints,
    asked: Ints,
    column: Ints,
    extent: Extent,
    relaxed: bool,
    scratch: Scratch,
    parts: Ints,
) -> None:
    """Try to cut group ``asked[a]`` in column ``column[a]``: fill ``scratch.side`` of its rows.

    ``parts[a]`` becomes the number of parts: known and missing; or the children of the node that
    covers the group, in the order of their leaves; or two halves. ``scratch.owner`` must hold no
    number that is in ``asked``.
    """
    buffer, seat, owner, side = scratch.buffer, scratch.seat, scratch.owner, scratch.side
    for a in range(asked.size):
        g, j = asked[a], column[a]
        begin, end = starts[g], starts[g + 1]
        parts[a] = 2
        if extent.gaps[g, j]:
            for i in range(begin, end):
                side[i] = 1 if table[j, i] == space.size[j] else 0
        elif space.kind[j] == TAXONOMY:
            kids, at, top = 0, space.node0[j], extent.node[g, j]
            for i in range(begin, end):
                child = table[j, i]
                while space.up[at + child] != top:
                    child = space.up[at + child]
                side[i] = child
                if owner[at + child] != g:
                    owner[at + child] = g
                    place = kids
                    while place > 0 and space.lo[at + buffer[place - 1]] > space.lo[at + child]:
                        buffer[place] = buffer[place - 1]
                        place -= 1
                    buffer[place] = child
                    kids += 1
            for kid in range(kids):
                seat[at + buffer[kid]] = kid
            for i in range(begin, end):
                side[i] = seat[at + side[i]]
            parts[a] = kids
        else:
            _halves(table, begin, end, j, relaxed, scratch)


@kernel
def divide(
    table: Codes,
    rows: Ints,
    starts: Ints,
    chosen: Ints,
    parts: Ints,
    side: Codes,
    place: Ints,
    new_table: Codes,
    new_rows: Ints,
    new_starts: Ints,
) -> None:
    """Write the parts of every group of ``chosen`` one after another; rows keep their order.

    ``place`` (one more than the most parts, and per row) is room to work in.
    """
    most = place.size - side.size
    at, last = 0, 0
    new_starts[0] = 0
    for a in range(chosen.size):
        begin, end = starts[chosen[a]], starts[chosen[a] + 1]
        for b in range(parts[a]):
            place[b] = 0
        for i in range(begin, end):
            place[side[i]] += 1
        for b in range(parts[a]):
            count = place[b]
            place[b] = at
            at += count
            last += 1
            new_starts[last] = at
        for i in range(begin, end):
            to = place[side[i]]
            place[side[i]] += 1
            place[most + i] = to
            new_rows[to] = rows[i]
    for j in range(table.shape[0]):
        for a in range(chosen.size):
            for i in range(starts[chosen[a]], starts[chosen[a] + 1]):
                new_table[j, place[most + i]] = table[j, i]
