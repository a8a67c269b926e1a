"""(alpha, k)-anonymity: large groups in which no sensitive value dominates (Wong et al. 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.errors import nearest
from shoal.params import Param
from shoal.partition import GroupStats, Histogram
from shoal.rules.base import Bools, Caps, ColumnCaps, Floats


@dataclass(frozen=True)
class AlphaK:
    """At least ``k`` rows, and a share of at most ``alpha`` for each protected value.

    Parameters
    ----------
    values
        The values to protect; None protects every value of the column.

    Notes
    -----
    Shares are of the known values of a group. Grows safely: a union is no smaller, and a share in
    it lies between the shares in the parts.
    """

    alpha: float
    k: int
    column: str
    values: tuple[str, ...] | None = None

    name: ClassVar[str] = "alpha-k-anonymity"
    grows_safely: ClassVar[bool] = True
    params: ClassVar[tuple[Param, ...]] = (
        Param(
            "alpha",
            "largest share of a protected value in a group",
            float,
            default=0.5,
            low=0,
            high=1,
            open_low=True,
        ),
        Param("k", "least number of rows in a group", int, default=2, low=1),
        Param("values", "sensitive values to protect; every value when not given", tuple),
    )

    def __post_init__(self) -> None:
        self.params[0].check(self.alpha, self.name)
        self.params[1].check(self.k, self.name)

    def holds(self, stats: GroupStats) -> Bools:
        """Say for every group whether it is large enough and no protected share is above alpha."""
        return (stats.sizes >= self.k) & (self._share(stats) <= self.alpha + 1e-12)

    def caps(self) -> Caps:
        """Return the least size and the largest share."""
        chosen = None if self.values is None else frozenset(self.values)
        return Caps(self.k, {self.column: ColumnCaps(share=self.alpha, values=chosen)})

    def obstacle(self, whole: GroupStats) -> str | None:
        """A value whose share of the table is above alpha is above it in some group."""
        hist = whole.histograms[self.column]
        if not hist.whole.any():
            return (
                f"(alpha, k)-anonymity cannot be judged: the sensitive column {self.column!r} has "
                "no known value at all. Name another sensitive column, or drop the rule."
            )
        for value in self.values or ():
            if value not in hist.names or not hist.whole[hist.names.index(value)]:
                return (
                    f"The value {value!r} to protect does not occur in column {self.column!r}; "
                    f"it has {_some(hist.names)}.{nearest(value, hist.names)}"
                )
        rows = int(whole.sizes.sum())
        if rows < self.k:
            return f"(alpha, k)-anonymity with k={self.k} cannot be met by {rows} rows."
        counts = np.where(self._guarded(hist), hist.whole, 0)
        top = int(counts.argmax())
        share = float(counts[top] / hist.whole.sum())
        if share <= self.alpha + 1e-12:
            return None
        return (
            f"(alpha, k)-anonymity with alpha={self.alpha:g} cannot be met in column "
            f"{self.column!r}: {hist.names[top]!r} has a share of {share:.2%} of the whole table; "
            f"the smallest alpha possible is {math.ceil(share * 10_000) / 10_000:g}."
        )

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        """Return the largest protected share and the smallest group."""
        share = self._share(stats)
        return {
            "alpha": float(share.max()) if share.size else 0.0,
            "k": int(stats.sizes.min()) if stats.sizes.size else 0,
        }

    def describe(self) -> str:
        """Return the promise in words."""
        what = "no value" if self.values is None else " nor ".join(map(repr, self.values))
        return (
            f"every group has at least {self.k} rows, and {what} of {self.column!r} has more than "
            f"{self.alpha:g} of it ((alpha, k)-anonymity)"
        )

    def _guarded(self, hist: Histogram) -> Bools:
        if self.values is None:
            return np.ones(len(hist.names), np.bool_)
        return np.array([name in self.values for name in hist.names], np.bool_)

    def _share(self, stats: GroupStats) -> Floats:
        hist = stats.histograms[self.column]
        guarded = np.where(self._guarded(hist)[hist.values], hist.counts, 0)
        share: Floats = hist.reduce(np.maximum, guarded) / np.maximum(hist.known, 1)
        return share


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
