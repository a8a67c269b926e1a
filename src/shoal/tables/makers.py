"""Make hierarchies from the values of a column: intervals, prefixes, dates, frequencies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError
from shoal.base.partition import Floats, Ints
from shoal.tables.cells import as_text, infer_type
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.interval_labels import divisors, equal_widths, quantiles
from shoal.tables.rare_labels import find_rare_labels

COMMON = 10  # cells that have a value which a label names: k where nobody says it
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
        levels = quantiles(points, counts, divisors(steps or (16, 8, 4, 2)))
    else:
        levels = equal_widths(points, steps, widths)
    return build([texts, *levels], column)


def build(levels: Sequence[pl.Series], column: str) -> Taxonomy:
    """Put ``*`` over the levels, leaving out those that say nothing more than ``*``."""
    kept = [levels[0], *(level for level in levels[1:] if level.n_unique() > 1)]
    top = pl.repeat(STAR, len(levels[0]), dtype=pl.String, eager=True)
    return Taxonomy.from_levels([*kept, top], column)


def _series(values: pl.Series | Sequence[Any]) -> pl.Series:
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    return infer_type(series)


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


def frequencies(
    values: pl.Series | Sequence[Any], column: str = "values", *, few: int = COMMON
) -> Taxonomy:
    """Put names of about equal frequency together, three or more in a group: ``Cuba, Haiti, Peru``.

    Values that are often met in one class are then near each other, and rare ones hide each other.

    Parameters
    ----------
    few
        A label names a value only if so many cells have it. Give each person's cells once if people
        have several rows.

    Notes
    -----
    No group below ``*`` has two members: of two that are published as one both must occur, of three
    nobody can tell which. A column of fewer than six values has no group but ``*``.
    """
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    known = as_text(series).drop_nulls().rename("value")
    texts_of(known, column)
    counted = known.value_counts(name="count").sort(["count", "value"], descending=[True, False])
    leaves, common = counted["value"].to_list(), int((counted["count"] >= few).sum())
    taken, neutral = set(leaves), _neutral_names()
    groups = [[leaf] for leaf in range(len(leaves))]
    levels = [counted["value"]]
    while len(groups) >= 2 * _TOGETHER:
        edges = np.linspace(0, len(groups), len(groups) // _TOGETHER + 1).astype(int)
        groups = [list(itertools.chain(*groups[a:b])) for a, b in itertools.pairwise(edges)]
        labels: list[str] = []
        for group in groups:
            named = [leaves[leaf] for leaf in group if leaf < common]
            labels += [_named(named, len(group), taken, neutral)] * len(group)
        levels.append(pl.Series(labels, dtype=pl.String))
    return unnamed(build(levels, column), counted.filter(pl.col("count") < few)["value"])


def _named(members: Sequence[str], size: int, taken: set[str], neutral: Iterator[str]) -> str:
    """Name a group by its common members, or the first two of many, as nothing else is named."""
    if not members:
        return _free(neutral, taken)
    label = ", ".join(members)
    if len(label) > _LABEL or len(members) < size:
        shown = members[:2] if len(label) > _LABEL else members
        label = f"{', '.join(shown)} and {size - len(shown):,} more"
    while label in taken:
        label = f"({label})"
    taken.add(label)
    return label


def _neutral_names() -> Iterator[str]:
    """Yield names for groups that say nothing of their members."""
    return (f"rare values {number}" for number in itertools.count(1))


def _free(names: Iterator[str], taken: set[str]) -> str:
    """Return the first name that nothing has."""
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def unnamed(tree: Taxonomy, rare: pl.Series) -> Taxonomy:
    """Return a hierarchy with neutral labels for groups that spell out one of some rare values."""
    found = {one.label for one in find_rare_labels(tree, rare)}
    if not found:
        return tree
    taken, neutral = set(tree.labels), _neutral_names()
    names = {label: _free(neutral, taken) for label in tree.labels if label in found}
    return replace(tree, labels=tuple(names.get(label, label) for label in tree.labels))


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
