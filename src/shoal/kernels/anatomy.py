"""Which values the groups of Anatomy take: the l with most rows left, again and again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating

Ints = npt.NDArray[np.int64]


@allocating
def largest_buckets(left: Ints, l: int) -> Ints:  # noqa: E741
    """Return ``[groups, l]`` bucket numbers; ``left`` (rows left by bucket) is used up.

    Each group takes one row from each of the ``l`` fullest buckets, the first of equally full
    ones, until fewer than ``l`` buckets have rows.
    """
    chosen = np.empty((left.sum() // l, l), np.int64)
    groups = 0
    top = np.empty(l, np.int64)
    while True:
        found = 0
        for bucket in range(left.size):
            rows = left[bucket]
            if rows == 0 or (found == l and rows <= left[top[l - 1]]):
                continue
            place = min(found, l - 1)
            while place > 0 and left[top[place - 1]] < rows:
                top[place] = top[place - 1]
                place -= 1
            top[place] = bucket
            found = min(found + 1, l)
        if found < l:
            return chosen[:groups]
        for place in range(l):
            left[top[place]] -= 1
            chosen[groups, place] = top[place]
        groups += 1
