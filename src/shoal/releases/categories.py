"""Sort the values of published columns into categories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError, format_names, suggest_nearest
from shoal.base.partition import Bools, Ints
from shoal.releases.base import By
from shoal.tables.cells import as_text, find_positions, infer_type, sorted_values

MISSING = "(missing)"
MOST = 100_000  # combinations that a table of estimates may have


@dataclass(frozen=True, eq=False)
class Coded:
    """A column: its values, ascending, and the position of every row (their number: missing)."""

    name: str
    values: pl.Series
    codes: Ints

    @classmethod
    def encode(cls, column: pl.Series) -> Coded:
        """Take a column that is published as it was."""
        if isinstance(column.dtype, pl.Categorical):
            column = column.cast(pl.String)
        known = sorted_values(column)
        codes = find_positions(column, known)
        return cls(column.name, known, np.where(codes < 0, len(known), codes))

    @property
    def texts(self) -> pl.Series:
        """The values as texts."""
        return as_text(self.values)


@dataclass(frozen=True, eq=False)
class Sorted:
    """Categories of one column: their labels, and the category of every position or -1.

    The last position is missing.
    """

    labels: tuple[str, ...]
    category: Ints


def chosen(values: pl.Series, wanted: Collection[str]) -> Bools:
    """Say which of the values are asked for; the last entry is missing, never asked for."""
    texts = as_text(values)
    if len(texts) < 1000:  # faster than one call of is_in, and workloads ask hundreds of times
        asked = frozenset(wanted)
        return np.array([*(text in asked for text in texts.to_list()), False])
    return np.append(texts.is_in(list(wanted)).to_numpy(), False)


def sort(name: str, values: pl.Series, by: By, *, gaps: bool) -> Sorted:
    """Sort the values of a column into the categories that ``by`` asks for."""
    texts = as_text(values).to_list()
    if by.value is not None:
        if by.value not in texts:
            raise ParameterError(
                f"No row of the release has the value {by.value!r} in column {name!r}; it has "
                f"{format_names(texts)}.{suggest_nearest(by.value, texts)}"
            )
        category = np.where(np.array([*(text == by.value for text in texts), False]), 0, -1)
        return Sorted((by.value,), category.astype(np.int64))
    if by.width is not None:
        labels, category = _intervals(name, values, by.width)
    else:
        labels, category = list(texts), np.arange(len(texts))
    if gaps:
        labels.append(MISSING)
    missing = len(labels) - 1 if gaps else -1
    return Sorted(tuple(labels), np.append(category, missing).astype(np.int64))


def _intervals(name: str, values: pl.Series, width: float) -> tuple[list[str], Ints]:
    numbers = infer_type(values)
    if not numbers.dtype.is_numeric():
        raise ParameterError(
            f"Column {name!r} cannot be cut into intervals of {width:g}: it holds "
            f"{format_names(as_text(values), 3)}, not numbers. Ask for {name} without a width."
        )
    bins = np.floor(numbers.cast(pl.Float64).to_numpy() / width).astype(np.int64)
    different, category = np.unique(bins, return_inverse=True)
    whole = numbers.dtype.is_integer() and float(width).is_integer()
    labels = []
    for number in different.tolist():
        low, high = number * width, (number + 1) * width
        labels.append(f"{low:g}-{high - 1:g}" if whole else f"{low:g} to {high:g}")
    return labels, category.reshape(-1)


def combine(parts: Sequence[Sorted]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of all combinations, the last column running fastest."""
    total = int(np.prod([len(part.labels) for part in parts], dtype=np.float64))
    if total > MOST:
        raise ParameterError(
            f"The question has {total:,} combinations of categories, at most {MOST:,} are "
            "allowed. Split by fewer columns, or by wider intervals (age:10)."
        )
    combined: list[tuple[str, ...]] = [()]
    for part in parts:
        combined = [(*head, label) for head in combined for label in part.labels]
    return tuple(combined)


def read_by(text: str, columns: Sequence[str]) -> By:
    """Read ``sex``, ``age:10`` (intervals of ten) or ``sex=f`` (this value only)."""
    if text in columns:
        return By(text)
    name, equals, value = text.partition("=")
    if equals and name in columns:
        return By(name, value=value)
    name, colon, width = text.rpartition(":")
    if colon and name in columns:
        try:
            number = float(width)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise ParameterError(
                f"The width of the intervals of {name!r} must be a number above 0. "
                f"Got {width!r} instead."
            )
        return By(name, width=number)
    wanted = text.partition("=")[0].rpartition(":")[0] or text.partition("=")[0]
    raise SchemaError(
        f"The release has no column {wanted!r} to split by.{suggest_nearest(wanted, columns)} "
        "It has: "
        f"{format_names(columns)}."
    )
