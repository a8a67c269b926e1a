"""The loose bound: every row loses at least what it loses beside its k - 1 nearest rows.

It holds for columns of every kind, and says little: the nearest rows of a row are those of many
others, too, and only one class can have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.base.partition import Floats, Ints
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.coding.tuples import entries
from shoal.kernels.bound.nearest import distances
from shoal.kernels.space.costs import new_group

SAMPLE_WORK = 300_000_000
"""Pairs compared before the bound is taken from a sample of the rows: about ten seconds."""


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of ``ILossRate``; ``error`` is its standard error when rows were sampled."""

    rate: float
    error: float
    rows: int
    sampled: bool


def lower_bound(data: Encoded, k: int, rng: np.random.Generator) -> LowerBound:
    """Return the lower bound for k-anonymity, from a sample of the rows when the table is large."""
    distinct, entry, count = entries(data.codes)
    affordable = max(200, SAMPLE_WORK // max(count.size, 1))
    sampled = affordable < data.rows
    rows = rng.choice(data.rows, affordable, replace=False) if sampled else np.arange(data.rows)
    chosen, of_row = np.unique(entry[rows], return_inverse=True)
    loss = nearest_losses(data, k, distinct, count, chosen)[of_row] / len(data.domains)
    error = float(loss.std(ddof=1) / np.sqrt(loss.size)) if sampled else 0.0
    return LowerBound(float(loss.mean()), error, rows.size, sampled)


def nearest_losses(
    data: Encoded,
    k: int,
    distinct: np.ndarray,
    count: Ints,
    chosen: Ints,
    stop: Callable[[], bool] | None = None,
) -> Floats:
    """Return what a row of each chosen entry loses at least; 0 from where ``stop`` says so."""
    space = make_space(data, weights=np.ones(len(data.domains)))
    group, dist = new_group(space), np.empty(count.size)
    # Each entry holds at least one row, so the k nearest entries hold the k - 1 nearest rows.
    nearest = min(k, count.size)
    least = np.zeros(chosen.size)
    for i, e in enumerate(chosen):
        if stop is not None and i % 256 == 0 and stop():
            break
        if count[e] >= k:
            continue
        distances(space, group, distinct[e], distinct, dist)
        near = np.argpartition(dist, nearest - 1)[:nearest]
        near = near[np.argsort(dist[near], kind="stable")]
        reach = np.cumsum(count[near] - (near == e))
        least[i] = dist[near[np.searchsorted(reach, k - 1)]]
    return least
