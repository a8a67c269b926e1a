"""Find the distinct tuples of a table and how often each occurs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Ints


def entries(codes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Ints, Ints]:
    """Collapse equal rows: return the distinct rows, the entry of every row, and the counts."""
    key = _key(codes)
    order = np.lexsort(codes.T[::-1]) if key is None else np.argsort(key)
    fresh = np.ones(order.size, np.bool_)
    if key is None:
        ordered = codes[order]
        fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    else:
        key = key[order]
        fresh[1:] = key[1:] != key[:-1]
    entry = np.empty(order.size, np.int64)
    entry[order] = np.cumsum(fresh) - 1
    return codes[order[fresh]], entry, np.bincount(entry).astype(np.int64)


def _key(codes: npt.NDArray[np.int32]) -> Ints | None:
    """Return one number per row that sorts as the row does, None when 64 bits are too few."""
    if not codes.size:
        return None
    low, high = codes.min(axis=0).astype(np.int64), codes.max(axis=0).astype(np.int64)
    spans = [int(span) for span in high - low + 1]
    if math.prod(spans) >= 2**62:
        return None
    key = np.zeros(codes.shape[0], np.int64)
    for j, span in enumerate(spans):
        key *= span
        key += codes[:, j] - low[j]
    return key
