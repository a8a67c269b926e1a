"""The iterative Bayes estimate, one category after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels import allocating

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@allocating
def iterate(
    starts: Ints,
    seen: Ints,
    rows: Ints,
    q: float,
    l: int,  # noqa: E741
    eps: float,
    limit: int,
) -> Floats:
    """Return the estimated count of every pair of a category and a value.

    Category ``c`` has the pairs ``starts[c]:starts[c + 1]``; ``seen`` says in how many of its sets
    the value is, ``rows`` how many rows it has. A category is left as soon as none of its counts
    changes by ``eps``.
    """
    count = seen / l
    for c in range(rows.size):
        for _ in range(limit):
            pool = 0.0
            for i in range(starts[c], starts[c + 1]):
                pool += seen[i] / (q * rows[c] + (1 - q) * count[i])
            change = 0.0
            for i in range(starts[c], starts[c + 1]):
                own = seen[i] / (q * rows[c] + (1 - q) * count[i])
                better = count[i] / l * (q * pool + (1 - q) * own)
                change = max(change, abs(better - count[i]))
                count[i] = better
            if change < eps:
                break
    return count
