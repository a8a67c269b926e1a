"""Make hierarchies from the values themselves: intervals, prefixes, dates, frequencies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError
from shoal.base.partition import Floats, Ints
from shoal.tables.cells import as_text, typed
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.grid import usual_range

_FINEST = 20  # intervals that the finest automatic level aims at
_TOGETHER = 3  # names in the smallest group by frequency
_COMMAS = r"^\s*[-+]?\d+(,\d+)?\s*$"  # 0,75 as it is written in much of the world
_WORD = r"\p{L}{6,}"  # what a code hardly has in it
_LABEL = 60  # characters of a group's label that lists all of its members


def intervals(
    values: pl.Series | Sequence[Any],
    column: str = "values",
    *,
    how: str = "width",
    steps: Sequence[int] | None = None,
    widths: Sequence[float] | None = None,
) -> Taxonomy:
    """Group numbers into nested intervals.

    Parameters
    ----------
    values
        The column's cells; repeats count for quantiles, missing ones are ignored.
    how
        ``"width"``: intervals of equal width. ``"quantile"``: intervals that hold about equally
        many cells.
    steps
        Number of intervals on each level, finest first; each must divide the one before.
    widths
        Instead of ``steps``, the width of the intervals on each level, finest first; each must be
        a multiple of the one before. Intervals then start at multiples of their width.

    Notes
    -----
    Without ``steps`` and ``widths``: widths 1, 2 or 5 times a power of ten so that about twenty
    intervals cover the data, doubled level by level; for quantiles 16, 8, 4 and 2 intervals.
    Whole numbers give labels such as ``[20-24]``, both ends included; others ``[2.5-5)``.
    """
    if how not in ("width", "quantile"):
        raise ParameterError(
            "The 'how' parameter of intervals must be one of 'width', 'quantile'. "
            f"Got {how!r} instead."
        )
    if widths is not None and (how == "quantile" or steps is not None):
        raise ParameterError(
            "The 'widths' parameter of intervals goes with how='width' and without 'steps'. "
            f"Got how={how!r}, steps={steps!r} instead."
        )
    texts, points, counts = measured(values, column)
    if how == "quantile":
        levels = _quantiles(texts, counts, _divisors(steps or (16, 8, 4, 2)))
    else:
        levels = _equal_widths(points, steps, widths)
    return build([texts, *levels], column)


def build(levels: Sequence[pl.Series], column: str) -> Taxonomy:
    """Put ``*`` over the levels, leaving out those that say nothing more than ``*``."""
    kept = [levels[0], *(level for level in levels[1:] if level.n_unique() > 1)]
    top = pl.repeat(STAR, len(levels[0]), dtype=pl.String, eager=True)
    return Taxonomy.from_levels([*kept, top], column)


def _series(values: pl.Series | Sequence[Any]) -> pl.Series:
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    return typed(series)


def _numbers(values: pl.Series | Sequence[Any], column: str) -> pl.Series:
    series = _series(values)
    known = (series.fill_nan(None) if series.dtype.is_float() else series).drop_nulls()
    if known.is_empty():
        raise SchemaError(
            f"Column {column!r} has no known value to make intervals from. "
            "Give values, or leave the column without a hierarchy."
        )
    if not known.dtype.is_numeric():
        text = as_text(known)
        wrong = text.filter(text.cast(pl.Float64, strict=False).is_null())
        example = (wrong if len(wrong) else text)[0]
        raise SchemaError(
            f"Column {column!r} cannot be cut into intervals: {example!r} is not a number. "
            "Use prefixes, dates or flat, or list the value as missing."
        )
    if known.dtype.is_float() and known.is_infinite().any():
        raise SchemaError(
            f"Column {column!r} cannot be cut into intervals: it holds an infinite number. "
            "Replace it, or list it as missing."
        )
    return known


def measured(values: pl.Series | Sequence[Any], column: str) -> tuple[pl.Series, Floats, Ints]:
    """Return the distinct texts in the order of their numbers, the numbers, and their counts."""
    raw = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    if raw.dtype == pl.String:
        known = raw.drop_nulls().rename("value")
        if len(known) and known.str.contains(_COMMAS).all() and known.str.contains(",").any():
            number = pl.col("value").str.replace(",", ".").cast(pl.Float64)
            counted = known.value_counts(name="count").sort(number, "value")
            points = counted.select(number).to_series().to_numpy()
            return counted["value"], points, counted["count"].to_numpy().astype(np.int64)
    leaves, counts = _distinct(_numbers(values, column))
    return as_text(leaves), leaves.cast(pl.Float64).to_numpy(), counts


def _distinct(series: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the distinct values in ascending order and how often each occurs."""
    counted = series.rename("value").value_counts(name="count").sort("value")
    return counted["value"], counted["count"].to_numpy().astype(np.int64)


def _divisors(steps: Sequence[int]) -> list[int]:
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


def _equal_widths(
    points: Floats, steps: Sequence[int] | None, widths: Sequence[float] | None
) -> list[pl.Series]:
    """Label each point with its interval on every level."""
    whole = bool((points == np.floor(points)).all())
    low, span = float(points[0]), float(points[-1] - points[0])
    if steps is not None:
        counts = _divisors(steps)
        finest = math.ceil((span + 1) / counts[0]) if whole else span / counts[0] or 1.0
        origin, last = low, counts[0] - 1
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


