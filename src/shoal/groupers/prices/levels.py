"""The nodes of every column, on levels whose nodes share no position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Bools, Floats, Ints
from shoal.coding.encode import Encoded
from shoal.kernels.prices.nodes import Levels
from shoal.tables.domain import Domain, Nominal, Ordered

UNIT = 1 << 30
"""Costs and prices are whole numbers of 1 / UNIT, so that every sum of them is exact."""
MOST = 4_000
"""Intervals of a column up to which they are listed at all."""


def make_levels(data: Encoded, most: float) -> Levels | None:
    """Return the levels of all columns.

    None where one has too many nodes or no list of them, and where more than ``most`` patterns
    would come of them, as far as that can be told at once.
    """
    columns = list(zip(data.domains, data.codes.T, strict=True))
    depths = [_depth(domain, column) for domain, column in columns]
    if None in depths or np.prod(np.array(depths, np.float64)) > most:
        return None
    looks, costs, widths, at, count = [], [], [], [0], []
    for domain, column in columns:
        levels = column_levels(domain, column)
        assert levels is not None
        look, width = levels
        looks.append(look.ravel())
        widths.append(width.ravel())
        costs.append(units(width.ravel()))
        at.append(at[-1] + look.size)
        count.append(len(look))
    return Levels(
        np.concatenate(looks).astype(np.int32),
        np.concatenate(costs),
        np.concatenate(widths),
        np.array(at[:-1], np.int64),
        np.array([domain.size + 1 for domain in data.domains], np.int64),
        np.array(count, np.int64),
    )


def units(width: Floats) -> Ints:
    """Return widths in units, never more than they are; nothing and everything exactly."""
    inside = (width > 0.0) & (width < 1.0)
    return np.asarray(np.floor(width * UNIT) - inside, np.int64)


def _depth(domain: Domain, codes: npt.NDArray[np.int32]) -> int | None:
    """Return how many levels there are at least: nodes over one position share none."""
    nodes = _nodes(domain, codes)
    if nodes is None:
        return None
    _, low, high, _, whole = nodes
    steps = np.bincount(low[~whole], minlength=domain.size + 1)
    steps -= np.bincount(high[~whole] + 1, minlength=domain.size + 1)
    return 1 + int(np.cumsum(steps).max())


def _nodes(
    domain: Domain, codes: npt.NDArray[np.int32]
) -> tuple[Ints, Ints, Ints, Floats, Bools] | None:
    """Return the positions that occur, the ends and widths of their joins, and which hold all."""
    if isinstance(domain, Nominal):
        return None
    present = np.unique(codes[codes < domain.size]).astype(np.int64)
    nodes = _intervals(domain, present) if isinstance(domain, Ordered) else _tree(domain, present)
    if nodes is None:
        return None
    low, high, width = nodes
    whole = (low <= present[:1].sum()) & (high >= present[-1:].sum()) if present.size else low < -1
    return present, low, high, width, whole


def column_levels(
    domain: Domain, codes: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Floats] | None:
    """Return for every level and position the node there (-1: none) and its width.

    The first level has every position by itself, the last one everything, gaps included. A node
    counts only if it is the join of positions that occur: no class is published as another one.
    """
    nodes = _nodes(domain, codes)
    if nodes is None:
        return None
    size, (present, low, high, width, whole) = domain.size, nodes
    looks = [np.append(np.arange(size), -1)]
    widths = [np.zeros(size + 1)]
    turn = np.lexsort((low, high - low, width))
    for node in turn[~whole[turn]]:
        inside = slice(low[node], high[node] + 1)
        room = (at for at in range(1, len(looks)) if (looks[at][inside] < 0).all())
        if (level := next(room, len(looks))) == len(looks):
            looks.append(np.full(size + 1, -1))
            widths.append(np.zeros(size + 1))
        # Its first position is a number that no other node of the level has.
        looks[level][inside], widths[level][inside] = low[node], width[node]
    # Everybody together costs what the join of all values costs, and everything next to a gap.
    gaps = bool((codes == size).any())
    top = float(width[whole].min(initial=1.0))
    if present.size > 1 and not gaps:
        looks.append(np.append(np.zeros(size, np.int64), -1))
        widths.append(np.append(np.full(size, top), 0.0))
    elif gaps:
        if present.size > 1 and top < 1.0:
            looks.append(np.append(np.zeros(size, np.int64), -1))
            widths.append(np.append(np.full(size, top), 0.0))
        looks.append(np.zeros(size + 1, np.int64))
        widths.append(np.ones(size + 1))
    return np.array(looks, np.int32), np.array(widths)


def _tree(domain: Domain, present: Ints) -> tuple[Ints, Ints, Floats]:
    """Return first and last position and width of the inner nodes that are joins of values."""
    from shoal.tables.domain import Taxonomy

    assert isinstance(domain, Taxonomy)
    inner = np.arange(domain.size, len(domain.labels))
    first = np.searchsorted(present, domain.lo[inner])
    last = np.searchsorted(present, domain.hi[inner], side="right") - 1
    inner, first, last = (part[last > first] for part in (inner, first, last))
    low, high, width = domain.lo[inner], domain.hi[inner], domain.width[inner]
    # Of nodes over the same values that occur only the narrowest is their join.
    turn = np.lexsort((width, last, first))
    pairs = np.stack((first[turn], last[turn]))
    fresh = np.append(True, (np.diff(pairs) != 0).any(axis=0))[: turn.size]
    keep = turn[fresh]
    return low[keep].astype(np.int64), high[keep].astype(np.int64), width[keep]


def _intervals(domain: Ordered, present: Ints) -> tuple[Ints, Ints, Floats] | None:
    """Return the same of all intervals between values, as they are published; None if too many."""
    left, right = domain.reach
    starts, ends = np.unique(left[present]), np.unique(right[present])
    if starts.size * ends.size > 2 * MOST:
        return None
    low, high = (side.ravel() for side in np.meshgrid(starts, ends, indexing="ij"))
    first = np.searchsorted(left, low)
    last = np.searchsorted(right, high, side="right") - 1
    some = last > first
    low, high, first, last = low[some], high[some], first[some], last[some]
    return first.astype(np.int64), last.astype(np.int64), (high - low) / domain.span
