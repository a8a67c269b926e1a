"""The loss below which no k-anonymous release by local recoding can go.

A row shares its released value with at least k - 1 others, so it loses at least what it would lose
with the (k-1)-th nearest of them alone. The mean over all rows bounds the loss of every partition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.coding.tuples import entries
from shoal.kernels import kernel
from shoal.kernels.space.costs import Group, Space, joined, new_group, start

SAMPLE_WORK = 300_000_000
"""Cells compared before the bound is taken from a sample of the rows: about a second."""


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of ``ILossRate``; ``error`` is its standard error when rows were sampled."""

    rate: float
    error: float
    rows: int
    sampled: bool


@kernel
def distances(
    space: Space,
    group: Group,
    row: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    out: npt.NDArray[np.float64],
) -> None:
    """Fill ``out`` with what ``row`` loses if it is released together with each entry."""
    start(space, group, row)
    for e in range(codes.shape[0]):
        total = 0.0
        for j in range(row.size):
            if row[j] < space.size[j]:  # a missing cell is released as it is and costs nothing
                total += space.weight[j] * joined(space, group, j, codes[e, j])
        out[e] = total


def lower_bound(data: Encoded, k: int, rng: np.random.Generator) -> LowerBound:
    """Return the lower bound for k-anonymity, from a sample of the rows when the table is large."""
    space = make_space(data)
    distinct, entry, count = entries(data.codes)
    affordable = max(200, SAMPLE_WORK // max(distinct.size, 1))
    sampled = affordable < data.rows
    rows = rng.choice(data.rows, affordable, replace=False) if sampled else np.arange(data.rows)
    group, dist = new_group(space), np.empty(count.size)
    # Each entry holds at least one row, so the k nearest entries hold the k - 1 nearest rows.
    nearest = min(k, count.size)
    chosen, of_row = np.unique(entry[rows], return_inverse=True)
    least = np.empty(chosen.size)
    for i, e in enumerate(chosen):
        distances(space, group, distinct[e], distinct, dist)
        near = np.argpartition(dist, nearest - 1)[:nearest]
        near = near[np.argsort(dist[near], kind="stable")]
        reach = np.cumsum(count[near] - (near == e))
        least[i] = dist[near[np.searchsorted(reach, k - 1)]]
    loss = least[of_row] / len(data.domains)
    error = float(loss.std(ddof=1) / np.sqrt(loss.size)) if sampled else 0.0
    return LowerBound(float(loss.mean()), error, rows.size, sampled)