def _quantiles(texts: pl.Series, counts: Ints, steps: Sequence[int]) -> list[pl.Series]:
    """Label each value with the first and last value of its share of the cells."""
    middle = np.cumsum(counts) - counts / 2
    finest = np.minimum((middle / counts.sum() * steps[0]).astype(np.int64), steps[0] - 1)
    levels = []
    for step in steps:
        share = finest // (steps[0] // step)
        starts = np.flatnonzero(np.diff(share, prepend=-1))
        ends = np.append(starts[1:], len(share)) - 1
        group = np.cumsum(np.diff(share, prepend=-1) != 0) - 1
        first, last = texts.gather(starts), texts.gather(ends)
        labels = _format(first, last, "]").zip_with(pl.Series(starts != ends), first)
        levels.append(labels.gather(group))
    return levels


def prefixes(
    values: pl.Series | Sequence[Any], column: str = "values", *, drop: Sequence[int] | None = None
) -> Taxonomy:
    """Hide one character more on each level, from the right: ``12345``, ``1234*``, ``123**``.

    Parameters
    ----------
    drop
        How many characters are hidden on each level, ascending; by default 1, 2, 3 and so on up
        to all but one.

    Notes
    -----
    Texts shorter than the longest keep their own label until characters of theirs are hidden.
    """
    texts = texts_of(values, column)
    lengths = texts.str.len_chars()
    named = texts.filter(texts.str.contains(_WORD))
    if drop is None and len(named) > len(texts) / 2:
        raise SchemaError(
            f"Column {column!r} holds names, for instance {named[0]!r}: what begins alike has "
            "nothing else in common. Use frequency, rare or flat, or say how many characters to "
            "hide on each level (drop)."
        )
    longest = int(lengths.to_numpy().max())
    hidden = list(drop) if drop is not None else list(range(1, longest))
    if any(not isinstance(d, int) or d < 1 for d in hidden) or sorted(set(hidden)) != hidden:
        raise ParameterError(
            "The 'drop' parameter of prefixes must be ascending whole numbers from 1, for "
            f"instance (1, 2, 4). Got {tuple(hidden)!r} instead."
        )
    levels = []
    for count in hidden:
        keep = longest - count
        if keep <= 0:
            break
        masked = texts.str.slice(0, keep) + STAR * count
        levels.append(masked.zip_with(lengths > keep, texts))
    return build([texts, *levels], column)


def texts_of(values: pl.Series | Sequence[Any], column: str) -> pl.Series:
    """Return the distinct known texts in their order."""
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    texts = as_text(series).drop_nulls().unique().sort()
    if texts.is_empty():
        raise SchemaError(
            f"Column {column!r} has no known value to make a hierarchy from. "
            "Give values, or leave the column without a hierarchy."
        )
    return texts


def frequencies(values: pl.Series | Sequence[Any], column: str = "values") -> Taxonomy:
    """Put names of about equal frequency together, three or more in a group: ``Cuba, Haiti, Peru``.

    Values that are often met in one class are then near each other, and rare ones hide each other.

    Notes
    -----
    No group below ``*`` has two members: of two that are published as one both must occur, of three
    nobody can tell which. A column of fewer than six values has no group but ``*``.
    """
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    known = as_text(series).drop_nulls().rename("value")
    texts_of(known, column)
    counted = known.value_counts(name="count").sort(["count", "value"], descending=[True, False])
    leaves = counted["value"].to_list()
    taken = set(leaves)
    groups = [[leaf] for leaf in range(len(leaves))]
    levels = [counted["value"]]
    while len(groups) >= 2 * _TOGETHER:
        edges = np.linspace(0, len(groups), len(groups) // _TOGETHER + 1).astype(int)
        groups = [list(itertools.chain(*groups[a:b])) for a, b in itertools.pairwise(edges)]
        labels: list[str] = []
        for group in groups:
            labels += [_named([leaves[leaf] for leaf in group], taken)] * len(group)
        levels.append(pl.Series(labels, dtype=pl.String))
    return build(levels, column)


def _named(members: Sequence[str], taken: set[str]) -> str:
    """Name a group by its members, or the first two of many, as nothing else is named."""
    label = ", ".join(members)
    if len(label) > _LABEL:
        label = f"{', '.join(members[:2])} and {len(members) - 2:,} more"
    while label in taken:
        label = f"({label})"
    taken.add(label)
    return label


def days_of(values: pl.Series | Sequence[Any], column: str) -> tuple[pl.Series, pl.Series]:
    """Return the distinct texts of dates in their order, and the dates: also of 31.12.2024."""
    raw = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    if raw.dtype == pl.String:
        texts = raw.drop_nulls().unique()
        read = texts.str.strip_chars().str.to_date("%d.%m.%Y", strict=False)
        if len(texts) and not read.null_count():
            order = read.arg_sort()
            return texts.gather(order), read.gather(order)
    known = _series(values).drop_nulls().unique().sort()
    if known.is_empty() or not isinstance(known.dtype, pl.Date | pl.Datetime):
        example = "" if known.is_empty() else f", for instance {as_text(known)[0]!r}"
        raise SchemaError(
            f"Column {column!r} holds no dates{example}. Dates are written YYYY-MM-DD or "
            "DD.MM.YYYY; use prefixes or flat for other texts."
        )
    return as_text(known), known


def dates(values: pl.Series | Sequence[Any], column: str = "values") -> Taxonomy:
    """Group dates by month, quarter and year: ``2020-03-14``, ``2020-03``, ``2020-Q1``, ``2020``.

    Moments with a time of day are grouped by day first.
    """
    leaves, known = days_of(values, column)
    month = known.dt.strftime("%Y-%m")
    year = known.dt.strftime("%Y")
    quarter = year + "-Q" + known.dt.quarter().cast(pl.String)
    days = known.dt.strftime("%Y-%m-%d")
    finer = [days] if isinstance(known.dtype, pl.Datetime) and (days != leaves).any() else []
    return build([leaves, *finer, month, quarter, year], column)
