"""Outliers that few people have: cells that reach to them show that somebody is there."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from shoal.base.roles import Kind
from shoal.tables.grid import TailedStep, ends, step_of, usual_range
from shoal.tables.rare import PEOPLE, VALUE, people_by_value
from shoal.tables.schema import Column, Schema


def outlier_warnings(frame: pl.DataFrame, schema: Schema, few: int) -> Iterator[str]:
    """Name the ordered columns with outliers of fewer people than ``few``, with a way out.

    A suggested top or bottom is a multiple of the column's step with so many people beyond it.
    """
    for name in schema.quasi:
        column = schema[name]
        if column.kind is Kind.ORDERED and not column.order and name in frame.columns:
            yield from _of_column(frame, schema, column, few)


def _of_column(frame: pl.DataFrame, schema: Schema, column: Column, few: int) -> Iterator[str]:
    counted = people_by_value(frame, schema, column.name).sort(VALUE)
    values, people = counted[VALUE], counted[PEOPLE]
    if not (values.dtype.is_numeric() or isinstance(values.dtype, pl.Date | pl.Datetime)):
        return
    points = values.to_physical().cast(pl.Float64)
    least, most = usual_range(points.to_numpy())
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


def _way_out(column: Column, values: pl.Series, people: pl.Series, few: int, side: str) -> str:
    flag, publish = ("top", "large") if side == "above" else ("bottom", "small")
    step = step_of(values, "auto", column.name) if values.dtype.is_numeric() else None
    if isinstance(step, TailedStep):
        low, high = ends(values, step.step)
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
