"""l-diversity: every class holds enough different sensitive values, in four readings.

A missing sensitive value adds no diversity and counts towards no value's frequency; frequencies are
shares of the *known* values of a class, so that missing values can never make a class look safer.
Where people are counted, a person's value counts once in a class, and no reading is met by fewer
people than the l it asks for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.base.params import Param
from shoal.base.partition import GroupStats, Histogram
from shoal.privacy.base import (
    SLACK,
    Bools,
    Condition,
    Floats,
    KnownValues,
    Limit,
    all_missing,
    format_number,
    in_the_way,
    largest,
)

_MEANING = "least diversity of the sensitive values in a class"
L = Param("l", _MEANING, int, default=2, low=2, safer="more")
L_REAL = Param("l", _MEANING, float, default=2, low=1, safer="more")


@dataclass(frozen=True)
class LDiversity(KnownValues):
    """At least ``l`` different known values (Machanavajjhala et al. 2007, distinct l-diversity).

    Grows safely: a union holds every value that either part holds.
    """

    l: int  # noqa: E741 -- the papers' own letter
    column: str

    name: ClassVar[str] = "l-diversity"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    params: ClassVar[tuple[Param, ...]] = (L,)
    figures: ClassVar[Mapping[str, str]] = {"l": "l"}

    def __post_init__(self) -> None:
        self.params[0].check(self.l, self.name)

    @property
    def diversity(self) -> int:
        """The l."""
        return self.l

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether it has at least l different known values."""
        return _spread(stats.histograms[self.column]) >= self.l

    @property
    def least(self) -> int:
        """The l."""
        return self.l

    def conditions(self) -> tuple[Condition, ...]:
        """So many different values."""
        return (Condition("distinct", self.l),)

    def obstacle(self, whole: GroupStats) -> str | None:
        """A table with fewer than l different values cannot be l-diverse."""
        hist = whole.histograms[self.column]
        return all_missing(hist, _title(self.name), self.column) or _too_few(
            hist, self.l, self.name, self.column
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """A class cannot have more different values than the table."""
        return _most_values(whole.histograms[self.column])

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the least number of different values in a class."""
        return {"l": _least(_spread(stats.histograms[self.column]))}

    def describe(self) -> str:
        """Return the promise in words."""
        return (
            f"every class has at least {self.l} different values of {self.column!r} "
            "(distinct l-diversity)"
        )


@dataclass(frozen=True)
class EntropyLDiversity(KnownValues):
    """Entropy of the known values at least log ``l`` (Machanavajjhala et al. 2007, section 4.1).

    Grows safely: entropy is concave, and a union's distribution is a mean of its parts'.
    """

    l: float  # noqa: E741
    column: str

    name: ClassVar[str] = "entropy-l-diversity"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    least: ClassVar[int] = 1
    params: ClassVar[tuple[Param, ...]] = (L_REAL,)
    figures: ClassVar[Mapping[str, str]] = {"entropy_l": "l"}

    def __post_init__(self) -> None:
        self.params[0].check(self.l, self.name)

    @property
    def diversity(self) -> int:
        """The l: fewer values are not as mixed, however even."""
        return math.ceil(self.l)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether exp(entropy) is at least l."""
        return effective(stats.histograms[self.column]) >= self.l - 1e-9

    def conditions(self) -> tuple[Condition, ...]:
        """So much entropy."""
        return (Condition("entropy", math.log(self.l)),)

    def obstacle(self, whole: GroupStats) -> str | None:
        """A table whose own entropy is below log l cannot be entropy l-diverse."""
        hist = whole.histograms[self.column]
        if missing := all_missing(hist, _title(self.name), self.column):
            return missing
        reached = float(effective(hist)[0])
        if reached >= self.l - 1e-9:
            return None
        value, share = largest(hist)
        (limit,) = self.limits(whole)
        return (
            f"Entropy l-diversity with l={self.l:g} cannot be met in column {self.column!r}: the "
            f"whole table is only as mixed as {format_number(reached, 4)} equally frequent values "
            f"({value!r} alone has a share of {share:.2%}); the largest l possible is "
            f"{format_number(limit.value, 2)}."
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """No class can do better than the table, if all are to do as well."""
        hist = whole.histograms[self.column]
        # Rounded down, so that the l named can itself be met.
        most = math.floor(float(effective(hist)[0]) * 100 + 1e-7) / 100
        return (Limit("l", most, in_the_way(hist)),) if hist.whole.any() else ()

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the least exp(entropy) of a class."""
        return {"entropy_l": _least(effective(stats.histograms[self.column]))}

    def describe(self) -> str:
        """Return the promise in words."""
        return (
            f"the values of {self.column!r} in every class are at least as mixed as {self.l:g} "
            "equally frequent ones (entropy l-diversity)"
        )


@dataclass(frozen=True)
class RecursiveLDiversity(KnownValues):
    """r_1 < c (r_l + ... + r_m), counts in descending order (Machanavajjhala et al. 2007).

    Grows safely: the top count of a union is at most the sum of the parts' top counts. Its tail is
    all but its l - 1 most frequent values, and these have in each part at most as many rows as
    the part's own l - 1 most frequent ones; so the tail is at least the sum of the parts' tails.
    """

    l: int  # noqa: E741
    c: float
    column: str

    name: ClassVar[str] = "recursive-l-diversity"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    least: ClassVar[int] = 1
    params: ClassVar[tuple[Param, ...]] = (
        L,
        Param(
            "c",
            "how often the most frequent value may occur for each rare one",
            float,
            default=2.0,
            low=0,
            open_low=True,
            safer="less",
        ),
    )
    figures: ClassVar[Mapping[str, str]] = {"recursive_c": "c"}

    def __post_init__(self) -> None:
        self.params[0].check(self.l, self.name)
        self.params[1].check(self.c, self.name)

    @property
    def diversity(self) -> int:
        """The l: without an l-th value there is no tail."""
        return self.l

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether its top count is below c times its tail."""
        top, tail = self._top_and_tail(stats.histograms[self.column])
        return self._below(top, tail, self.c) & (stats.histograms[self.column].holders >= self.l)

    def conditions(self) -> tuple[Condition, ...]:
        """The top count below c times the tail."""
        return (Condition("recursive", self.c, self.l),)

    def obstacle(self, whole: GroupStats) -> str | None:
        """The whole table must pass, for it is the union of all classes."""
        hist = whole.histograms[self.column]
        few = all_missing(hist, _title(self.name), self.column) or _too_few(
            hist, self.l, self.name, self.column
        )
        top, tail = self._top_and_tail(hist)
        if few or self._below(top, tail, self.c)[0]:
            return few
        value, share = largest(hist)
        (limit,) = self.limits(whole)
        return (
            f"Recursive l-diversity with c={self.c:g}, l={self.l} cannot be met in column "
            f"{self.column!r}: {value!r} has a share of {share:.2%}, "
            f"{format_number(top[0] / tail[0], 4)} "
            f"times that of the values from rank {self.l} on; with l={self.l} the smallest c "
            f"possible is {format_number(limit.value, 4)}."
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """The table as one class has the smallest c; with fewer than l values there is none."""
        hist = whole.histograms[self.column]
        top, tail = self._top_and_tail(hist)
        if not tail[0]:
            fewer = _most_values(hist)
            possible = bool(fewer) and fewer[0].value >= 2
            nearest = replace(self, l=int(fewer[0].value)) if possible else None
            return fewer if nearest is None else (*fewer, *nearest.limits(whole))
        # Just above the ratio, since the rule says "less than".
        least = math.floor(top[0] / tail[0] * 10_000 + 1) / 10_000
        if not self._below(top, tail, least)[0]:
            least += 0.0001
        return (Limit("c", least, in_the_way(hist)),)

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the largest ratio of the top count to the tail."""
        hist = stats.histograms[self.column]
        top, tail = self._top_and_tail(hist)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((tail > 0) & (hist.holders >= self.l), top / tail, np.inf)
        return {"recursive_c": float(ratio.max()) if ratio.size else 0.0}

    def describe(self) -> str:
        """Return the promise in words."""
        return (
            f"in every class the most frequent value of {self.column!r} occurs less than "
            f"{self.c:g} times as often as the values from rank {self.l} on together "
            "(recursive l-diversity)"
        )

    @staticmethod
    def _below(top: Floats, tail: Floats, c: float) -> Bools:
        """Top < c * tail; equal up to rounding is not below."""
        return top < c * tail * (1.0 - SLACK)

    def _top_and_tail(self, hist: Histogram) -> tuple[Floats, Floats]:
        group = np.repeat(np.arange(hist.distinct.size), hist.distinct)
        order = np.lexsort((-hist.counts, group))
        rank = np.arange(group.size) - hist.starts[:-1][group]
        tail = np.where(rank >= self.l - 1, hist.counts[order], 0)
        top = hist.reduce(np.maximum, hist.counts)
        return top.astype(np.float64), hist.reduce(np.add, tail).astype(np.float64)


@dataclass(frozen=True)
class FrequencyLDiversity(KnownValues):
    """No value in more than 1 / ``l`` of the known values (Xiao, Tao 2006; Xiao, Yi, Tao 2010).

    Grows safely: a share in a union lies between the shares in the parts.
    """

    l: int  # noqa: E741
    column: str

    name: ClassVar[str] = "frequency-l-diversity"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    params: ClassVar[tuple[Param, ...]] = (L,)
    figures: ClassVar[Mapping[str, str]] = {"frequency_l": "l"}

    def __post_init__(self) -> None:
        self.params[0].check(self.l, self.name)

    @property
    def diversity(self) -> int:
        """The l: of fewer values one has more than 1 / l."""
        return self.l

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether its most frequent value stays within 1 / l."""
        hist = stats.histograms[self.column]
        within: Bools = hist.reduce(np.maximum, hist.counts) * self.l <= hist.holders
        return within & (hist.known > 0)

    @property
    def least(self) -> int:
        """The l."""
        return self.l

    def conditions(self) -> tuple[Condition, ...]:
        """No larger share than 1 / l."""
        return (Condition("share", 1.0 / self.l),)

    def obstacle(self, whole: GroupStats) -> str | None:
        """A value with more than 1 / l of the table is too frequent in some class."""
        hist = whole.histograms[self.column]
        missing = all_missing(hist, _title(self.name), self.column)
        if missing or self.holds(whole)[0]:
            return missing
        value, share = largest(hist)
        most = int(self.limits(whole)[0].value)
        nearest = f"the largest l possible is {most}" if most >= 2 else "no l above 1 is possible"
        return (
            f"Frequency l-diversity with l={self.l} cannot be met in column {self.column!r}: "
            f"{value!r} has a share of {share:.2%}, above 1/{self.l}; {nearest}."
        )

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Some class holds at least the table's share of the most frequent value."""
        hist = whole.histograms[self.column]
        if not hist.whole.any():
            return ()
        return (Limit("l", int(hist.whole_holders // hist.whole.max()), in_the_way(hist)),)

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the least 1 / (share of the most frequent value)."""
        hist = stats.histograms[self.column]
        top = np.maximum(hist.reduce(np.maximum, hist.counts), 1)
        return {"frequency_l": _least(hist.holders / top)}

    def describe(self) -> str:
        """Return the promise in words."""
        return (
            f"no value of {self.column!r} has more than 1/{self.l} of the known values of a class "
            "(frequency l-diversity)"
        )


def effective(hist: Histogram) -> Floats:
    """Return exp(entropy) of each class: how many equally frequent values it is worth."""
    known = np.repeat(hist.known, hist.distinct)
    share = hist.counts / known
    entropy = hist.reduce(np.add, -share * np.log(share))
    worth = np.where(hist.known > 0, np.exp(entropy), 0.0)
    return worth if hist.people is None else np.minimum(worth, hist.people)


def _spread(hist: Histogram) -> npt.NDArray[np.int64]:
    """Return how many different values a class has, or people, if these are counted and fewer.

    The many values of one person hide nobody.
    """
    return hist.distinct if hist.people is None else np.minimum(hist.distinct, hist.people)


def _most_values(hist: Histogram) -> tuple[Limit, ...]:
    distinct = int(np.count_nonzero(hist.whole))
    return (Limit("l", distinct, "there are no more different values"),) if distinct else ()


def _too_few(hist: Histogram, l: int, name: str, column: str) -> str | None:  # noqa: E741
    distinct = int(np.count_nonzero(hist.whole))
    if distinct >= l:
        return None
    nearest = f"the largest l possible is {distinct}" if distinct >= 2 else "no l is possible"
    return (
        f"{_title(name)} with l={l} cannot be met: column {column!r} has only {distinct} different "
        f"value{'s' if distinct > 1 else ''}; {nearest}."
    )


def _title(name: str) -> str:
    """Return a rule's name as it opens a sentence; names in the catalog have no spaces."""
    return name.replace("-l-", " l-", 1).capitalize() if "-l-" in name else name


def _least(values: Floats | np.ndarray[Any, Any]) -> Any:
    return values.min().item() if values.size else 0
