"""The compiled brute-force loop: what greedy growth costs without a tree, with the same choices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.encode import Encoded
from shoal.kernels import kernel
from shoal.kernels.space import Group, Space, add, cost, new_group, start
from shoal.space import make_space


@kernel
def _grow(
    space: Space,
    group: Group,
    codes: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    k: int,
    most: int,
) -> None:
    at = 0
    for g in range(most):
        while labels[seeds[at]] >= 0:
            at += 1
        start(space, group, codes[seeds[at]])
        labels[seeds[at]] = g
        for _ in range(k - 1):
            best, least = -1, np.inf
            for row in range(codes.shape[0]):
                if labels[row] < 0:
                    price = cost(space, group, codes[row])
                    if price < least:
                        best, least = row, price
            labels[best] = g
            add(space, group, codes[best])


def brute_force(data: Encoded, k: int, seed: int, groups: int | None = None) -> None:
    """Grow ``groups`` groups (all by default) by looking at every row for every member."""
    space = make_space(data)
    labels = np.full(data.rows, -1, np.int64)
    seeds = np.random.default_rng(seed).permutation(data.rows)
    most = data.rows // k if groups is None else groups
    _grow(space, new_group(space), data.codes, seeds, labels, k, most)
