"""Express rules as limits on group sizes and shares of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shoal.privacy.base import Rule, flatten


@dataclass(frozen=True)
class ColumnCaps:
    """Limits on one sensitive column of a group.

    ``distinct``: at least so many different known values; a group without a known value passes no
    rule on the column. ``share``: no value at all has more than this share of the group's known
    values, up to rounding; ``values``: nor has one of these more than its own.
    """

    distinct: int = 1
    share: float = 1.0
    values: Mapping[str, float] = field(default_factory=dict)

    def share_of(self, value: str) -> float:
        """Return the largest share that a value may have."""
        return min(self.share, self.values.get(value, 1.0))

    @property
    def least_share(self) -> float:
        """Return the largest share that the most limited value may have."""
        return min([self.share, *self.values.values()])


@dataclass(frozen=True)
class Caps:
    """A least group size, and limits per sensitive column: a numeric form of some rules."""

    size: int = 1
    columns: Mapping[str, ColumnCaps] = field(default_factory=dict)


def caps_of(rule: Rule) -> Caps | None:
    """Return what a rule says as limits on sizes and shares; None if these do not say all of it."""
    parts = [_caps(part) for part in flatten([rule])]
    exact = [caps for caps in parts if caps is not None]
    return joint(exact) if len(exact) == len(parts) else None


def known_caps(rule: Rule) -> Caps:
    """Return the strictest limits of those parts of a rule that limits say all of."""
    return joint(caps for part in flatten([rule]) if (caps := _caps(part)) is not None)


def _caps(rule: Rule) -> Caps | None:
    conditions = rule.conditions()
    if conditions is None:
        return None
    limits = ColumnCaps(rule.diversity or 1)
    for each in conditions:
        if each.kind == "share":
            limits = _strictest(limits, ColumnCaps(share=each.x))
        elif each.kind == "value share":
            limits = _strictest(limits, ColumnCaps(values={each.value: each.x}))
        elif each.kind != "distinct":
            return None
    return Caps(rule.least, {} if rule.column is None else {rule.column: limits})


def joint(parts: Iterable[Caps]) -> Caps:
    """Return the strictest of each limit."""
    size = 1
    columns: dict[str, ColumnCaps] = {}
    for part in parts:
        size = max(size, part.size)
        for name, caps in part.columns.items():
            columns[name] = _strictest(columns.get(name, ColumnCaps()), caps)
    return Caps(size, columns)


def _strictest(a: ColumnCaps, b: ColumnCaps) -> ColumnCaps:
    values = {
        name: min(a.values.get(name, 1.0), b.values.get(name, 1.0))
        for name in (*a.values, *b.values)
    }
    return ColumnCaps(max(a.distinct, b.distinct), min(a.share, b.share), values)
