"""The levels of each column, for full-domain methods, patterns and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Bools, Codes, Floats, Ints
from shoal.coding.encode import Encoded
from shoal.groupers.boxes import node_widths, places
from shoal.kernels.boxes.lattice import Ladders
from shoal.tables.domain import Domain, Nominal, Ordered, Taxonomy

if TYPE_CHECKING:
    from shoal.kernels.prices.nodes import Levels

BINS = 8
"""An ordered column without a taxonomy is published in so many intervals, then half as many, ..."""
CELLS = (64, 32, 16, 8, 4, 2)
"""Equal parts an ordered column is cut into, level by level."""

MERGE, FINER = 0.5, 0.35
"""Widths of a hierarchy closer than this (relative) are one level."""
APART = 1.6
"""No two levels of a hierarchy lie further apart than this, if there are nodes between."""
UNIT = 1 << 30
"""Costs and prices are whole numbers of 1 / UNIT, so that every sum of them is exact."""
MOST = 4_000
"""Intervals of a column up to which they are listed at all."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of one column. Every array is ``[levels, size + 1]``: by level and position.

    Parameters
    ----------
    code
        Number of what a position is published as; equal numbers are published alike. Missing is
        ``*`` on every level.
    lo, hi, node
        What it is published as, in the terms of :class:`shoal.base.partition.Cover`.
    width
        What that costs; 0 for missing.
    """

    code: Codes
    lo: Codes
    hi: Codes
    node: Codes
    width: Floats

    @property
    def levels(self) -> int:
        """Number of levels."""
        return int(self.code.shape[0])

    @cached_property
    def rises(self) -> dict[tuple[int, int], Codes]:
        """What each code of one level becomes on a higher one, by the pair of levels."""
        becoming = {}
        for low, high in combinations(range(self.levels), 2):
            becomes = np.empty(int(self.code[low].max()) + 1, np.int32)
            becomes[self.code[low]] = self.code[high]
            becoming[low, high] = becomes
        return becoming


def ladders(data: Encoded) -> tuple[Ladder, ...]:
    """Return the levels of every column.

    A taxonomy has its own. An ordered column has its values, then intervals that hold about
    equally many rows (:data:`BINS`, and pairs of them, and pairs of those), then ``*``; a set has
    its values, then ``*``.
    """
    return tuple(_ladder(domain, data.codes[:, j]) for j, domain in enumerate(data.domains))


def _ladder(domain: Domain, codes: Codes) -> Ladder:
    if isinstance(domain, Taxonomy):
        root = np.full((domain.levels.shape[0], 1), domain.root, np.int32)
        node = np.concatenate([domain.levels, root], axis=1)
        nothing = np.full(node.shape, -1, np.int32)
        return _finished(node, nothing, nothing, node, domain.width[node])
    size = domain.size
    exact = np.arange(size + 1)
    levels = [exact] if size else []
    if isinstance(domain, Ordered):
        levels += _equal_parts(size, codes)
    levels.append(np.full(size + 1, size))
    label = np.stack(levels)
    lo, hi = label.copy(), label.copy()
    for level in range(1, len(levels) - 1):
        _, first, which = np.unique(label[level, :size], return_index=True, return_inverse=True)
        lo[level, :size] = first[which]
        hi[level, :size] = np.append(first[1:], size)[which] - 1
    lo[-1] = 0
    width = np.zeros(label.shape)
    if isinstance(domain, Ordered) and size:
        width = domain.width(np.minimum(lo, size - 1), np.minimum(hi, size - 1))
    width[-1] = 1.0
    return _finished(label, lo, hi, np.full(label.shape, -1), width)


def _equal_parts(size: int, codes: Codes) -> list[Ints]:
    """Return the nested intervals by position, finest first; missing keeps its own number."""
    counts = np.bincount(codes[codes < size], minlength=size)
    before = np.cumsum(counts) - counts
    fine = BINS * before // max(int(counts.sum()), 1)
    labels: list[Ints] = []
    bins, last = BINS, size
    while bins > 1:
        label = fine // (BINS // bins)
        different = np.unique(label).size
        if 1 < different < last:
            # Numbers above every position, so that no interval is taken for a value.
            labels.append(np.append(label + size + 1, size).astype(np.int64))
            last = different
        bins //= 2
    return labels


def _finished(
    label: npt.NDArray[np.integer],
    lo: npt.NDArray[np.integer],
    hi: npt.NDArray[np.integer],
    node: npt.NDArray[np.integer],
    width: Floats,
) -> Ladder:
    code = np.stack([np.unique(row, return_inverse=True)[1].reshape(-1) for row in label])
    width = width.copy()
    width[:, -1] = 0.0
    small = [a.astype(np.int32) for a in (code, lo, hi, node)]
    return Ladder(small[0], small[1], small[2], small[3], width)


def make_ladders(data: Encoded, k: int, objective: str = "ncp", merge: float = MERGE) -> Ladders:
    """Return the levels of every column."""
    rng = np.random.default_rng(20)  # signatures tell classes apart; no result depends on them
    signs: list[npt.NDArray[np.uint64]] = []
    at, count, widths = [], [], []
    for j, (domain, weight) in enumerate(zip(data.domains, data.weights, strict=True)):
        levels, width = _rungs(domain, data.codes[:, j], k, merge, objective)
        at.append(sum(sign.size for sign in signs))
        count.append(len(levels))
        widths.append(width * weight)
        for names in levels:
            _, number = np.unique(names, return_inverse=True)
            draws = rng.integers(0, 2**64, int(number.max()) + 1, dtype=np.uint64)
            signs.append(draws[number])
    table = np.full((len(widths), max(count)), np.inf)
    for j, width in enumerate(widths):
        table[j, : width.size] = width
    return Ladders(
        np.concatenate(signs),
        np.array(at, np.int64),
        np.array([domain.size + 1 for domain in data.domains], np.int64),
        np.array(count, np.int64),
        table,
    )


def _rungs(
    domain: Domain, codes: Codes, k: int, merge: float, objective: str
) -> tuple[list[Ints], Floats]:
    """Return what each position looks like at each level, missing alone until the top."""
    own = np.arange(domain.size + 1)
    top = np.zeros_like(own)
    if isinstance(domain, Taxonomy):
        return _tree_levels(domain, node_widths(domain, codes, objective), merge)
    if isinstance(domain, Ordered):
        spot, _ = places(domain, codes, objective)
        cells = [c for c in CELLS if c < domain.size]
        cut = [np.append(np.minimum((spot * c).astype(np.int64), c - 1), -1) for c in cells]
        return [own, *cut, top], np.array([0.0, *(1.0 / c for c in cells), 1.0])
    # A group of k rows has at most k values of a set.
    return [own, top], np.array([0.0, min(1.0, (k - 1) / max(domain.size - 1, 1))])


def _tree_levels(domain: Taxonomy, width: Floats, merge: float) -> tuple[list[Ints], Floats]:
    """Return one level per different width: the highest ancestor that is no wider."""
    steps = np.unique(width[domain.levels])
    after = np.append(steps[1:], np.inf)
    wanted = (steps == 0.0) | (after > steps * (1 + merge) + 1e-12)
    last = steps[-1]
    for at in range(steps.size - 1, -1, -1):
        # A level whose nodes are of all widths has no gap in them, but is one all the same.
        wanted[at] |= steps[at] * APART < last
        last = steps[at] if wanted[at] else last
    kept = steps[wanted]
    levels = []
    for step in kept:
        names = np.arange(domain.size + 1)
        for row in domain.levels:
            names[:-1] = np.where(width[row] <= step + 1e-12, row, names[:-1])
        names[-1] = domain.root if step == kept[-1] else -1
        levels.append(names)
    return levels, kept


def make_levels(data: Encoded, most: float) -> Levels | None:
    """Return the levels of all columns.

    None where one has too many nodes or no list of them, and where more than ``most`` patterns
    would come of them, as far as that can be told at once.
    """
    columns = list(zip(data.domains, data.codes.T, strict=True))
    depths = [_depth(domain, column) for domain, column in columns]
    if None in depths or np.prod(np.array(depths, np.float64)) > most:
        return None
    from shoal.kernels.prices.nodes import Levels  # few tables are priced

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


def _depth(domain: Domain, codes: Codes) -> int | None:
    """Return how many levels there are at least: nodes over one position share none."""
    nodes = _nodes(domain, codes)
    if nodes is None:
        return None
    _, low, high, _, whole = nodes
    steps = np.bincount(low[~whole], minlength=domain.size + 1)
    steps -= np.bincount(high[~whole] + 1, minlength=domain.size + 1)
    return 1 + int(np.cumsum(steps).max())


def _nodes(domain: Domain, codes: Codes) -> tuple[Ints, Ints, Ints, Floats, Bools] | None:
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


def column_levels(domain: Domain, codes: Codes) -> tuple[Codes, Floats] | None:
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
