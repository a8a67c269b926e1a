"""The interface of privacy rules, and functions that they share.

A rule is a predicate on groups. It answers for all groups at once, tells the kernels its numeric
form when it has one, and says before any work why a table cannot meet it and what would be the
nearest promise that it can. Nobody else keeps such facts: whoever needs one asks the rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from shoal.base.errors import ParameterError
from shoal.base.params import Param, Safer
from shoal.base.partition import GroupStats, Histogram

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

# Shares and distances within this of their limit are on it: 0.1 + 0.2 is no breach of 0.3.
SLACK = 1e-12


@dataclass(frozen=True)
class Condition:
    """A condition on the histogram of a sensitive column, of a kind that kernels can check.

    ``kind`` and its numbers: ``distinct``: at least ``x`` different values. ``share``: no value has
    more than a share of ``x``; ``value share``: ``value`` has not. ``entropy``: at least ``x``
    (natural logarithm). ``recursive``: the top count is below ``x`` times all from rank ``y`` on.
    ``equal distance``, ``ordered distance``: at most ``x`` from the table's shares. ``gain``: no
    share is more than ``x`` above the table's, relative to it; nor more than its -ln q when ``y``
    is 1.
    """

    kind: Literal[
        "distinct",
        "share",
        "value share",
        "entropy",
        "recursive",
        "equal distance",
        "ordered distance",
        "gain",
    ]
    x: float
    y: float = 0.0
    value: str = ""


@dataclass(frozen=True)
class Mix:
    """How near a class must be to the table's mix of values.

    ``most``: the largest share of each value, 1 where it may be any. ``far``: the largest distance
    of the class's shares from the table's, infinite where it does not matter; ``ordered``: values
    are near each other by their order; ``missing``: except for the last one, the missing value.
    """

    most: Floats
    far: float = math.inf
    ordered: bool = False
    missing: bool = False


@dataclass(frozen=True)
class Limit:
    """The strictest value of a parameter that a table can keep, and what stands in the way."""

    param: str
    value: float
    why: str


class KnownValues:
    """What most rules say: known values count, and the table's shares of them do not matter."""

    @property
    def reading(self: Rule) -> str | None:
        """The column, without its missing values."""
        return self.column

    def mix(self, share: Floats) -> None:
        """Any mix of values will do."""


class Rule(Protocol):
    """A privacy model.

    A group whose values of ``column`` are all missing passes no rule on that column, unless the
    rule counts the missing value as a value: nothing is known of it, and nothing is promised.
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
    def reading(self) -> str | None:
        """The column, or what :func:`with_missing` calls it if the missing value is a value."""
        ...

    @property
    def params(self) -> tuple[Param, ...]:
        """Its parameters; a number says which way it is safer."""
        ...

    @property
    def figures(self) -> Mapping[str, str]:
        """The names of what :meth:`achieved` gives, each with the parameter it is a value of."""
        ...

    @property
    def grows_safely(self) -> bool:
        """Whether the union of two passing groups always passes, on which every method relies.

        A table is not anonymized under a rule without it (:mod:`shoal.tables.compatibility`).
        """
        ...

    @property
    def judged_alone(self) -> bool:
        """Whether a group can be judged without the rest of the table, as in a shard of it."""
        ...

    @property
    def diversity(self) -> int | None:
        """How many different sensitive values it asks a group for, None if it does not count."""
        ...

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it passes."""
        ...

    @property
    def least(self) -> int:
        """How many rows every passing group has, as far as its parameters say so."""
        ...

    def conditions(self) -> tuple[Condition, ...] | None:
        """Return its numeric form, which kernels check beside the size; None: it has none."""
        ...

    def mix(self, share: Floats) -> Mix | None:
        """Return how near a class must be to the table's shares of values, None: any mix will do.

        What says so gets groups that are built with the mix, and not joined until they have it.
        """
        ...

    def obstacle(self, whole: GroupStats) -> str | None:
        """Say why no partition of this table (given as one group) can pass, or None."""
        ...

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Return how far its parameters can go in this table; none: every value is possible."""
        ...

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return what the weakest group reaches; infinite where no value of a parameter will do."""
        ...

    def describe(self) -> str:
        """Return the promise in words."""
        ...


