"""Rules that compare a class with the whole table: t-closeness and beta-likeness.

The table is the published one: rows that are left out count neither in a class nor in it.

Who has no known value is something that a class can give away as well, so a missing value counts
as a value of its own here. The parameter ``missing`` chooses the other reading, in which only known
values are compared: then a class may hold a larger or smaller share of missing values than the
table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shoal.base.params import Param
from shoal.base.partition import GroupStats, Histogram, with_missing
from shoal.privacy.base import SLACK, Bools, Condition, Floats, Mix, all_missing

MISSING_VALUES = Param(
    "missing",
    "value: a missing sensitive value counts as a value of its own; ignore: only known values are "
    "compared",
    str,
    default="value",
    choices=("value", "ignore"),
)


@dataclass(frozen=True)
class TCloseness:
    """Earth mover's distance to the table's distribution at most ``t``.

    Li, Li, Venkatasubramanian 2007.
    ``distance="equal"``: every two values are equally far apart; ``"ordered"``: values stand in
    their order, neighbours 1 / (number of values - 1) apart.

    ``missing="value"``: the missing value is one more value. It has no place in the order and is at
    distance 1 from every other value. The ordered distance is then |p - q| + (1 - max(p, q)) times
    that of the known values, where p is the share of missing values in the class and q in the
    table: what it costs to move the surplus of missing values, or of known ones in proportion, and
    then the rest in its order. The earth mover's distance is that or less. ``"ignore"``: only known
    values are compared.

    Grows safely: the distance is convex, and a union's distribution is a mean of its parts'. With
    missing values in an order it is quasi-convex, which is enough (docs/reference/missing.md).
    """

    t: float
    column: str
    distance: str = "equal"
    missing: str = "value"

    name: ClassVar[str] = "t-closeness"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False
    diversity: ClassVar[None] = None
    least: ClassVar[int] = 1
    figures: ClassVar[Mapping[str, str]] = {"t": "t"}
    params: ClassVar[tuple[Param, ...]] = (
        Param(
            "t",
            "largest distance of a class's values from the table's",
            float,
            default=0.2,
            low=0,
            high=1,
            open_low=True,
            safer="less",
        ),
        Param(
            "distance",
            "equal: all values equally far apart; ordered: neighbours are closer",
            str,
            default="equal",
            choices=("equal", "ordered"),
        ),
        MISSING_VALUES,
    )

    def __post_init__(self) -> None:
        for param in self.params:
            param.check(getattr(self, param.name), self.name)

    @property
    def reading(self) -> str:
        """The column, with its missing values if they count."""
        return with_missing(self.column) if self.missing == "value" else self.column

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether it is within t of the table."""
        return self._far(stats) <= self.t + SLACK

    def conditions(self) -> tuple[Condition, ...]:
        """So near to the table."""
        ordered = self.distance == "ordered"
        return (Condition("ordered distance" if ordered else "equal distance", self.t),)

    def mix(self, share: Floats) -> Mix:
        """Any share of a value, within the distance."""
        apart = self.missing == "value"
        return Mix(np.ones(share.size), self.t, self.distance == "ordered", apart)

    def obstacle(self, whole: GroupStats) -> str | None:
        """The whole table is at distance 0; only a column without known values cannot be met."""
        return all_missing(whole.histograms[self.column], "t-closeness", self.column)

    def limits(self, whole: GroupStats) -> tuple[()]:
        """The whole table as one class keeps any t."""
        return ()

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the largest distance of a class."""
        return {"t": float(self._far(stats).max(initial=0.0))}

    def describe(self) -> str:
        """Return the promise in words."""
        return (
            f"{_whose_values(self.column, self.missing)} in every class are within {self.t:g} of "
            f"the published table's ({self.distance} distance, t-closeness)"
        )

    def _far(self, stats: GroupStats) -> Floats:
        """Return how far every class is from the table; infinite where no value counts."""
        hist, known = stats.read(self.reading), stats.histograms[self.column]
        if not known.whole.any():
            return np.full(hist.distinct.size, np.inf)
        if self.distance == "equal" or self.missing == "ignore":
            return np.where(hist.known > 0, distance(hist, self.distance), np.inf)
        p = (hist.known - known.known) / np.maximum(hist.known, 1)
        q = hist.whole[-1] / max(int(hist.whole.sum()), 1)
        far = np.abs(p - q) + (1.0 - np.maximum(p, q)) * distance(known, "ordered")
        return np.where(hist.known > 0, far, np.inf)


@dataclass(frozen=True)
class BetaLikeness:
    """No value's share gains more than ``beta`` on the table's, relative to it (Cao, Karras 2012).

    Basic: (p - q) / q <= ``beta`` for every value with p > q, p its share in the class and q in the
    table. Enhanced: the bound is min(beta, -ln q), stricter for frequent values. The missing value
    is one of the values, unless ``missing`` is ``"ignore"``: then shares are of the known ones.

    Grows safely: a share in a union lies between the shares in the parts.
    """

    beta: float
    column: str
    enhanced: bool = False
    missing: str = "value"

    name: ClassVar[str] = "beta-likeness"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False
    diversity: ClassVar[None] = None
    least: ClassVar[int] = 1
    figures: ClassVar[Mapping[str, str]] = {"beta": "beta"}
    params: ClassVar[tuple[Param, ...]] = (
        Param(
            "beta",
            "largest relative gain of a value's share: 1 + beta times as frequent in a class",
            float,
            default=1.0,
            low=0,
            open_low=True,
            safer="less",
        ),
        Param("enhanced", "bound the gain of frequent values further", bool, default=False),
        MISSING_VALUES,
    )

    def __post_init__(self) -> None:
        self.params[0].check(self.beta, self.name)
        self.params[2].check(self.missing, self.name)

    @property
    def reading(self) -> str:
        """The column, with its missing values if they count."""
        return with_missing(self.column) if self.missing == "value" else self.column

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether no value gains more than allowed."""
        hist = stats.read(self.reading)
        gain, q = gains(hist)
        bound = np.minimum(self.beta, _own_bound(q)) if self.enhanced else self.beta
        over = hist.reduce(np.add, (gain > bound + SLACK).astype(np.int64))
        passed: Bools = (over == 0) & self._counted(stats)
        return passed

    def mix(self, share: Floats) -> Mix:
        """Of each value its share and as much more as it may gain."""
        known = np.where(share > 0.0, share, 1.0)
        bound = np.minimum(self.beta, _own_bound(known)) if self.enhanced else self.beta
        return Mix(np.asarray(np.minimum((1.0 + bound) * known, 1.0)))

    def conditions(self) -> tuple[Condition, ...]:
        """No larger gain."""
        return (Condition("gain", self.beta, float(self.enhanced)),)

    def obstacle(self, whole: GroupStats) -> str | None:
        """The whole table gains nothing; only a column without known values cannot be met."""
        return all_missing(whole.histograms[self.column], "beta-likeness", self.column)

    def limits(self, whole: GroupStats) -> tuple[()]:
        """The whole table as one class keeps any beta."""
        return ()

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the largest relative gain; infinite when a value is above its own bound."""
        hist = stats.read(self.reading)
        gain, q = gains(hist)
        unbounded = self.enhanced and bool((gain > _own_bound(q) + SLACK).any())
        if unbounded or not self._counted(stats).all():
            return {"beta": math.inf}
        return {"beta": float(gain.max(initial=0.0))}

    def describe(self) -> str:
        """Return the promise in words."""
        often = f"{1 + self.beta:.6g} times"
        if self.enhanced:
            often += ", and never more than 1 - ln(its share) times,"
        kind = "enhanced" if self.enhanced else "basic"
        what = f"no value of {self.column!r}, a missing one included,"
        if self.missing == "ignore":
            what = f"with missing values left out, no value of {self.column!r}"
        return (
            f"{what} is in a class more than {often} as frequent as in the published table "
            f"({kind} beta-likeness, beta = {self.beta:g})"
        )

    def _counted(self, stats: GroupStats) -> Bools:
        """Say which classes have a value that counts, in a table with known values."""
        some: Bools = stats.read(self.reading).known > 0
        return some & bool(stats.histograms[self.column].whole.any())


def _whose_values(column: str, missing: str) -> str:
    if missing == "ignore":
        return f"with missing values left out, the values of {column!r}"
    return f"the values of {column!r}, a missing one counted as a value,"


def _own_bound(q: Floats) -> Floats:
    """Return the largest gain that enhanced beta-likeness allows values with shares ``q``."""
    return np.maximum(-np.log(q), 0.0)


def gains(hist: Histogram) -> tuple[Floats, Floats]:
    """Return per run the relative gain (p - q) / q of the value's share, and q."""
    q = hist.whole[hist.values] / max(hist.whole_holders, 1)
    p = hist.counts / np.repeat(hist.holders, hist.distinct)
    return (p - q) / q, q


