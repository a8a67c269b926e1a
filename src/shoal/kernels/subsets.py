"""The cheapest way to part a few rows into allowed groups: all subsets, one after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import kernel


@kernel
def part(
    cost: npt.NDArray[np.float64], total: npt.NDArray[np.float64], last: npt.NDArray[np.int64]
) -> None:
    """Fill in the least total for every set of rows, and one group of a way that costs so much.

    ``cost[s]`` is what the rows of the bits of s lose as one group, infinite where they may not be
    one. The group that holds a set's first row is some subset of it; the rest is a smaller set,
    and has been solved before.
    """
    total[0] = 0.0
    for s in range(1, len(cost)):
        total[s] = np.inf
        first = s & -s
        rest = s ^ first
        others = rest
        while True:
            group = others | first
            if cost[group] + total[s ^ group] < total[s]:
                total[s], last[s] = cost[group] + total[s ^ group], group
            if others == 0:
                break
            others = (others - 1) & rest
