"""Read and check the table of counterfeits of an m-invariant release."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.base.errors import format_names
from shoal.base.partition import Ints
from shoal.releases.published import Published
from shoal.tables.cells import infer_type, missing_to_null, own_text

COUNTERFEITS = "counterfeits"
"""The table of a release that says how many counterfeits a class has, and its column."""


def class_names(published: Published) -> pl.Series:
    """Return what every class is called in a history: its published cells."""
    return _named(published.cells, published.columns)


def false_rows(published: Published, table: pl.DataFrame | None) -> tuple[Ints, list[str]]:
    """Return how many counterfeits every class is told to have, and what is wrong with that.

    A table with a fault is not believed at all.
    """
    none = np.zeros(published.sizes.size, np.int64)
    if table is None:
        return none, []
    wanted = [*published.columns, COUNTERFEITS]
    if lacking := [name for name in wanted if name not in table.columns]:
        return none, [
            f"The table of counterfeits has no column {format_names(lacking)}; it has: "
            f"{format_names(table.columns)}."
        ]
    counts = table[COUNTERFEITS]
    if not counts.dtype.is_integer() or counts.null_count() or (counts < 1).any():
        return none, ["The table of counterfeits has a count that is not a whole number above 0."]
    alike = [_alike(table[name], published.cells[name].dtype) for name in published.columns]
    names = _named(pl.DataFrame(alike), published.columns)
    own = pl.DataFrame({"class": class_names(published), "rows": published.sizes})
    many = pl.DataFrame({"class": names, "told": counts.cast(pl.Int64)})
    both = own.join(many.unique("class"), on="class", how="left", maintain_order="left")
    false = both["told"].fill_null(0).to_numpy().astype(np.int64)
    faults = []
    if twice := int(names.is_duplicated().sum()):
        faults.append(f"The table of counterfeits names {twice:,} classes more than once.")
    if strange := int((~names.is_in(own["class"].to_list())).sum()):
        faults.append(f"The table of counterfeits names {strange:,} classes that are not released.")
    # A class of counterfeits alone would tell that they are: no honest release has one.
    if empty := int((false >= published.sizes).sum()):
        faults.append(f"{empty:,} classes are said to hold only counterfeits.")
    return (none if faults else false), faults


def _named(cells: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    texts = [own_text(missing_to_null(cells[name])).to_list() for name in columns]
    return pl.Series([json.dumps(each) for each in zip(*texts, strict=True)], dtype=pl.String)


def _alike(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return cells that were read as texts as those of the release say the same.

    A class is known by its cells, and files have several spellings of a number or a moment.
    """
    column = missing_to_null(column)
    if column.dtype != pl.String or not (dtype.is_numeric() or dtype.is_temporal()):
        return column
    read = column.cast(dtype, strict=False) if dtype.is_numeric() else infer_type(column)
    # What cannot be read stays as it is: null would be another cell.
    return pl.select(
        pl.when(read.is_null()).then(column).otherwise(own_text(read)).alias(column.name)
    ).to_series()
