"""Labels of intervals: of equal width, or with about equally many cells, with round ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError
from shoal.base.partition import Floats, Ints
from shoal.tables.cells import as_text
from shoal.tables.grid import AUTO, TailedStep, interval_ends, precision, step_of, usual_range

_FINEST = 20  # intervals that the finest automatic level aims at


def divisors(steps: Sequence[int]) -> list[int]:
    """Return how many intervals each level has, or say what is wrong with the numbers."""
    numbers = list(steps)
    bad = not numbers or any(not isinstance(s, int) or s < 1 for s in numbers)
    if bad or any(a % b for a, b in itertools.pairwise(numbers)):
        raise ParameterError(
            "The 'steps' parameter of intervals must be whole numbers from fine to coarse, each "
            f"dividing the one before, for instance (16, 8, 4). Got {tuple(steps)!r} instead."
        )
    return numbers


def _multiples(widths: Sequence[float]) -> list[float]:
    numbers = [float(width) for width in widths]
    bad = any(not (math.isfinite(width) and width > 0) for width in numbers)
    if bad or any(
        abs(b / a - round(b / a)) > 1e-9 or b <= a for a, b in itertools.pairwise(numbers)
    ):
        raise ParameterError(
            "The 'widths' parameter of intervals must be positive numbers, each a multiple of the "
            f"one before, for instance (5, 10, 20). Got {tuple(widths)!r} instead."
        )
    return numbers


def _nice(points: Floats, whole: bool) -> list[float]:
    """Choose widths 1, 2 or 5 times a power of ten, doubled until one interval covers all.

    Outliers have no say in the finest width.
    """
    span = float(points[-1] - points[0])
    if span == 0:
        return []
    least, most = usual_range(points)
    raw = (most - least) / _FINEST
    power = 10.0 ** math.floor(math.log10(raw))
    width = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= raw * 0.999)
    if whole:
        width = max(width, 2.0)
    widths = []
    while width <= span:
        widths.append(width)
        width *= 2
    return widths


def equal_widths(
    points: Floats, steps: Sequence[int] | None, widths: Sequence[float] | None
) -> list[pl.Series]:
    """Label each point with its interval on every level."""
    whole = bool((points == np.floor(points)).all())
    low, span = float(points[0]), float(points[-1] - points[0])
    if steps is not None:
        counts = divisors(steps)
        origin, finest = _round_steps(low, low + span, counts[0], whole)
        last = counts[0] - 1
        ratios = [counts[0] // count for count in counts]
    else:
        edges = _multiples(widths) if widths is not None else _nice(points, whole)
        if not edges:
            return []
        finest, origin, last = edges[0], 0.0, None
        ratios = [round(edge / finest) for edge in edges]
    # Rounding puts 0.3 into [0.3-0.4) although 0.3 / 0.1 is a little less than 3. The greatest
    # value of a division by steps belongs to the last interval. Coarser levels count in whole
    # multiples of the finest one, so that levels always nest.
    bins = np.floor(np.round((points - origin) / finest, 9))
    bins = bins if last is None else np.minimum(bins, last)
    return [_intervals(bins // ratio, origin, finest * ratio, whole, last) for ratio in ratios]


def _round_steps(low: float, high: float, many: int, whole: bool) -> tuple[float, float]:
    """Return where so many intervals begin, and how wide they are: round numbers, not data."""
    most = (high - low + whole) / many or 1.0
    step = 10.0 ** math.floor(math.log10(most))
    step *= max(digit for digit in (1, 2, 5) if digit * step <= most)
    step = max(step, 2.0) if whole else step
    origin = math.floor(low / step) * step
    fine = 1.0 if whole else step / 20
    return origin, math.ceil(round((high - origin + whole) / many / fine, 9)) * fine


def _intervals(
    bins: Floats, origin: float, width: float, whole: bool, last: int | None
) -> pl.Series:
    low, high = origin + bins * width, origin + (bins + 1) * width
    if whole and float(width).is_integer():
        first, end = as_text(pl.Series(low)), as_text(pl.Series(high - 1))
        return _format(first, end, "]").zip_with(first != end, first)
    # 12 digits: 0.1 + 0.2 must not show as 0.30000000000000004.
    digits = 12 - math.floor(math.log10(max(np.abs(low).max(), np.abs(high).max())))
    first, end = (as_text(pl.Series(np.round(edge, digits))) for edge in (low, high))
    closed = pl.Series(bins == bins.max()) if last is not None else None
    half = _format(first, end, ")")
    return half if closed is None else _format(first, end, "]").zip_with(closed, half)


def _format(first: pl.Series, end: pl.Series, bracket: str) -> pl.Series:
    return "[" + first + "-" + end + bracket


def quantiles(points: Floats, counts: Ints, steps: Sequence[int]) -> list[pl.Series]:
    """Label each value with the interval that holds its share of the cells.

    Intervals begin at the roundest number between two values, and the outer ends are rounded
    outwards, so that no end has to be a value.
    """
    middle = np.cumsum(counts) - counts / 2
    finest = np.minimum((middle / counts.sum() * steps[0]).astype(np.int64), steps[0] - 1)
    least, most = _outer(points)
    whole = bool((points == np.floor(points)).all())
    apart = 1.0 if whole else 0.0
    levels = []
    for step in steps:
        share = finest // (steps[0] // step)
        starts = np.flatnonzero(np.diff(share, prepend=-1))
        group = np.cumsum(np.diff(share, prepend=-1) != 0) - 1
        inner = [_roundest(points[at - 1], points[at]) for at in starts[1:]]
        low = np.array([least, *inner])
        high = np.array([*(edge - apart for edge in inner), most])
        levels.append(_written(low, high, whole).gather(group))
    return levels


def _written(low: Floats, high: Floats, whole: bool) -> pl.Series:
    """Write intervals side by side: whole numbers with both ends, others without the upper one."""
    if whole:
        first, end = (as_text(pl.Series(edge.astype(np.int64))) for edge in (low, high))
        return _format(first, end, "]").zip_with(pl.Series(low != high), first)
    first, end = (as_text(pl.Series(edge)) for edge in (low, high))
    last = pl.Series(np.arange(low.size) == low.size - 1)
    return _format(first, end, "]").zip_with(last, _format(first, end, ")"))


def _outer(points: Floats) -> tuple[float, float]:
    """Return the ends of all values together, rounded outwards to multiples of five at least."""
    values = pl.Series(points)
    step = step_of(values, AUTO, "values") or 0.0
    least = 5 * precision(points)
    if isinstance(step, TailedStep):
        step = replace(step, step=max(float(step.step), least))
    low, high = interval_ends(values, max(step, least) if isinstance(step, float) else step)
    return float(low[0]), float(high[-1])


def _roundest(after: float, upto: float) -> float:
    """Return the roundest number above the one and up to the other."""
    power = math.floor(math.log10(max(abs(after), abs(upto)))) + 1
    for step in (10.0**p * digit for p in range(power, power - 18, -1) for digit in (5, 2, 1)):
        edge = math.floor(upto / step + 1e-9) * step
        if edge > after:
            return float(f"{edge:.15g}")
    return float(upto)
