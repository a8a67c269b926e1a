"""Turn rules into conditions that kernels check on a group's histogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.base.partition import MISSING, with_missing
from shoal.coding.encode import Encoded
from shoal.kernels.boxes import conditions as kernel
from shoal.kernels.boxes.conditions import Conditions
from shoal.privacy import Condition, Mix, Rule, flatten

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Asked = tuple[str, Floats, Mix]

LARGEST = 4_096
"""Rows of a group up to which the least size that can keep the mix is looked for."""

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
    size, asked = rule.least, []
    columns = _readings(data, rule)
    for part in flatten([rule]):
        if part.column is not None:
            reading = part.reading if part.reading in columns else part.column
            column, names = columns.index(reading), data.names_read(reading)
            numbered = [(each, _second(each, names)) for each in part.conditions() or ()]
            stated = [(_CODES[each.kind], column, each.x, y) for each, y in numbered if y >= 0.0]
            asked += sorted(stated, key=lambda each: each[-1])
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


def _second(asked: Condition, names: Sequence[str]) -> float:
    """Return the second number of a condition on a column of these values; -1: it asks nothing."""
    if asked.kind == "value share":
        return float(names.index(asked.value)) if asked.value in names else -1.0
    if asked.kind == "ordered distance":  # the last value may be the missing one
        return float(tuple(names[-1:]) == (MISSING,))
    return asked.y


def _readings(data: Encoded, rule: Rule) -> list[str]:
    """Return the sensitive columns as kernels count them.

    Behind them each once more, with its missing values, if a rule counts these and there are some.
    """
    columns = list(data.sensitive)
    complete = [with_missing(name) for name in columns]
    asked = {part.reading for part in flatten([rule])}
    gaps = any((codes < 0).any() for codes in data.sensitive.values())
    return [*columns, *complete] if gaps and asked.intersection(complete) else columns


def kernels_can_judge(rule: Rule) -> bool:
    """Say whether kernels can check all that a rule asks for."""
    return rule.conditions() is not None


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


def asked_mixes(data: Encoded, rule: Rule) -> list[Asked]:
    """Return the parts of a rule that ask for the table's mix: column, its shares, how near.

    The column as the part reads it: with missing values where they count.
    """
    columns = [(part, part.reading) for part in flatten([rule]) if part.reading is not None]
    quota = [(part, column, shares(data, column)) for part, column in columns]
    return [(name, share, mix) for part, name, share in quota if (mix := part.mix(share))]


def shares(data: Encoded, column: str) -> Floats:
    """Return the share of each value that counts in the table."""
    whole = data.whole().read(column).whole[: len(data.names_read(column))]
    return np.asarray(whole / max(int(whole.sum()), 1))


def least_size(asked: list[Asked]) -> int:
    """Return the least size of a group that can have the mix that is asked for."""
    size = 1
    for _, share, mix in asked:
        while size < LARGEST and not _possible(mix, share, size):
            size += 1
    return size


def _possible(mix: Mix, share: Floats, size: int) -> bool:
    """Say whether so many rows can be as near to the table's shares as is asked."""
    there = share > 0
    if np.floor(mix.most[there] * size + 1e-9).sum() < size:
        return False
    if mix.far == np.inf:
        return True
    apart = bool(mix.ordered and mix.missing and share[-1] > 0)
    return _best(share[there], size, mix.ordered, apart) <= mix.far + 1e-9


def _best(share: Floats, size: int, ordered: bool, apart: bool = False) -> float:
    """Return the least distance from the shares that so many rows can have.

    Values equally far apart: each count is its part rounded down, and the largest rests get one row
    more. In their order: running counts are rounded. ``apart``: the last one is the missing value,
    whose rows are taken out of the order at distance 1.
    """
    if apart:
        gaps, rest = round(float(share[-1] * size)), float(1.0 - share[-1])
        off = abs(gaps / size - float(share[-1]))
        if gaps == size:
            return off
        return off + min(1.0 - gaps / size, rest) * _best(share[:-1] / rest, size - gaps, True)
    if ordered:
        running = np.cumsum(share) * size
        return float(np.abs(np.round(running) - running).sum() / (max(share.size - 1, 1) * size))
    over = share * size - np.floor(share * size)
    more = round(float(over.sum()))
    return float((1.0 - np.sort(over)[over.size - more :]).sum() / size)
