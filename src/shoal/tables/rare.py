"""Find values that few people of a table have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from shoal.plan.rule_specs import smallest_class
from shoal.tables.schema import Schema

FEW = 5
"""Of how many people a value is rare if no rule has a k."""
VALUE, PEOPLE = "value", "people"


def rare_below(specs: Iterable[Mapping[str, Any]]) -> int:
    """Return how many people a value must have under some rules, so that it is not rare."""
    return smallest_class(specs) or FEW


def people_by_value(frame: pl.DataFrame, schema: Schema, name: str) -> pl.DataFrame:
    """Return the known values of a column, in its own type, and how many people have each.

    Rows are counted where no column says whose row it is.
    """
    values = schema[name].clean(frame[name]).alias(VALUE)
    if schema.person is None:
        return values.drop_nulls().value_counts(name=PEOPLE)
    pairs = pl.DataFrame([values, schema.persons(frame).alias(PEOPLE)]).drop_nulls(VALUE)
    return pairs.group_by(VALUE).agg(pl.col(PEOPLE).n_unique())


def once_each(frame: pl.DataFrame, schema: Schema, name: str) -> pl.Series:
    """Return the cells of a column, each value once for each person who has it."""
    values = schema[name].clean(frame[name])
    if schema.person is None:
        return values
    pairs = pl.DataFrame([values.alias(VALUE), schema.persons(frame).alias(PEOPLE)])
    return pairs.unique(maintain_order=True)[VALUE].alias(name)
