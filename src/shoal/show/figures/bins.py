"""Sort numbers and days into bins that identify nobody."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.partition import Floats

_MOST = 20
# Calendar steps: what polars calls them, how many days they are, how a bin is then called.
_CALENDAR = (
    ("1d", 1, "%Y-%m-%d"),
    ("1w", 7, "%Y-%m-%d"),
    ("1mo", 31, "%Y-%m"),
    ("3mo", 92, "%Y-%m"),
    ("1y", 366, "%Y"),
    ("5y", 1827, "%Y"),
    ("10y", 3653, "%Y"),
    ("100y", 36525, "%Y"),
)


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins between ``edges``; the first and the last one also hold whatever lies beyond."""

    labels: tuple[str, ...]
    edges: Floats

    def count(self, points: Floats, weight: Floats) -> Floats:
        """Return the weight in every bin."""
        return _held(self.edges, points, weight)


def make_bins(values: pl.Series, before: tuple[Floats, Floats] | None, crowd: int) -> Bins:
    """Cut the range of the published values into round bins.

    Parameters
    ----------
    values
        The published values, ascending: numbers or days.
    before
        The points of the original and how often each occurs, if bins of it are to be shown.
    crowd
        No bin then holds fewer rows of the original, unless it holds none: bins are made wider, and
        those that still hold too few are joined with a neighbour.
    """
    days = values.dtype == pl.Date
    points = values.to_physical().cast(pl.Float64).to_numpy()
    low, high = float(points[0]), float(points[-1])
    whole = bool((points == np.round(points)).all())
    chosen = None
    for attempt in range(4):
        fewer = _MOST / 2**attempt
        edges = _days(low, high, fewer) if days else _round(low, high, fewer, whole)
        counts = None if before is None else _held(edges, *before)
        inner = counts is not None and bool(((counts[1:-1] > 0) & (counts[1:-1] < crowd)).any())
        chosen = edges
        if not inner:
            break
    assert chosen is not None
    if before is not None:
        chosen = _joined(chosen, _held(chosen, *before), crowd)
    return Bins(_labels(chosen, days, whole), chosen)


def as_points(values: pl.Series) -> Floats:
    """Return numbers or days as places on one axis."""
    return values.to_physical().cast(pl.Float64).to_numpy()


def _held(edges: Floats, points: Floats, weight: Floats) -> Floats:
    bin_of = np.searchsorted(edges[1:-1], points, side="right")
    return np.bincount(bin_of, weight, edges.size - 1).astype(np.float64)


def _round(low: float, high: float, most: float, whole: bool) -> Floats:
    step = max((high - low) / most, 1e-300)
    power = 10.0 ** math.floor(math.log10(step))
    step = next(
        factor * power for factor in (1, 2, 2.5, 5, 10) if step <= factor * power * (1 + 1e-9)
    )
    if whole:
        step = max(1.0, math.ceil(step))
    if high <= low:
        step = step if whole else max(abs(low), 1.0)
    first = math.floor(low / step + 1e-9)
    last = math.floor(high / step + 1e-9) + 1
    return np.arange(first, last + 1, dtype=np.float64) * step


def _days(low: float, high: float, most: float) -> Floats:
    span = high - low + 1
    name = next((unit for unit, length, _ in _CALENDAR if span / length <= most), "100y")
    ends = pl.Series([int(low), int(high)]).cast(pl.Int32).cast(pl.Date)
    first = ends.dt.truncate(name)[0]
    last = ends.dt.truncate(name).dt.offset_by(name)[1]
    edges = pl.date_range(first, last, name, eager=True)
    return as_points(edges)


def _joined(edges: Floats, counts: Floats, crowd: int) -> Floats:
    """Join bins that hold some rows but too few with what follows, the last ones backwards."""
    kept = [0]
    held = 0.0
    for i, count in enumerate(counts):
        held += count
        if held == 0 or held >= crowd:
            kept.append(i + 1)
            held = 0.0
    if kept[-1] != counts.size:
        # What is left at the end goes to the last bin that holds anything.
        kept.append(counts.size)
        while len(kept) > 2 and counts[kept[-2] :].sum() < crowd:
            kept.pop(-2)
    return edges[kept]


def _labels(edges: Floats, days: bool, whole: bool) -> tuple[str, ...]:
    if days:
        return _day_labels(edges)
    labels = []
    for low, high in itertools.pairwise(edges):
        if whole:
            labels.append(f"{low:.0f}" if high - low == 1 else f"{low:.0f}–{high - 1:.0f}")
        else:
            labels.append(f"{low:g} to {high:g}")
    return tuple(labels)


def _day_labels(edges: Floats) -> tuple[str, ...]:
    dates = pl.Series(edges).cast(pl.Int32).cast(pl.Date)
    width = float(np.min(np.diff(edges))) if edges.size > 1 else 1.0
    form = next(
        form for _, length, form in reversed(_CALENDAR) if width >= length - 3 or length == 1
    )
    ends = dates.dt.offset_by("-1d")
    first, last = dates.dt.strftime(form), ends.dt.strftime(form)
    return tuple(
        a if a == b else f"{a} – {b}"
        for a, b in zip(first[:-1].to_list(), last[1:].to_list(), strict=True)
    )
