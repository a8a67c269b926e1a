"""Cells that hold a set of values: a list column, or in a text file a JSON list."""

from __future__ import annotations

import json

import polars as pl

SETS = pl.List(pl.String)


def to_json(column: pl.Series) -> pl.Series:
    """Write a column of lists of texts as JSON lists; missing stays missing."""
    elements = column.list.explode(empty_as_null=False, keep_nulls=False)
    known = elements.unique().drop_nulls()
    quoted = pl.Series([json.dumps(text, ensure_ascii=False) for text in known], dtype=pl.String)
    if known.is_empty():
        empty = [None if cell is None else "[]" for cell in column]
        return pl.Series(column.name, empty, pl.String)
    written = pl.DataFrame({"row": pl.arange(len(column), eager=True), "cell": column})
    listed = written.drop_nulls("cell").explode("cell")
    listed = listed.with_columns(
        pl.col("cell").replace_strict(known, quoted, default=None, return_dtype=pl.String)
    )
    joined = listed.group_by("row", maintain_order=True).agg(pl.col("cell").str.join(", "))
    braced = joined.select("row", text=pl.concat_str(pl.lit("["), "cell", pl.lit("]")))
    texts = written.select("row").join(braced, on="row", how="left", maintain_order="left")["text"]
    return texts.alias(column.name)


def read_sets(column: pl.Series) -> pl.Series | None:
    """Return the column as lists of texts, or None when its cells are no sets."""
    if isinstance(column.dtype, pl.List):
        return column.cast(SETS)
    if column.dtype != pl.String:
        return None
    known = column.drop_nulls()
    shaped = known.str.starts_with("[") & known.str.ends_with("]")
    if known.is_empty() or not shaped.all() or not known.head(100).str.contains(r'^\["').all():
        return None
    try:
        return column.str.json_decode(SETS)
    except pl.exceptions.PolarsError:
        return None
