"""Cells that are published as their two ends, ``x_lo`` and ``x_hi``, and perhaps their middle.

What is asked here of published tables shares nothing with what makes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.tables.cells import as_text
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.label_spans import label_spans

ENDS = ("_lo", "_hi")
MIDDLE = "_mid"


def ends_of(frame: pl.DataFrame, name: str) -> list[str]:
    """Return the columns that a quasi-identifier is published as besides its own, if any.

    ``x_mid`` is one of them if it says no more than the two ends do.
    """
    pair = [name + end for end in ENDS]
    if not all(end in frame.columns for end in pair):
        return []
    middle = name + MIDDLE
    held = middle in frame.columns and _is_middle(frame[middle], *(frame[end] for end in pair))
    return [*pair, middle] if held else pair


def all_ends(frame: pl.DataFrame, names: Sequence[str]) -> set[str]:
    """Return the columns that hold ends or middles of some quasi-identifiers."""
    return {end for name in names for end in ends_of(frame, name)}


def _is_middle(middle: pl.Series, low: pl.Series, high: pl.Series) -> bool:
    """Tell whether a column is half-way between two others everywhere, to the nearest tick."""
    numeric = all(each.dtype.is_numeric() for each in (middle, low, high))
    timed = low.dtype == high.dtype and low.dtype.is_temporal() and middle.dtype == low.dtype
    if not (numeric or timed) or not (middle.is_null() == low.is_null()).all():
        return False
    if not numeric:  # in whole ticks: so many nanoseconds are no float
        at, first, last = (each.to_physical().cast(pl.Int64) for each in (middle, low, high))
        return not (((at - first) - (last - at)).abs() > 1).any()
    at, first, last = (each.cast(pl.Float64) for each in (middle, low, high))
    size = pl.select(pl.max_horizontal(first.abs(), last.abs(), pl.lit(1.0))).to_series()
    return not ((at - (first + last) / 2).abs() > size * 1e-9).any()


def cell_texts(
    cells: pl.DataFrame, name: str, taxonomy: Taxonomy | None = None, between: str = "[{}-{}]"
) -> pl.Series:
    """Return the cells of a column as texts, also of one that is published as its ends.

    ``taxonomy``: of a hierarchy of numbers, whose labels the ends stand for.
    """
    if name in cells.columns:
        return as_text(cells[name]).fill_null(STAR)
    low, high = (as_text(cells[name + end]) for end in ENDS)
    texts = pl.select(
        pl.when(low == high)
        .then(low)
        .when(low.is_null() | high.is_null())
        .then(pl.lit(STAR))
        .otherwise(pl.format(between, low, high))
    ).to_series()
    reach = None if taxonomy is None else label_spans(taxonomy)
    if reach is None or taxonomy is None:
        return texts
    nodes = pl.DataFrame({"lo": reach[0], "hi": reach[1], "label": taxonomy.labels})
    pairs = pl.DataFrame({end: cells[name + end].cast(pl.Float64) for end in ENDS})
    texts_of = pairs.join(
        nodes.with_columns(pl.col("lo", "hi").cast(pl.Float64)),
        left_on=list(ENDS),
        right_on=["lo", "hi"],
        how="left",
        maintain_order="left",
    )["label"]
    return texts_of.fill_null(texts)
