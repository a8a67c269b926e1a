"""Patterns: one level per column, cheapest first, never the whole lattice at once.

A *ladder* gives a column its levels: what each code looks like there, and how wide that is at
most. A pattern's cost is the sum of its levels' widths, an upper bound on the loss of a row in a
class of that pattern.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels import inner, kernel
from shoal.kernels.boxes.geometry import Floats, Ints, Words


class Ladders(NamedTuple):
    """Levels of all columns: signatures to hash with, and widths."""

    sign: Words
    """Random signature of each (column, level, code)."""
    at: Ints
    """Where a column starts in ``sign``."""
    step: Ints
    """Codes per level: leaves and missing."""
    levels: Ints
    """How many levels a column has."""
    width: Floats
    """``[m, most levels]``: weighted width of a level, infinite beyond the last."""


class Frontier:
    """Lazy best-first walk over the patterns."""

    def __init__(self, lad: Ladders) -> None:
        m = len(lad.levels)
        self._lad = lad
        self._heap = np.zeros(1, np.int64)
        self._cost = np.zeros(1)
        self._level = np.zeros((1, m), np.int8)
        self._live, self._made = 1, 1

    def take(self, count: int) -> npt.NDArray[np.int8]:
        """Return the next `count` patterns in order of cost (fewer at the end)."""
        room = self._made + count * self._level.shape[1]
        if room > len(self._cost):
            room *= 2
            self._heap = np.resize(self._heap, room)
            self._cost = np.resize(self._cost, room)
            self._level = np.resize(self._level, (room, self._level.shape[1]))
        out = np.empty((count, self._level.shape[1]), np.int8)
        got, self._live, self._made = _pop(
            self._heap,
            self._cost,
            self._level,
            self._live,
            self._made,
            self._lad.levels,
            self._lad.width,
            out,
        )
        return out[:got]


@kernel
def _pop(
    heap: Ints,
    cost: Floats,
    level: npt.NDArray[np.int8],
    live: int,
    made: int,
    count: Ints,
    width: Floats,
    out: npt.NDArray[np.int8],
) -> tuple[int, int, int]:
    """Pop patterns; push the children: one level more in the last raised column, or after it.

    Every pattern then has exactly one parent, so none is met twice, and widths grow along a
    ladder, so children never come before their parent.
    """
    m = level.shape[1]
    got = 0
    while got < len(out) and live > 0:
        best = heap[0]
        live -= 1
        heap[0] = heap[live]
        sift_down(heap, cost, live)
        last = 0
        for j in range(m):
            out[got, j] = level[best, j]
            if level[best, j] > 0:
                last = j
        for j in range(last, m):
            step = level[best, j] + 1
            if step >= count[j]:
                continue
            for i in range(m):
                level[made, i] = level[best, i]
            level[made, j] = step
            cost[made] = cost[best] + width[j, step] - width[j, step - 1]
            heap[live] = made
            _sift_up(heap, cost, live)
            live += 1
            made += 1
        got += 1
    return got, live, made


@inner
def _before(cost: Floats, a: int, b: int) -> bool:
    return cost[a] < cost[b] or (cost[a] == cost[b] and a < b)


@inner
def sift_down(heap: Ints, cost: Floats, live: int) -> None:
    """Put the first item of a heap where it belongs."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= live:
            return
        if child + 1 < live and _before(cost, heap[child + 1], heap[child]):
            child += 1
        if not _before(cost, heap[child], heap[i]):
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@inner
def _sift_up(heap: Ints, cost: Floats, i: int) -> None:
    while i > 0:
        parent = (i - 1) // 2
        if not _before(cost, heap[i], heap[parent]):
            return
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent
