"""What a privacy model has to say for itself.

A rule is a predicate on groups. It answers for all groups at once, tells the kernels its numeric
form when it has one, and says before any work why a table cannot meet it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.base.partition import GroupStats, Histogram

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

# Shares and distances within this of their limit are on it: 0.1 + 0.2 is no breach of 0.3.
SLACK = 1e-12

# Figures of which a larger one is safer; of all others (shares, distances) a smaller one is.
_MORE_IS_SAFER = frozenset({"k", "l", "entropy_l", "frequency_l"})


@dataclass(frozen=True)
class ColumnCaps:
    """Limits on one sensitive column of a group.

    ``distinct``: at least so many different known values; a group without a known value passes no
    rule on the column. ``share``: no value of ``values`` (None: no value at all) has more than
    this share of the group's known values, give or take :data:`SLACK`.
    """

    distinct: int = 1
    share: float = 1.0
    values: frozenset[str] | None = None


@dataclass(frozen=True)
class Caps:
    """The numeric form of a rule: a least group size, and limits per sensitive column."""

    size: int = 1
    columns: Mapping[str, ColumnCaps] = field(default_factory=dict)


class Rule(Protocol):
    """A privacy model.

    ``grows_safely``: two groups that pass still pass when joined. A group whose values of
    ``column`` are all missing passes no rule on that column: nothing is known of it, and nothing
    is promised.
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        ...

    @property
    def column(self) -> str | None:
        """The sensitive column it speaks of, None when it needs none."""
        ...

    @property
    def grows_safely(self) -> bool:
        """Whether the union of two passing groups always passes."""
        ...

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it passes."""
        ...

    def caps(self) -> Caps | None:
        """Return the numeric form, or None when there is no exact one."""
        ...

    def obstacle(self, whole: GroupStats) -> str | None:
        """Say why no partition of this table (given as one group) can pass, or None."""
        ...

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return what the weakest group reaches, by parameter name."""
        ...

    def describe(self) -> str:
        """Return the promise in words."""
        ...


@dataclass(frozen=True)
class All:
    """Several rules at once: a group passes when every rule passes."""

    rules: tuple[Rule, ...]

    name = "all"
    column = None

    @property
    def grows_safely(self) -> bool:
        """True when every part grows safely."""
        return all(rule.grows_safely for rule in self.rules)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it passes every rule."""
        passed = np.ones(stats.sizes.size, np.bool_)
        for rule in self.rules:
            passed &= rule.holds(stats)
        return passed

    def caps(self) -> Caps | None:
        """Return the joint numeric form: the strictest of each limit.

        None when a part has none, or when two parts cap different values of one column by
        different shares, which one :class:`ColumnCaps` cannot say.
        """
        parts = [rule.caps() for rule in self.rules]
        columns: dict[str, ColumnCaps] = {}
        for part in parts:
            if part is None:
                return None
            for name, caps in part.columns.items():
                joint = _strictest(columns.get(name, ColumnCaps()), caps)
                if joint is None:
                    return None
                columns[name] = joint
        return Caps(max((part.size for part in parts if part), default=1), columns)

    def obstacle(self, whole: GroupStats) -> str | None:
        """Return the obstacles of all parts, a line each."""
        found = [text for rule in self.rules if (text := rule.obstacle(whole))]
        return "\n".join(found) or None

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return what the weakest groups reach, over all rules."""
        return weakest(rule.achieved(stats) for rule in self.rules)

    def describe(self) -> str:
        """Return all promises in words."""
        return "; ".join(rule.describe() for rule in self.rules)


def _strictest(a: ColumnCaps, b: ColumnCaps) -> ColumnCaps | None:
    distinct = max(a.distinct, b.distinct)
    if a.share >= 1.0:
        return ColumnCaps(distinct, b.share, b.values)
    if b.share >= 1.0:
        return ColumnCaps(distinct, a.share, a.values)
    if a.values != b.values:
        return None
    return ColumnCaps(distinct, min(a.share, b.share), a.values)


def flatten(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the single rules of a sequence that may hold :class:`All`."""
    flat: list[Rule] = []
    for rule in rules:
        flat.extend(flatten(rule.rules) if isinstance(rule, All) else [rule])
    return tuple(flat)


def weakest(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join what several rules reach: of a figure that two of them give, the less safe one."""
    merged: dict[str, Any] = {}
    for each in figures:
        for name, value in each.items():
            worse = min if name in _MORE_IS_SAFER else max
            merged[name] = worse(merged[name], value) if name in merged else value
    return merged


def largest(hist: Histogram) -> tuple[str, float]:
    """Return the most frequent value of the whole table and its share of the known values."""
    top = int(hist.whole.argmax())
    return hist.names[top], float(hist.whole[top] / hist.whole.sum())


def all_missing(hist: Histogram, name: str, column: str) -> str | None:
    """Say that a column has no known value, if so: then no rule on it can be met."""
    if hist.whole.any():
        return None
    return (
        f"{name} cannot be met: the sensitive column {column!r} has no known value at all. "
        "Name another sensitive column, or drop the rule."
    )


def plain(value: float, digits: int) -> str:
    """Write a number with at most so many decimals, without zeros at the end."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
