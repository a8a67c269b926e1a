"""Choose grids for interval ends that do not depend on the rows.

An interval between two values of the table says that both occur. Rounded outwards to a grid it
says so no more. A cell is exact only when its whole class has one value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import SchemaError, suggest_nearest

Floats = npt.NDArray[np.float64]

AUTO, OFF = "auto", "off"
DEFAULT_GRID = AUTO
SPANS = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}
"""Steps of dates and times, finest first, as polars calls them."""
HOURS = {"hour": 1, "day": 24, "week": 168, "month": 730.5, "quarter": 2191.5, "year": 8766}
EXACT = 2.0**53
"""Above it not every whole number is a float, and a number is a key rather than a measure."""
FINE, COARSE = 30, 10
"""Automatic steps: at least so many in the range of a column; so many will do where the step is
only twice as wide as the values lie apart, and a finer one would hide nothing."""
FAR = 3.0
"""Interquartile ranges beyond the quartiles from which on a value is an outlier: what Tukey calls
far out (Exploratory Data Analysis, 1977, 2D)."""
FEWEST = 5
"""Different values below which quartiles say nothing."""


@dataclass(frozen=True)
class TailedStep:
    """A step between two multiples of it, and ever wider steps for the outliers outside of them.

    Outliers have no say in the step, and their own ends show only about how large they are.
    """

    step: str | float
    least: float
    most: float


def usual_range(points: Floats) -> tuple[float, float]:
    """Return the least and the greatest of ascending different numbers without their outliers."""
    if points.size < FEWEST:
        return (float(points[0]), float(points[-1])) if points.size else (0.0, 0.0)
    first, third = np.quantile(points, (0.25, 0.75))
    reach = FAR * (third - first)
    usual = points[(points >= first - reach) & (points <= third + reach)]
    return float(usual[0]), float(usual[-1])


def outliers(points: Floats) -> tuple[Floats, Floats]:
    """Return the outliers below and above the usual range of ascending different numbers."""
    least, most = usual_range(points)
    return points[points < least], points[points > most]


def check_grid(grid: str | float | TailedStep, column: str) -> str | float | TailedStep:
    """Return a grid as a plan has it, a step given as a text as a number; or say what is wrong."""
    if isinstance(grid, TailedStep) or grid in (AUTO, OFF, *SPANS):
        return grid
    try:
        step = float(grid)
    except ValueError:
        step = math.nan
    if not (math.isfinite(step) and step > 0):
        hint = " Write decimals with a point, and give each column a --grid of its own."
        raise SchemaError(
            f"The grid of column {column!r} is "
            f"{grid!r}.{suggest_nearest(str(grid), [AUTO, OFF, *SPANS])} "
            f"It is {AUTO!r}, {OFF!r}, a step above 0, or for dates and times one of "
            f"{', '.join(SPANS)}.{hint if ',' in str(grid) else ''}"
        )
    return step


def kept_grid(asked: str | float | TailedStep, settled: str | float | TailedStep) -> str | float:
    """Return the grid that a plan keeps: not an automatic step, which is computed from the table.

    The manifest shows the plan.
    """
    if isinstance(settled, TailedStep) or (asked == AUTO and settled != OFF):
        return AUTO
    return settled


def step_of(
    values: pl.Series, grid: str | float | TailedStep, column: str
) -> str | float | TailedStep | None:
    """Return the step of a column with these different values, None when its ends stay data."""
    grid = check_grid(grid, column)
    if grid == OFF or len(values) < 2:
        return None
    if isinstance(grid, TailedStep):
        return grid
    if values.dtype.is_temporal():
        return _span_of(values, grid, column)
    if not values.dtype.is_numeric():
        _unfit(grid, column, "texts with an order")
        return None
    whole = values.dtype.is_integer()
    if isinstance(grid, float) and (not whole or grid == int(grid)):
        return grid
    _unfit(grid, column, "whole numbers" if whole else "numbers")
    points = values.cast(pl.Float64).to_numpy()
    if np.abs(points).max() > EXACT:
        return None
    usual = usual_range(points)
    tailed = usual != (points[0], points[-1])
    span = usual[1] - usual[0]
    step = _nice(span / FINE)
    least = 2 * precision(points)
    if step < least:  # a grid on which every value lies hides none
        step = least if span >= COARSE * least or tailed else 0.0
    if not step or not tailed:
        return step or None
    low, high = interval_ends(pl.Series(usual).cast(values.dtype), step)
    return TailedStep(step, float(low[0]), float(high[-1]))


def precision(points: Floats) -> float:
    """Return the power of ten, at most 1, that all values are multiples of; 0 if there is none."""
    for digits in range(7):
        scaled = points * 10**digits
        if np.allclose(scaled, np.round(scaled), rtol=1e-12, atol=1e-6):
            return _decimal(1, -digits)
    return 0.0


def _unfit(grid: str | float, column: str, what: str) -> None:
    """Refuse a step that a column cannot have; automatically it has none."""
    if grid != AUTO:
        raise SchemaError(
            f"The grid {grid!r} does not fit column {column!r}, which holds {what}. "
            f"Give it a step that fits, or {AUTO!r}, or {OFF!r}."
        )


def _nice(most: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above ``most``."""
    if most <= 0:
        return 0.0
    power = math.floor(math.log10(most))
    steps = [_decimal(digit, power + shift) for shift in (0, 1) for digit in (1, 2, 5)]
    return max((step for step in steps if step <= most), default=_decimal(5, power - 1))


