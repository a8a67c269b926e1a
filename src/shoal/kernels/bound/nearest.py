"""What a row loses with each other row: the loose bound, for columns of any kind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import kernel
from shoal.kernels.space.costs import Group, Space, joined, start


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
