"""Find interval ends that reveal outliers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from shoal.base.partition import Floats
from shoal.base.roles import Kind
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.grid import (
    FAR,
    FEWEST,
    SPANS,
    TailedStep,
    interval_ends,
    on_multiples,
    step_of,
    usual_range,
)
from shoal.tables.label_spans import label_spans
from shoal.tables.rare import PEOPLE, VALUE, people_by_value
from shoal.tables.schema import Column, Schema


def outlier_warnings(
    frame: pl.DataFrame, schema: Schema, few: int, taxonomies: Mapping[str, Taxonomy] | None = None
) -> Iterator[str]:
    """Name the columns with outliers of fewer people than ``few``, with a way out.

    These are the ordered columns, and those with a hierarchy of intervals. A suggested top or
    bottom is a multiple of the column's step with so many people beyond it.
    """
    for name in schema.quasi:
        column, tree = schema[name], (taxonomies or {}).get(name)
        if column.order or name not in frame.columns or column.kind is Kind.SET:
            continue
        counted = people_by_value(frame, schema, name).sort(VALUE)
        if column.kind is Kind.TAXONOMY:
            counted = counted.clear() if tree is None else _numbers_of(counted, tree)
        yield from _of_column(counted, column, few)


def idle_grids(frame: pl.DataFrame, schema: Schema) -> Iterator[str]:
    """Name the columns of moments whose grid hides nothing, because every value lies on it."""
    for name in schema.quasi:
        column = schema[name]
        if column.kind is not Kind.ORDERED or column.order or name not in frame.columns:
            continue
        values = column.known_values(frame[name])
        if not isinstance(values.dtype, pl.Datetime):
            continue
        step = step_of(values, column.grid, name)
        if step is not None and on_multiples(values, step):
            width = step.step if isinstance(step, TailedStep) else step
            coarser = list(SPANS)[list(SPANS).index(str(width)) + 1 :]
            way = f"a coarser grid (--grid {name}={coarser[0]})" if coarser else "a hierarchy"
            yield (
                f"In column {name!r} every value lies on a full {width}, as the ends of its cells "
                f"do, so these show the very values. Give the column {way}."
            )


def _numbers_of(counted: pl.DataFrame, tree: Taxonomy) -> pl.DataFrame:
    """Return the values under a hierarchy of intervals as numbers; none of another hierarchy.

    None also where nothing but ``*`` stands above the values: that shows nothing.
    """
    if label_spans(tree) is None or {tree.labels[at] for at in tree.levels[1]} == {STAR}:
        return counted.clear()
    number = pl.col(VALUE).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return counted.with_columns(number).drop_nulls(VALUE).sort(VALUE)


def _of_column(counted: pl.DataFrame, column: Column, few: int) -> Iterator[str]:
    values, people = counted[VALUE], counted[PEOPLE]
    if not (values.dtype.is_numeric() or isinstance(values.dtype, pl.Date | pl.Datetime)):
        return
    points = values.to_physical().cast(pl.Float64)
    least, most = _usual_range(points.to_numpy())
    for side, beyond, end in (
        ("above", points > most, column.top),
        ("below", points < least, column.bottom),
    ):
        many = int(people.filter(beyond).sum())
        if not 0 < many < few or end is not None:
            continue
        what = "1 person lies" if many == 1 else f"{many:,} people lie"
        yield (
            f"In column {column.name!r} {what} far {side} all others, and a cell that reaches "
            f"there shows it. {_way_out(column, values, people, few, side)}"
        )


def _usual_range(points: Floats) -> tuple[float, float]:
    """Return the usual range; of three or four values without one that is far from all others."""
    for rest, gaps in ((points[:-1], points[-2:]), (points[1:], points[:2])):
        if 2 < points.size < FEWEST and np.ptp(gaps) > FAR * np.ptp(rest) > 0:
            return float(rest[0]), float(rest[-1])
    return usual_range(points)


def _way_out(column: Column, values: pl.Series, people: pl.Series, few: int, side: str) -> str:
    if column.kind is Kind.TAXONOMY:
        return (
            "Give the column a hierarchy whose outermost interval has an open end, or correct what "
            "is an error, list it as missing, or leave these rows out."
        )
    flag, publish = ("top", "large") if side == "above" else ("bottom", "small")
    step = step_of(values, "auto", column.name) if values.dtype.is_numeric() else None
    if isinstance(step, TailedStep):
        low, high = interval_ends(values, step.step)
        edges = low.reverse() if side == "above" else high
        so_far = (people.reverse() if side == "above" else people).cum_sum()
        enough = edges.filter(so_far >= few)
        if len(enough):
            end = f"{enough[0]:.12g}"
            return (
                f"Publish {publish} values as one (--{flag} {column.name}={end}, "
                f"{flag}={{{column.name!r}: {end}}}), or correct what is an error."
            )
    return "Correct what is an error, list it as missing, or leave these rows out."
