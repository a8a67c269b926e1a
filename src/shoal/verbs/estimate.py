"""Estimate counts and shares of sensitive values from a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.errors import ParameterError, format_names, suggest_nearest
from shoal.base.results import Piece, Result, ResultTable, percent
from shoal.catalog import ESTIMATORS, find_estimator, find_paper
from shoal.releases.base import By, Counts
from shoal.releases.categories import read_by
from shoal.releases.estimates.intervals import quantile
from shoal.releases.opened import Opened, check_release


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """What :func:`estimate` found: the counts, and how they were found."""

    counts: Counts
    shape: str
    estimator: str
    level: float

    def __repr__(self) -> str:
        by = f" by {', '.join(self.counts.by)}" if self.counts.by else ""
        many = len(self.counts.values)
        return f"Estimates({self.counts.of}{by}; {many} values; {self.estimator}, {self.level:g})"

    def pieces(self, top: int = 10) -> Iterator[Piece]:
        """Yield the likeliest values of every combination, so many of each."""
        counts = self.counts
        yield (
            f"{self.shape} release, {counts.rows.sum():,.0f} rows, estimated by "
            f"{self.estimator}; intervals of {100 * self.level:g} %"
        )
        rows = []
        for group in np.flatnonzero(counts.rows > 0):
            labels, size = counts.labels[group], float(counts.rows[group])
            for j in np.argsort(-counts.count[group], kind="stable")[:top]:
                count, low, high = (
                    float(numbers[group, j]) for numbers in (counts.count, counts.low, counts.high)
                )
                figures = (f"{count:,.1f}", f"{low:,.1f} to {high:,.1f}", percent(count / size))
                rows.append((*labels, counts.values[j], *figures))
        yield ResultTable((*counts.by, counts.of, "count", "interval", "share"), rows)
        if (hidden := len(counts.values) - top) > 0:
            yield (f"{hidden:,} rarer values a combination are not shown; see --values and --json.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "shape": self.shape,
            "estimator": self.estimator,
            "level": self.level,
            "of": self.counts.of,
            "by": list(self.counts.by),
            "estimates": self.counts.frame().to_dicts(),
        }


def estimate(
    opened: Opened,
    of: str,
    by: Sequence[str | By] = (),
    *,
    estimator: str = "iterative",
    eps: float | None = None,
    level: float = 0.95,
    as_in_paper: bool = False,
) -> Estimates:
    """Estimate how many rows have each sensitive value, by categories of quasi-identifiers.

    The parameters are those of :meth:`shoal.Release.estimate`.

    Notes
    -----
    Intervals know of the randomness that the release itself has: the draw of dummies, the order of
    values in a group of Anatomy, the place of a row in its generalized cell. Those of Anatomy and
    of generalized tables take for granted that nothing ties the sensitive value to the quasi-
    identifiers inside a group, which no release can tell.
    """
    find_estimator(estimator)
    quantile(level)
    if as_in_paper:
        estimator, eps = _of_the_paper(estimator, eps)
    name, value = asked_of(of, [name for table in opened.tables.values() for name in table.columns])
    opened = opened.with_sensitive(name)
    check_release(opened, name)
    view = opened.view(name)
    columns = list(view.quasi)
    asked = [column if isinstance(column, By) else read_by(column, columns) for column in by]
    if twice := {
        column.column for column in asked if [e.column for e in asked].count(column.column) > 1
    }:
        raise ParameterError(
            f"The column {min(twice)!r} is named twice to split by. Name it once: as it is, with "
            "a width (age:10), or with a value (sex=f)."
        )
    used = estimator if estimator in view.estimators else view.estimators[0]
    how: dict[str, Any] = {"estimator": estimator} | ({} if eps is None else {"eps": eps})
    if eps is not None and (used not in ESTIMATORS or not ESTIMATORS[used].params):
        able = [repr(entry.name) for entry in ESTIMATORS.values() if entry.params]
        raise ParameterError(
            f"eps ends an iteration, and counts of this release are estimated by {used!r}, which "
            f"has none. Leave eps out; on sets of dummy values {' and '.join(able)} iterate."
        )
    counts = view.counts(name, asked, level=level, **how)
    if value is not None:
        counts = _only(counts, value)
    return Estimates(counts, opened.shape.name, used, level)


def _of_the_paper(estimator: str, eps: float | None) -> tuple[str, float]:
    """Return the estimate of the paper on dummy values, or refuse another one."""
    theirs = float(find_paper("dummies").estimate["eps"])
    if estimator != "iterative" or eps not in (None, theirs):
        raise ParameterError(
            f"As in the paper counts are estimated by 'iterative' with eps = {theirs:g}. Got "
            f"{estimator!r}{'' if eps is None else f' with eps = {eps:g}'}. Leave that out, or "
            "--as-in-paper (as_in_paper=True)."
        )
    return estimator, theirs


def asked_of(of: str, columns: Sequence[str]) -> tuple[str, str | None]:
    """Read ``disease`` or ``disease=flu``; a name may itself hold the sign."""
    name, equals, value = of.partition("=")
    return (of, None) if of in columns or not equals else (name, value)


def columns_asked(of: str, by: Sequence[str | By], columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the columns that a question speaks of: all that need be fetched to answer it."""
    names = {name.removesuffix("_lo").removesuffix("_hi").removesuffix("_mid") for name in columns}
    every = sorted({*columns, *names})
    split = [
        column.column if isinstance(column, By) else read_by(column, every).column for column in by
    ]
    return asked_of(of, columns)[0], split


def _only(counts: Counts, value: str) -> Counts:
    if value not in counts.values:
        raise ParameterError(
            f"No row of the release has the value {value!r} in column {counts.of!r}; it has "
            f"{format_names(counts.values)}.{suggest_nearest(value, counts.values)}"
        )
    position = [counts.values.index(value)]
    figures = (table[:, position] for table in (counts.count, counts.low, counts.high))
    return Counts(counts.of, counts.by, counts.labels, (value,), counts.rows, *figures)
