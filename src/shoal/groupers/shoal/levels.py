"""The levels of every column that patterns are made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.groupers.boxes import node_widths, places
from shoal.kernels.boxes.lattice import Ladders
from shoal.tables.domain import Domain, Ordered, Taxonomy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CELLS = (64, 32, 16, 8, 4, 2)
"""Equal parts an ordered column is cut into, level by level."""

MERGE, FINER = 0.5, 0.35
"""Widths of a hierarchy closer than this (relative) are one level."""
APART = 1.6
"""No two levels of a hierarchy lie further apart than this, if there are nodes between."""


def make_ladders(data: Encoded, k: int, objective: str = "ncp", merge: float = MERGE) -> Ladders:
    """Return the levels of every column."""
    rng = np.random.default_rng(20)  # signatures tell classes apart; no result depends on them
    signs: list[npt.NDArray[np.uint64]] = []
    at, count, widths = [], [], []
    for j, (domain, weight) in enumerate(zip(data.domains, data.weights, strict=True)):
        levels, width = _levels(domain, data.codes[:, j], k, merge, objective)
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


def _levels(
    domain: Domain, codes: npt.NDArray[np.int32], k: int, merge: float, objective: str
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
