"""Compare the share of each sensitive value in a class with its share in the table.

The belief in the likeliest value hides the rare one. Where 94 % of a table have tested negative, a
class in which 80 % are positive barely moves it, and tells nearly everything about its people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.partition import GroupStats, Histogram
from shoal.base.results import Caution, Piece, ResultTable
from shoal.base.roles import Role
from shoal.catalog import RULES
from shoal.measures.exposure import short
from shoal.privacy import KAnonymity
from shoal.privacy.base import SLACK, format_count, format_figure
from shoal.privacy.closeness import gains
from shoal.releases.opened import Opened

SHOWN = 12  # values of a column that people are shown, those with the highest ratio
DOUBLE = 2.0  # ratio from which rows are counted, and above which it is said in a sentence
LEFT_OUT = (
    "Shares of single values are left out: this release does not say whose value is "
    "whose. See what is believed instead."
)


@dataclass(frozen=True)
class ValueShare:
    """One sensitive value.

    Parameters
    ----------
    value
        The value.
    table, highest
        Its share in the whole release, and in the class where that is highest.
    doubled
        Rows (or people, once in every class) of the classes where its share is at least doubled.
    """

    value: str
    table: float
    highest: float
    doubled: int

    @property
    def ratio(self) -> float:
        """How many times as frequent it is in that class as in the table."""
        return self.highest / self.table


@dataclass(frozen=True)
class ValueDisclosure:
    """What the classes tell of a sensitive column; ``values`` by ratio, the highest first.

    ``unit``: what was counted, ``rows`` or ``people``; ``by_rows``: rows, though one person may
    have several. ``gaps``: how many have a missing value; shares are of those with a known one.
    """

    column: str
    unit: str
    values: tuple[ValueShare, ...]
    gaps: int = 0
    by_rows: bool = False

    @property
    def top_values(self) -> tuple[ValueShare, ...]:
        """The values that people are shown."""
        return self.values[:SHOWN]

    def describe(self) -> str:
        """Say the worst value and which rules bound it; empty when no share is above double."""
        if not self.values or self.values[0].ratio <= DOUBLE + SLACK:
            return ""
        worst = self.values[0]
        bounds = "; ".join(entry.bounds for entry in RULES.values() if entry.bounds)
        known = " of the rows" if self.by_rows else ""
        if self.gaps:
            known = f" of the {self.unit} with a known value"
            bounds += "; t and beta bound shares of known values with --missing-sensitive ignore"
        return (
            f"In one class {100 * worst.highest:.1f} %{known} have {short(worst.value)} in "
            f"{short(self.column)}, {format_figure(worst.ratio)} times the share in the whole "
            "table "
            f"({100 * worst.table:.2g} %). {format_count(worst.doubled, self.unit)} are in "
            "classes that "
            f"at least double its share. Rules that limit this: {bounds}. k-anonymity and distinct "
            "l-diversity hardly limit it."
        )

    def pieces(self) -> Iterator[Piece]:
        """Yield the values whose share in a class is highest, compared with the table."""
        counted = f"{self.unit} in the table", f"{self.unit} where doubled"
        rows = [
            (
                one.value,
                f"{100 * one.table:.3g} %",
                f"{100 * one.highest:.3g} %",
                format_figure(one.ratio),
                f"{one.doubled:,}",
            )
            for one in self.top_values
        ]
        heads = (f"share of {self.column}", counted[0], "in a class, highest", "gain", counted[1])
        yield ResultTable(heads, rows)
        if len(self.values) > len(rows):
            yield f"{len(self.values) - len(rows):,} more values have lower gains."
        if sentence := self.describe():
            yield Caution(sentence)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "column": self.column,
            "unit": self.unit,
            "number": len(self.values),
            "sentence": self.describe(),
            "values": [{**vars(one), "ratio": one.ratio} for one in self.values],
        }


def value_disclosure(opened: Opened, stats: GroupStats | None = None) -> dict[str, ValueDisclosure]:
    """Return what the classes of a generalized release tell, by sensitive column.

    Parameters
    ----------
    opened
        The release; of a shape that hides whose value is whose nothing is returned.
    stats
        The counts that its verdict was made of, else they are made anew from its cells alone.
    """
    if opened.shape.exact or not opened.sensitive:
        return {}
    if stats is None:
        stats = opened.shape.check.check(opened, [KAnonymity(2)]).stats
    assert stats is not None
    by_rows = stats.unit == "rows" and bool(opened.names(Role.PERSON))
    return {
        name: ValueDisclosure(
            name, stats.unit, _values(stats, hist), int(stats.gaps(name).sum()), by_rows
        )
        for name, hist in stats.histograms.items()
    }


def _values(stats: GroupStats, hist: Histogram) -> tuple[ValueShare, ...]:
    gain, _ = gains(hist)
    highest = np.zeros(hist.whole.size)
    np.maximum.at(highest, hist.values, hist.counts / np.repeat(hist.holders, hist.distinct))
    twice = gain >= DOUBLE - 1 - SLACK
    doubled = np.zeros(hist.whole.size, np.int64)
    np.add.at(doubled, hist.values[twice], np.repeat(stats.sizes, hist.distinct)[twice])
    there = np.flatnonzero(hist.whole)
    table = hist.whole[there] / max(hist.whole_holders, 1)
    # Of equal ratios the value that is most frequent first: it tells most.
    order = there[np.lexsort((there, -table, -np.round(highest[there] / table, 9)))]
    shares = hist.whole[order] / max(hist.whole_holders, 1)
    columns = (shares.tolist(), highest[order].tolist(), doubled[order].tolist())
    return tuple(
        ValueShare(hist.names[code], *figures)
        for code, *figures in zip(order.tolist(), *columns, strict=True)
    )
