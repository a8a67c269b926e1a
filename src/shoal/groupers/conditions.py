"""Rules become conditions that kernels can check on a group's histogram."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.kernels.boxes import conditions as kernel
from shoal.kernels.boxes.conditions import Conditions
from shoal.privacy import Rule, flatten

# What a rule calls a condition, as the kernels number it.
_CODES = {
    "distinct": kernel.DISTINCT,
    "share": kernel.SHARE,
    "value share": kernel.VALUE_SHARE,
    "entropy": kernel.ENTROPY,
    "recursive": kernel.RECURSIVE,
    "equal distance": kernel.T_EQUAL,
    "ordered distance": kernel.T_ORDERED,
    "gain": kernel.BETA,
}


def conditions_of(data: Encoded, rule: Rule) -> tuple[int, Conditions]:
    """Return the least group size and the conditions of a rule.

    A rule may have no conditions that kernels know; the caller repairs what it asks for.
    """
    size, found = 1, []
    columns = list(data.sensitive)
    for part in flatten([rule]):
        caps = part.caps()
        size = max(size, caps.size if caps else 1)
        if part.column is not None:
            column = columns.index(part.column)
            stated = part.conditions(data.sensitive_names[part.column])
            found += [(_CODES[each.kind], column, each.x, each.y) for each in stated]
    counts = [len(data.sensitive_names[name]) for name in columns]
    base = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    share = np.ones(int(base[-1]))
    for c, name in enumerate(columns):
        codes = data.sensitive[name]
        tally = np.bincount(codes[codes >= 0], minlength=counts[c])
        share[base[c] : base[c + 1]] = tally / max(int(tally.sum()), 1)
    return min(size, data.rows), Conditions(
        np.array([code for code, *_ in found], np.int64),
        np.array([column for _, column, *_ in found], np.int64),
        np.array([(x, y) for *_, x, y in found], np.float64).reshape(-1, 2),
        base,
        share,
    )


def sensitive_of(data: Encoded, conditions: Conditions) -> npt.NDArray[np.int32]:
    """Return the sensitive columns side by side, none when no condition speaks of them."""
    if not conditions.code.size:
        return np.empty((data.rows, 0), np.int32)
    return np.column_stack(list(data.sensitive.values())).astype(np.int32)
