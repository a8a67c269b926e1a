"""Profiles of columns for the page; the table itself is never shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.base.roles import Role
from shoal.ext.web.read_options import on_the_page
from shoal.tables.cells import as_text
from shoal.tables.schema import plain, textual, type_name
from shoal.verbs.first_plan import suggested_rule
from shoal.verbs.inspect import ColumnLook, Inspection

MARKS = ("?", "NA", "N/A", "n/a", "NULL", "null", "None", "none", "-", "--", ".", "#N/A")
_BINS = 24
_TOP = 8
_ROWS = 8
_LONG = 60  # characters of a cell that are shown


def profile(frame: pl.DataFrame, inspection: Inspection) -> dict[str, Any]:
    """Return the profile of a table as plain data."""
    return {
        "rows": inspection.rows,
        "columns": [
            column(frame[look.column.name], look, number)
            for number, look in enumerate(inspection.columns)
        ],
        "sample": _sample(frame, inspection),
        "marks": _marks(frame),
        "not_people": on_the_page(inspection.not_people),
        "singling": _singling(inspection.singling.to_dict()),
        "unusable": [
            look.column.name for look in inspection.columns if not look.column.name.strip()
        ],
    }


def _singling(found: dict[str, Any]) -> dict[str, Any]:
    """Add the combinations to show: those that single out more rows than all within them."""
    every = sorted([*found["columns"], *found["together"]], key=lambda one: len(one["columns"]))
    shown: list[dict[str, Any]] = []
    for one in every:
        within = [each for each in shown if {*each["columns"]} < {*one["columns"]}]
        if one["unique"] > max((each["unique"] for each in within), default=0):
            shown.append(one)
    return {**found, "shown": sorted(shown, key=lambda one: -one["unique"])}


def column(series: pl.Series, look: ColumnLook, number: int) -> dict[str, Any]:
    """Return the profile of one column; of an identifier no value is shown."""
    shown = look.column.role not in (Role.IDENTIFIER, Role.PERSON) and plain(series.dtype)
    return {
        "number": number,
        "name": look.column.name,
        "type": type_name(series.dtype),
        "missing": look.missing,
        "distinct": look.distinct,
        "role": look.column.role.value,
        "kind": look.column.kind.value if look.column.kind else None,
        "reason": look.column.reason,
        "plain": plain(series.dtype),
        "rule": suggested_rule(series)[0] if plain(series.dtype) else None,
        "shape": _shape(series) if shown else None,
    }


def _shape(series: pl.Series) -> dict[str, Any] | None:
    """Return how the known values are spread: bins of numbers, or the most frequent values."""
    known = series.drop_nulls()
    if known.is_empty():
        return None
    numeric = known.dtype.is_numeric() or known.dtype.is_temporal()
    if numeric and known.n_unique() > _TOP:
        points = known.to_physical().cast(pl.Float64).to_numpy()
        points = points[np.isfinite(points)]
        if points.size and points.min() < points.max():
            counts, _ = np.histogram(points, _BINS)
            low, high = (
                as_text(pl.Series([known.min(), known.max()], dtype=known.dtype))
            ).to_list()
            return {"how": "bins", "counts": counts.tolist(), "low": low, "high": high}
    counted = as_text(known).rename("value").value_counts(name="count")
    top = counted.sort(["count", "value"], descending=[True, False]).head(_TOP)
    rest = len(known) - int(top["count"].sum())
    values = [{"value": clip(value), "count": count} for value, count in top.iter_rows()]
    return {"how": "top", "values": values, "rest": rest, "others": counted.height - top.height}


def clip(text: str) -> str:
    """Shorten a cell that would fill the page."""
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _sample(frame: pl.DataFrame, inspection: Inspection) -> list[list[str | None]]:
    """Return a few rows spread over the table; what names or harms a person stays hidden."""
    places = np.linspace(0, frame.height - 1, min(_ROWS, frame.height)).astype(np.int64)
    picked = frame[np.unique(places)]
    columns: list[list[str | None]] = []
    for look in inspection.columns:
        series = picked[look.column.name]
        if look.column.role in (Role.IDENTIFIER, Role.PERSON, Role.SENSITIVE):
            columns.append(["hidden"] * picked.height)
        elif plain(series.dtype):
            columns.append([None if c is None else clip(c) for c in as_text(series).to_list()])
        else:
            columns.append(["…"] * picked.height)
    return [list(row) for row in zip(*columns, strict=True)]


def _marks(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return texts that often mean missing, and how many cells hold them."""
    marks: dict[str, dict[str, Any]] = {}
    for series in frame:
        if not textual(series.dtype):
            continue
        texts = series.cast(pl.String).str.strip_chars()
        counted = texts.filter(texts.is_in(MARKS)).rename("value").value_counts(name="count")
        for value, count in counted.iter_rows():
            mark = marks.setdefault(value, {"text": value, "cells": 0, "columns": []})
            mark["cells"] += count
            mark["columns"].append(series.name)
    return sorted(marks.values(), key=lambda mark: -int(mark["cells"]))