@dataclass(frozen=True)
class All:
    """Several rules at once: a group passes when every rule passes."""

    rules: tuple[Rule, ...]

    name = "all"
    grows_safely = True
    column = None
    reading = None
    params = ()

    @property
    def figures(self) -> Mapping[str, str]:
        """Those of all parts."""
        return {name: param for rule in self.rules for name, param in rule.figures.items()}

    @property
    def judged_alone(self) -> bool:
        """True when every part can be."""
        return all(rule.judged_alone for rule in self.rules)

    @property
    def diversity(self) -> int | None:
        """The most that a part asks for."""
        return max((n for rule in self.rules if (n := rule.diversity) is not None), default=None)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it passes every rule."""
        passed = np.ones(stats.sizes.size, np.bool_)
        for rule in self.rules:
            passed &= rule.holds(stats)
        return passed

    @property
    def least(self) -> int:
        """The most that a part asks for."""
        return max((rule.least for rule in self.rules), default=1)

    def conditions(self) -> tuple[Condition, ...] | None:
        """Those of all parts, which should be asked one by one: each speaks of its own column."""
        parts = [rule.conditions() for rule in self.rules]
        return None if None in parts else tuple(each for part in parts for each in part or ())

    def mix(self, share: Floats) -> None:
        """Parts should be asked one by one: each speaks of its own column."""

    def obstacle(self, whole: GroupStats) -> str | None:
        """Return the obstacles of all parts, a line each."""
        obstacles = [text for rule in self.rules if (text := rule.obstacle(whole))]
        return "\n".join(obstacles) or None

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Return those of all parts."""
        return tuple(limit for rule in self.rules for limit in rule.limits(whole))

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return what the weakest groups reach, over all rules."""
        return weakest((rule, rule.achieved(stats)) for rule in flatten(self.rules))

    def describe(self) -> str:
        """Return all promises in words."""
        return "; ".join(rule.describe() for rule in self.rules)


def flatten(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the single rules of a sequence that may hold :class:`All`."""
    flat: list[Rule] = []
    for rule in rules:
        flat.extend(flatten(rule.rules) if isinstance(rule, All) else [rule])
    return tuple(flat)


def weakest(reached: Iterable[tuple[Rule, Mapping[str, Any]]]) -> dict[str, Any]:
    """Join what several rules reach: of a figure that two of them give, the less safe one.

    Two rules may give one name to figures that are safer in different ways; then the second one's
    carries the name of its rule.
    """
    merged: dict[str, Any] = {}
    ways: dict[str, Safer] = {}
    for rule, figures in reached:
        for figure, value in figures.items():
            way = safer_direction(rule, figure)
            name = figure if ways.get(figure, way) == way else f"{rule.name} {figure}"
            ways.setdefault(name, way)
            merged[name] = least_safe(way, merged[name], value) if name in merged else value
    return merged


def least_safe(way: Safer, *values: Any) -> Any:
    """Return the least safe of some values."""
    return min(values) if way == "more" else max(values)


def safer_direction(rule: Rule, figure: str) -> Safer:
    """Return whether more or less of a figure is safer: as of the parameter it is a value of."""
    of = rule.figures.get(figure)
    way = next((param.safer for param in rule.params if param.name == of), None)
    if way is None:
        raise ParameterError(
            f"The rule {rule.name!r} does not say whether more or less of {figure!r} is safer, so "
            "the weakest class cannot be determined. Name the parameter of this figure in its "
            "'figures', "
            "and let that Param say safer='more' or safer='less'."
        )
    return way


def format_figures(figures: Mapping[str, Any]) -> str:
    """Say figures to people: ``k = 10, beta = 2.998``."""
    return ", ".join(f"{name} = {format_figure(value)}" for name, value in figures.items())


def format_figure(value: float | None) -> str:
    """Say a figure in four digits; ``none`` when no value of the parameter would do."""
    if value is None or math.isinf(value):
        return "none"
    exact = isinstance(value, int) or abs(value) >= 10_000
    return f"{value:,.0f}" if exact else f"{value:.4g}"


def format_count(many: int, unit: str) -> str:
    """Say how many rows or people there are."""
    one = {"rows": "row", "people": "person"}[unit]
    return f"{many} {one if many == 1 else unit}"


def describe_rule(rule: Rule, unit: str) -> str:
    """Return a rule's promise in words; where people are counted it says so."""
    text = rule.describe()
    if unit == "rows":
        return text
    crowd = re.sub(r"at least (\d+) rows", r"at least \1 different people", text)
    return f"{crowd}, each person's values counted once" if rule.column is not None else crowd


def largest(hist: Histogram) -> tuple[str, float]:
    """Return the most frequent value of the whole table and its share of the known values."""
    top = int(hist.whole.argmax())
    return hist.names[top], float(hist.whole[top] / hist.whole_holders)


def all_missing(hist: Histogram, name: str, column: str) -> str | None:
    """Say that a column has no known value, if so: then no rule on it can be met."""
    if hist.whole.any():
        return None
    return (
        f"{name} cannot be met: the sensitive column {column!r} has no known value at all. "
        "Name another sensitive column, or drop the rule."
    )


def in_the_way(hist: Histogram) -> str:
    """Say that the most frequent value of a column limits what can be promised of it."""
    value, share = largest(hist)
    return f"limited by {value!r}, {share:.1%} of the known values"


def format_number(value: float, digits: int) -> str:
    """Write a number with at most so many decimals, without zeros at the end."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
