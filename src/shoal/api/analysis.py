"""Give analysts numbers and categories in place of published cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.roles import Kind, Role
from shoal.releases.ends import ENDS
from shoal.releases.notation import read_labels
from shoal.releases.opened import Opened
from shoal.report.dictionary import TYPES, by_column, dictionary, ends, read_dictionary
from shoal.tables.cells import as_text

Dictionary = Mapping[str, dict[str, Any]]
"""What a data dictionary says of every column, by name."""
Kinds = Mapping[str, Kind | str] | None


def declared_beside(
    released: Path, roles: Mapping[Role, Any], kinds: Kinds
) -> tuple[Dictionary | None, Mapping[Role, Any], Kinds]:
    """Return the dictionary beside a release, and the roles and kinds of columns that it gives."""
    columns = read_dictionary(released)
    if columns is None:
        return None, roles, kinds
    own_roles: dict[Role, list[str]] = {}
    own_kinds: dict[str, Kind | str] = {}
    ends = {f"{name[:-3]}{end}" for name in columns for end in ENDS if name.endswith(ENDS[0])}
    for name, column in columns.items():
        role = Role(column["shoal:role"])
        plain = name[:-3] if role is Role.QUASI and name in ends else name
        own_roles.setdefault(role, []).append(plain)
        if kind := column.get("shoal:kind"):
            own_kinds[plain] = kind
    unique = {role: list(dict.fromkeys(names)) for role, names in own_roles.items()}
    return columns, unique, {**own_kinds, **(kinds or {})}


def analysis_frame(opened: Opened, columns: Dictionary | None) -> pl.DataFrame:
    """Return a release in columns to compute with; ``columns``: as the dictionary beside it says.

    An ordered column ``age`` becomes ``age_lo``, ``age_hi`` and ``age_mid`` (of dates the middle
    day), nulls where the cell says nothing; one with a hierarchy keeps its cells and gets
    ``age_level``, an ordered category from ``exact`` to the coarsest level published; everything
    else has the type that the dictionary names.
    """
    told = columns or by_column(dictionary(opened, ""))
    return pl.DataFrame(
        [part for each in opened.frame for part in _analysed(each, told.get(each.name, {}))]
    )


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
