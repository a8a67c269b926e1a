"""Ends of intervals that are not data: multiples of a step that does not depend on the rows.

An interval between two values of the table says that both occur. Rounded outwards to a grid it
says so no more. A cell is exact only when its whole class has one value.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import SchemaError, nearest

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


def check_grid(grid: str | float, column: str) -> str | float:
    """Return a grid as a plan has it, a step given as a text as a number; or say what is wrong."""
    if grid in (AUTO, OFF, *SPANS):
        return grid
    try:
        step = float(grid)
    except ValueError:
        step = math.nan
    if not (math.isfinite(step) and step > 0):
        hint = " Write decimals with a point, and give each column a --grid of its own."
        raise SchemaError(
            f"The grid of column {column!r} is {grid!r}.{nearest(str(grid), [AUTO, OFF, *SPANS])} "
            f"It is {AUTO!r}, {OFF!r}, a step above 0, or for dates and times one of "
            f"{', '.join(SPANS)}.{hint if ',' in str(grid) else ''}"
        )
    return step


def step_of(values: pl.Series, grid: str | float, column: str) -> str | float | None:
    """Return the step of a column with these different values, None when its ends stay data."""
    grid = check_grid(grid, column)
    if grid == OFF or len(values) < 2:
        return None
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
    span = float(points[-1] - points[0])
    step = _nice(span / FINE)
    least = 2 * _precision(points)
    if step < least:  # a grid on which every value lies hides none
        step = least if span >= COARSE * least else 0.0
    return step or None


def _precision(points: Floats) -> float:
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


def _span_of(values: pl.Series, grid: str | float, column: str) -> str | None:
    if not isinstance(values.dtype, pl.Date | pl.Datetime):
        _unfit(grid, column, "times of day")
        return None
    days = values.dtype == pl.Date
    if grid == AUTO:
        hours = (values[-1] - values[0]).total_seconds() / 3600
        fits = [name for name, long in HOURS.items() if hours / long >= FINE]
        step = fits[-1] if fits else "hour"
        return None if days and step in ("hour", "day") else step
    if not isinstance(grid, str) or (days and grid == "hour"):
        _unfit(grid, column, "dates" if days else "times")
        return None
    return grid


def ends(values: pl.Series, step: str | float) -> tuple[pl.Series, pl.Series]:
    """Return for each value the multiple of the step below it and the one above, or itself.

    Dates: the first day of the week, month, quarter or year, and the last one.
    """
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