def _decimal(digit: int, power: int) -> float:
    """Return ``digit * 10 ** power`` as the float that is written so."""
    return digit * 10.0**power if power >= 0 else digit / 10.0**-power


def _span_of(values: pl.Series, grid: str | float, column: str) -> str | TailedStep | None:
    if not isinstance(values.dtype, pl.Date | pl.Datetime):
        _unfit(grid, column, "times of day")
        return None
    days = values.dtype == pl.Date
    if grid == AUTO:
        points = values.to_physical().cast(pl.Float64).to_numpy()
        least, most = usual_range(points)
        usual = values.filter(pl.Series((points >= least) & (points <= most)))
        hours = (usual[-1] - usual[0]).total_seconds() / 3600
        fits = [name for name, long in HOURS.items() if hours / long >= FINE]
        step = fits[-1] if fits else "hour"
        if not days:
            coarse = [name for name, long in HOURS.items() if hours / long >= COARSE]
            wider = coarse[coarse.index(step) :] if step in coarse else []
            step = next((name for name in wider if not on_multiples(usual, name)), step)
        if len(usual) == len(values):
            return None if days and step in ("hour", "day") else step
        step = "week" if days and step in ("hour", "day") else step
        low, high = interval_ends(usual, step)
        return TailedStep(step, low.to_physical()[0], high.to_physical()[-1])
    if not isinstance(grid, str) or (days and grid == "hour"):
        _unfit(grid, column, "dates" if days else "times")
        return None
    return grid


def on_multiples(values: pl.Series, step: str | float | TailedStep) -> bool:
    """Tell whether every value is a multiple of the step: then its intervals hide none."""
    low, high = interval_ends(values, step)
    return bool((low == high).all())


def interval_ends(values: pl.Series, step: str | float | TailedStep) -> tuple[pl.Series, pl.Series]:
    """Return for each value the multiple of the step below it and the one above, or itself.

    Dates: the first day of the week, month, quarter or year, and the last one.
    """
    if isinstance(step, TailedStep):
        return _tailed_ends(values, step)
    if isinstance(step, str):
        low = values.dt.truncate(SPANS[step])
        after = low.dt.offset_by(SPANS[step])
        if values.dtype == pl.Date:
            return low, after.dt.offset_by("-1d")
        return low, pl.select(pl.when(low == values).then(low).otherwise(after)).to_series()
    if values.dtype.is_integer():
        values, size = values.cast(pl.Int64), int(step)
        low = values // size * size
        return low, pl.select(pl.when(low == values).then(low).otherwise(low + size)).to_series()
    points = values.cast(pl.Float64).to_numpy()
    below = np.floor(points / step)
    below -= _multiple(below, step) > points
    above = below + (_multiple(below, step) < points)
    above += _multiple(above, step) < points
    return pl.Series(_multiple(below, step)), pl.Series(_multiple(above, step))


def _tailed_ends(values: pl.Series, tailed: TailedStep) -> tuple[pl.Series, pl.Series]:
    """Return the ends of values of which some are outliers.

    Outliers among numbers lie between 1, 2 and 5 times powers of ten, among dates in their year.
    """
    low, high = interval_ends(values, tailed.step)
    points = values.to_physical()
    under, over = points < tailed.least, points > tailed.most
    if values.dtype.is_temporal():
        first, last = interval_ends(values, "year")
        # No interval of an outlier begins before, or ends behind, one of the usual range.
        first = (
            first.to_physical().clip(lower_bound=tailed.most).cast(low.dtype).zip_with(over, first)
        )
        last = (
            last.to_physical().clip(upper_bound=tailed.least).cast(low.dtype).zip_with(under, last)
        )
    else:
        edges = _between_edges(points.cast(pl.Float64).to_numpy(), tailed)
        first, last = (pl.Series(edge).cast(low.dtype) for edge in edges)
    usual = ~(under | over)
    return low.zip_with(usual, first), high.zip_with(usual, last)


def _between_edges(points: Floats, tailed: TailedStep) -> tuple[Floats, Floats]:
    """Return for numbers outside the usual range the edges below and above each, or itself."""
    assert isinstance(tailed.step, float)
    most = max(float(np.abs(points).max(initial=0.0)), tailed.step)
    powers = range(math.floor(math.log10(tailed.step)), math.ceil(math.log10(most)) + 1)
    sizes = np.array([_decimal(digit, power) for power in powers for digit in (1, 2, 5)])
    edges = np.concatenate((-sizes[::-1], [0.0], sizes))
    # One that is nearer to the usual range than a step says more of an outlier than the step would.
    apart = (edges <= tailed.least - tailed.step) | (edges >= tailed.most + tailed.step)
    edges = np.sort(np.concatenate((edges[apart], [tailed.least, tailed.most])))
    after = np.searchsorted(edges, points)
    before = np.searchsorted(edges, points, side="right") - 1
    last = edges.size - 1
    return edges[np.clip(before, 0, last)], edges[np.clip(after, 0, last)]


def _multiple(count: Floats, step: float) -> Floats:
    """Return multiples of a step, each as the float that is written shortest."""
    inverse = round(1 / step) if step < 1 else 0
    if inverse and math.isclose(inverse * step, 1.0, rel_tol=1e-12):
        return count / inverse
    power = max(0, -math.floor(math.log10(step)))
    whole = round(step * 10**power)
    if math.isclose(whole, step * 10**power, rel_tol=1e-12):
        return np.asarray(count * whole / 10.0**power)
    return np.asarray(count * step)
