"""A release as an analyst wants it: numbers, categories, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.releases.notation import read_labels
from shoal.report.dictionary import TYPES, ends, read_dictionary
from shoal.tables.cells import as_text
from shoal.tables.files import read_table


@dataclass(frozen=True, eq=False)
class Analysis:
    """A release that was read with its dictionary: ``frame``, and per column what it means."""

    frame: pl.DataFrame
    columns: dict[str, dict[str, Any]]


def read_release(path: str | Path) -> Analysis:
    """Read a release with the dictionary beside it (``--dictionary``), ready to be computed with.

    An ordered column ``age`` becomes ``age_lo``, ``age_hi`` and ``age_mid`` (of dates the middle
    day), nulls where the cell says nothing; one with a hierarchy keeps its cells and gets
    ``age_level``, an ordered category from ``exact`` to the coarsest level published; everything
    else has the type that the dictionary names.
    """
    file = Path(path)
    told = read_dictionary(file)
    columns: dict[str, dict[str, Any]] = told["columns"]
    quasi = [name for name, column in columns.items() if column.get("shoal:role") == "quasi"]
    frame = read_table(file, text=quasi, quoted=True)
    result: list[pl.Series] = []
    for column in frame:
        result += _analysed(column, columns.get(column.name, {}))
    return Analysis(pl.DataFrame(result), columns)


def _analysed(column: pl.Series, told: dict[str, Any]) -> list[pl.Series]:
    name, kind = column.name, told.get("shoal:kind")
    dtype = TYPES.get(str(told.get("shoal:values")))
    if name.endswith(("_lo", "_hi")) and told.get("shoal:role") == "quasi":
        kind = None
    if kind == "ordered" and dtype is not None:
        sides = ends(as_text(column), dtype)
        if sides is not None:
            low, high = sides
            return [low.alias(f"{name}_lo"), high.alias(f"{name}_hi"), _middle(name, low, high)]
    if levels := told.get("shoal:levels"):
        return [column.cast(pl.Categorical), _level(column, levels)]
    if dtype is not None and column.dtype == pl.String:
        return [column.cast(dtype, strict=False) if dtype != pl.Date else column.str.to_date()]
    return [column]


def _middle(name: str, low: pl.Series, high: pl.Series) -> pl.Series:
    if low.dtype.is_temporal():
        return (low + (high - low) / 2).alias(f"{name}_mid")
    middle = ((low + high) / 2).alias(f"{name}_mid")
    return middle.set(~middle.is_finite(), None)  # 90+ has none


def _level(column: pl.Series, levels: dict[str, int]) -> pl.Series:
    """Return at which level every cell stands, as an ordered category."""
    numbers = sorted(set(levels.values()))
    words = {level: "exact" if level == 0 else f"level {level}" for level in numbers}
    named = {label: words[level] for label, level in levels.items()}
    texts = read_labels(as_text(column)).replace_strict(
        list(named), list(named.values()), default=None, return_dtype=pl.String
    )
    return texts.cast(pl.Enum([words[level] for level in numbers])).alias(f"{column.name}_level")
