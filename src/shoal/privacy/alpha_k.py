"""(alpha, k)-anonymity: large classes in which no sensitive value dominates (Wong et al. 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.base.errors import ParameterError, format_names, suggest_nearest
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
    format_count,
    format_number,
)


@dataclass(frozen=True)
class AlphaK(KnownValues):
    """At least ``k`` rows, and a share of at most ``alpha`` for each protected value.

    Parameters
    ----------
    values
        The values to protect, as texts; None protects every value of the column.

    Notes
    -----
    Shares are of the known values of a class, and a class has to have one; where people are
    counted, of the people of whom a value is known. Grows safely: a union is no smaller, and a
    share in it lies between the shares in the parts.
    """

    alpha: float
    k: int
    column: str
    values: tuple[str, ...] | None = None

    name: ClassVar[str] = "alpha-k-anonymity"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = True
    diversity: ClassVar[None] = None
    params: ClassVar[tuple[Param, ...]] = (
        Param(
            "alpha",
            "largest share of a protected value in a class",
            float,
            default=0.5,
            low=0,
            high=1,
            open_low=True,
            safer="less",
            each="values",
        ),
        Param("k", "least number of rows in a class", int, default=10, low=1, safer="more"),
        Param("values", "sensitive values to protect; every value when not given", tuple),
    )
    figures: ClassVar[Mapping[str, str]] = {"alpha": "alpha", "k": "k"}

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, (int, float)):
            raise ParameterError(
                f"{self.name} takes one alpha, a number. Got {self.alpha!r} instead. Where values "
                "have an alpha of their own, give a rule for each of them."
            )
        self.params[0].check(self.alpha, self.name)
        self.params[1].check(self.k, self.name)
        if self.values is not None:
            self.params[2].check(self.values, self.name)
            if not self.values:
                raise ParameterError(
                    f"The 'values' parameter of {self.name} is empty, so nothing would be "
                    "protected. Name at least one value, or leave it out to protect all."
                )

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every class whether it is large enough and no protected share is above alpha."""
        known = stats.histograms[self.column].known > 0
        return (stats.sizes >= self.k) & known & (self._share(stats) <= self.alpha + SLACK)

    @property
    def least(self) -> int:
        """The k."""
        return self.k

    def conditions(self) -> tuple[Condition, ...]:
        """No larger share than alpha, of any value or of each that is protected."""
        if self.values is None:
            return (Condition("share", self.alpha),)
        return tuple(Condition("value share", self.alpha, value=name) for name in self.values)

    def obstacle(self, whole: GroupStats) -> str | None:
        """A value whose share of the table is above alpha is above it in some class."""
        hist = whole.histograms[self.column]
        faults = [self._too_few(int(whole.sizes.sum()), whole.unit)]
        if missing := all_missing(hist, "(alpha, k)-anonymity", self.column):
            faults.append(missing)
        else:
            strange = [self._absent(hist, value) for value in self.values or ()]
            faults += strange if any(strange) else [self._too_frequent(hist)]
        return "\n".join(fault for fault in faults if fault) or None

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        """Some class holds at least the table's share of a value, and none has more rows."""
        rows = Limit("k", int(whole.sizes.sum()), f"there are no more {whole.unit}")
        hist = whole.histograms[self.column]
        value, share = self._top(hist)
        if not share:
            return (rows,)
        why = f"limited by {value!r}, {share:.1%} of the known values"
        return (Limit("alpha", _up(share), why), rows)

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the largest protected share and the smallest class."""
        known = stats.histograms[self.column].known > 0
        share = np.where(known, self._share(stats), np.inf)
        return {
            "alpha": float(share.max()) if share.size else 0.0,
            "k": int(stats.sizes.min()) if stats.sizes.size else 0,
        }

    def describe(self) -> str:
        """Return the promise in words, without the protected values: it is published."""
        what = f"value of {self.column!r}"
        if self.values is not None:
            many = len(self.values)
            what = f"protected {what} ({many} {'is' if many == 1 else 'are'} named)"
        return (
            f"every class has at least {self.k} rows, and no {what} has "
            f"more than a share of {self.alpha:g} of its known values ((alpha, k)-anonymity)"
        )

    def _too_few(self, many: int, unit: str) -> str | None:
        if many >= self.k:
            return None
        return (
            f"(alpha, k)-anonymity with k={self.k} cannot be met: the table has only "
            f"{format_count(many, unit)}; the largest k possible is {many}."
        )

    def _absent(self, hist: Histogram, value: str) -> str | None:
        if value in hist.names and hist.whole[hist.names.index(value)]:
            return None
        return (
            f"The value {value!r} to protect does not occur in column {self.column!r}; "
            f"it has {format_names(hist.names, 5)}.{suggest_nearest(value, hist.names)}"
        )

    def _too_frequent(self, hist: Histogram) -> str | None:
        value, share = self._top(hist)
        if share <= self.alpha + SLACK:
            return None
        return (
            f"(alpha, k)-anonymity with alpha={self.alpha:g} cannot be met in column "
            f"{self.column!r}: {value!r} has a share of {share:.2%} of the whole table; "
            f"the smallest alpha possible is {format_number(_up(share), 4)}."
        )

    def _top(self, hist: Histogram) -> tuple[str, float]:
        """Return the most frequent protected value of the table, and its share."""
        counts = np.where(self._guarded(hist), hist.whole, 0)
        if not counts.any():
            return "", 0.0
        top = int(counts.argmax())
        return hist.names[top], float(counts[top] / hist.whole_holders)

    def _guarded(self, hist: Histogram) -> Bools:
        if self.values is None:
            return np.ones(len(hist.names), np.bool_)
        return np.array([name in self.values for name in hist.names], np.bool_)

    def _share(self, stats: GroupStats) -> Floats:
        hist = stats.histograms[self.column]
        guarded = np.where(self._guarded(hist)[hist.values], hist.counts, 0)
        share: Floats = hist.reduce(np.maximum, guarded) / np.maximum(hist.holders, 1)
        return share


def _up(share: float) -> float:
    """Round up, so that the alpha named can itself be met."""
    return math.ceil(share * 10_000 - 1e-9) / 10_000
