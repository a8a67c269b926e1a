"""The levels on which a full-domain method can publish a column, from exact values up to ``*``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.tables.domain import Domain, Ordered, Taxonomy

Codes = npt.NDArray[np.int32]

BINS = 8
"""An ordered column without a taxonomy is published in so many intervals, then half as many, ..."""


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
    width: npt.NDArray[np.float64]

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
        levels += _intervals(size, codes)
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


def _intervals(size: int, codes: Codes) -> list[npt.NDArray[np.int64]]:
    """Return the nested intervals by position, finest first; missing keeps its own number."""
    counts = np.bincount(codes[codes < size], minlength=size)
    before = np.cumsum(counts) - counts
    fine = BINS * before // max(int(counts.sum()), 1)
    labels: list[npt.NDArray[np.int64]] = []
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
    width: npt.NDArray[np.float64],
) -> Ladder:
    code = np.stack([np.unique(row, return_inverse=True)[1].reshape(-1) for row in label])
    width = width.copy()
    width[:, -1] = 0.0
    small = [a.astype(np.int32) for a in (code, lo, hi, node)]
    return Ladder(small[0], small[1], small[2], small[3], width)
