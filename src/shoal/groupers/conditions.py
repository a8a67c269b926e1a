"""Rules become conditions that kernels can check on a group's histogram."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.kernels.boxes import conditions as kernel
from shoal.kernels.boxes.conditions import Conditions
from shoal.privacy import (
    AlphaK,
    BetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    LDiversity,
    RecursiveLDiversity,
    Rule,
    TCloseness,
    flatten,
)


def conditions_of(data: Encoded, rule: Rule) -> tuple[int, Conditions]:
    """Return the least group size and the conditions of a rule.

    A rule that is not ours has no conditions here; the caller repairs what it asks for.
    """
    size, found = 1, []
    columns = list(data.sensitive)
    for part in flatten([rule]):
        caps = part.caps()
        size = max(size, caps.size if caps else 1)
        if part.column is not None:
            column = columns.index(part.column)
            names = data.sensitive_names[part.column]
            found += [(code, column, x, y) for code, x, y in _conditions(part, names)]
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


def _conditions(rule: Rule, names: tuple[str, ...]) -> list[tuple[int, float, float]]:
    match rule:
        case LDiversity():
            return [(kernel.DISTINCT, rule.l, 0.0)]
        case FrequencyLDiversity():
            return [(kernel.SHARE, 1.0 / rule.l, 0.0)]
        case EntropyLDiversity():
            return [(kernel.ENTROPY, math.log(rule.l), 0.0)]
        case RecursiveLDiversity():
            return [(kernel.RECURSIVE, rule.c, rule.l)]
        case AlphaK(values=None):
            return [(kernel.SHARE, rule.alpha, 0.0)]
        case AlphaK():
            guarded = [v for v, name in enumerate(names) if name in (rule.values or ())]
            return [(kernel.VALUE_SHARE, rule.alpha, v) for v in guarded]
        case TCloseness():
            ordered = rule.distance == "ordered"
            return [(kernel.T_ORDERED if ordered else kernel.T_EQUAL, rule.t, 0.0)]
        case BetaLikeness():
            return [(kernel.BETA, rule.beta, float(rule.enhanced))]
        case _:
            return []