def distance(hist: Histogram, kind: str) -> Floats:
    """Return how far each class is from the table; 1 for a class without a known value."""
    if not hist.whole.any():
        return np.ones(hist.distinct.size)
    return _equal(hist) if kind == "equal" else _ordered(_occurring(hist))


def _occurring(hist: Histogram) -> Histogram:
    """Return the histogram over the values that occur: only they have a place in the order."""
    there = hist.whole > 0
    if there.all():
        return hist
    renumbered = np.cumsum(there) - 1
    return replace(hist, values=renumbered[hist.values], whole=hist.whole[there])


def _equal(hist: Histogram) -> Floats:
    """Half the sum of absolute differences; values absent from a class count with their q."""
    q = hist.whole / hist.whole.sum()
    p = hist.counts / np.repeat(hist.known, hist.distinct)
    here = q[hist.values]
    absent = 1.0 - hist.reduce(np.add, here)
    distance = 0.5 * (hist.reduce(np.add, np.abs(p - here)) + absent)
    return np.where(hist.known > 0, distance, 1.0)


def _ordered(hist: Histogram) -> Floats:
    """Mean absolute difference of the cumulative shares.

    Between two values of a class its cumulative share P is constant while the table's Q climbs, so
    the sum of |P - Q| over that stretch follows from running sums of Q and the place where Q
    passes P.
    """
    values = hist.whole.size
    if values < 2:
        return np.where(hist.known > 0, 0.0, 1.0)
    rows = int(hist.whole.sum())
    q = np.cumsum(hist.whole)
    # Sums are kept in whole numbers: over a million values rounding would be seen.
    running = np.concatenate(([0], np.cumsum(q)))
    climbing = np.cumsum(hist.counts)
    before = np.concatenate(([0], climbing))[hist.starts[:-1]]
    p = (climbing - np.repeat(before, hist.distinct)) / np.repeat(hist.known, hist.distinct)
    begin = hist.values
    last = np.zeros(begin.size, np.bool_)
    last[hist.starts[1:][hist.distinct > 0] - 1] = True
    end = np.where(last, values, np.append(hist.values[1:], values))
    cross = np.clip(np.searchsorted(q, p * rows, side="left"), begin, end)
    passed = 2 * running[cross] - running[begin] - running[end]
    stretch = p * (2 * cross - begin - end) - passed / rows
    first = np.full(hist.distinct.size, values)
    filled = hist.distinct > 0
    first[filled] = hist.values[hist.starts[:-1][filled]]
    total = hist.reduce(np.add, stretch) + running[first] / rows  # P is 0 before the first value
    return np.where(hist.known > 0, np.maximum(total, 0.0) / (values - 1), 1.0)
