"""Rules become conditions that kernels can check on a group's histogram."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.base.partition import with_missing
from shoal.coding.encode import Encoded
from shoal.kernels.boxes import conditions as kernel
from shoal.kernels.boxes.conditions import Conditions
from shoal.privacy import Rule, flatten

Codes = npt.NDArray[np.int32]

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

_OF_HOLDERS = (kernel.SHARE, kernel.VALUE_SHARE, kernel.BETA)
"""What speaks of a share of those who have a value, and not of all values."""


def conditions_of(data: Encoded, rule: Rule) -> tuple[int, Conditions]:
    """Return the least group size and the conditions of a rule.

    A rule may have no conditions that kernels know; the caller repairs what it asks for.
    """
    size, asked = 1, []
    columns = _readings(data, rule)
    for part in flatten([rule]):
        caps = part.caps()
        size = max(size, caps.size if caps else 1)
        if part.column is not None:
            reading = part.reading if part.reading in columns else part.column
            stated = part.conditions(data.names_read(reading))
            column = columns.index(reading)
            asked += [(_CODES[each.kind], column, each.x, each.y) for each in stated]
    counts = [len(data.names_read(name)) for name in columns]
    base = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    whole = data.whole()
    share = np.ones(int(base[-1]))
    for c, name in enumerate(columns):
        tally = whole.read(name).whole[: counts[c]]
        share[base[c] : base[c + 1]] = tally / max(int(tally.sum()), 1)
    of = np.tile((-1.0, 1.0), (len(asked), 1))
    unit, first = np.empty(0, np.int64), np.empty(0, np.int64)
    if data.people is not None:
        # Behind the columns: who has a value in each of them, and the people, in one place each.
        for i, (code, column, *_) in enumerate(asked):
            if code in _OF_HOLDERS:
                hist = whole.read(columns[column])
                of[i] = base[-1] + column, hist.whole.sum() / max(hist.whole_holders, 1)
        asked.append((kernel.PEOPLE, 2 * len(columns), max(size, rule.diversity or 1), 0.0))
        of = np.vstack((of, (-1.0, 1.0)))
        places = [base[c] + data.people.values_read(name) for c, name in enumerate(columns)]
        places += [np.full(data.people.count, base[-1] + c) for c in range(len(columns) + 1)]
        unit = np.concatenate(places).astype(np.int64)
        first = np.cumsum([0, *(part.size for part in places[:-1])]).astype(np.int64)
        base = np.concatenate((base, base[-1] + np.arange(1, len(columns) + 2)))
        share = np.concatenate((share, np.ones(len(columns) + 1)))
    return min(size, data.rows), Conditions(
        np.array([code for code, *_ in asked], np.int64),
        np.array([column for _, column, *_ in asked], np.int64),
        np.array([(x, y) for *_, x, y in asked], np.float64).reshape(-1, 2),
        base,
        share,
        unit,
        first,
        of,
    )


def _readings(data: Encoded, rule: Rule) -> list[str]:
    """Return the sensitive columns as kernels count them.

    Behind them each once more, with its missing values, if a rule counts these and there are some.
    """
    columns = list(data.sensitive)
    complete = [with_missing(name) for name in columns]
    asked = {part.reading for part in flatten([rule])}
    gaps = any((codes < 0).any() for codes in data.sensitive.values())
    return [*columns, *complete] if gaps and asked.intersection(complete) else columns


def sensitive_of(data: Encoded, conditions: Conditions) -> Codes:
    """Return the sensitive columns side by side, none when no condition speaks of them.

    Where people are counted: the pairs of each column, who has a value in it, and the people.
    """
    if not conditions.code.size:
        return np.empty((data.rows, 0), np.int32)
    columns, people = list(data.sensitive), data.people
    if conditions.base.size - 1 > (len(columns) if people is None else 2 * len(columns) + 1):
        columns += [with_missing(name) for name in columns]
    hidden = [data.codes_read(name) for name in columns]
    if people is not None:
        pairs = [people.pairs_read(name) for name in columns]
        holders = [np.where(values >= 0, people.codes, -1) for values in hidden]
        hidden = [*pairs, *holders, people.codes]
    return np.column_stack(hidden).astype(np.int32)
