"""Equal rows are one: the distinct tuples of a table of positions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def entries(codes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Ints, Ints]:
    """Collapse equal rows: return the distinct rows, the entry of every row, and the counts."""
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    fresh = np.ones(order.size, np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    entry = np.empty(order.size, np.int64)
    entry[order] = np.cumsum(fresh) - 1
    return np.ascontiguousarray(ordered[fresh]), entry, np.bincount(entry).astype(np.int64)
