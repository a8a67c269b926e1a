"""The compiled brute-force loop: what greedy growth by the loss costs without a tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.kernels import kernel
from shoal.kernels.space.costs import Group, Space, add, new_group, start


@kernel
def _grow(
    space: Space,
    group: Group,
    codes: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    k: int,
    most: int,
    price: npt.NDArray[np.float64],
) -> None:
    """Grow groups; the price of every position is tabled once a step, so a row costs m look-ups."""
    n, m = codes.shape
    first, table, weight = space.first, group.table, space.weight
    left = seeds.copy()  # rows not yet taken, without gaps
    at, count = 0, n
    for g in range(most):
        while labels[seeds[at]] >= 0:
            at += 1
        seed = seeds[at]
        start(space, group, codes[seed])
        labels[seed] = g
        for _ in range(k - 1):
            size = group.size[0]
            for j in range(m):
                for p in range(space.size[j] + 1):
                    x = first[j] + p
                    price[x] = weight[j] * (
                        table[x] * (1.0 + size) - (space.base[x] + size * group.base[j])
                    )
            best, least, kept = -1, np.inf, 0
            for i in range(count):
                row = left[i]
                if labels[row] >= 0:
                    continue
                left[kept] = row
                kept += 1
                total = 0.0
                for j in range(m):
                    total += price[first[j] + codes[row, j]]
                    if total >= least:
                        break
                if total < least:
                    best, least = row, total
            count = kept
            labels[best] = g
            add(space, group, codes[best])


def brute_force(data: Encoded, k: int, seed: int, groups: int | None = None) -> None:
    """Grow ``groups`` groups (all by default) by looking at every row left for every member."""
    space = make_space(data)
    labels = np.full(data.rows, -1, np.int64)
    seeds = np.random.default_rng(seed).permutation(data.rows)
    most = data.rows // k if groups is None else groups
    price = np.zeros(space.inv.size)
    _grow(space, new_group(space), data.codes, seeds, labels, k, most, price)
