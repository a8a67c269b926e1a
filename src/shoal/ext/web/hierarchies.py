"""Make, upload and edit hierarchies on the page, and find missing values in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import SchemaError, ShoalError
from shoal.base.roles import Kind, Role
from shoal.ext.web import trees
from shoal.ext.web.trees import LabelTree
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.domain import Taxonomy
from shoal.tables.hierarchy import read_hierarchy, write_hierarchy
from shoal.tables.hierarchy_methods import MAKERS, make
from shoal.tables.schema import Column

_SHOWN = 1500  # lines of a tree that a page can bear
_WAYS, _FEW = 3, 20  # suggestions; ages of a table, rather than numbers of children
_LISTED = 200  # values without a place that are listed


def work(frame: pl.DataFrame, column: str, do: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one step on the file of a hierarchy and return what the page shows of it."""
    path = Path(settings["path"])
    if do == "suggest":
        return {"ways": _suggest(frame[column], column)}
    if do == "preview":
        return _told(frame, column, _make(frame, column, settings))
    if do != "show":
        write_hierarchy(_STEPS[do](frame, column, settings), path, force=True)
    return _told(frame, column, read_hierarchy(path, column)) if path.exists() else {"there": False}


def lacking(taxonomy: Taxonomy, series: pl.Series, column: Column) -> dict[str, Any]:
    """Return the values that have no place in a hierarchy, and how many rows hold them."""
    leaves = pl.Series("value", taxonomy.values, dtype=pl.String)
    counted = as_text(column.clean(series)).drop_nulls().rename("value").value_counts(name="count")
    left = counted.filter(~pl.col("value").is_in(leaves.implode()))
    left = left.sort(["count", "value"], descending=[True, False])
    return {
        "rows": int(left["count"].sum()),
        "values": left["value"].to_list(),
        "counts": left["count"].to_list(),
    }


def _told(frame: pl.DataFrame, column: str, taxonomy: Taxonomy) -> dict[str, Any]:
    left = lacking(taxonomy, frame[column], Column(column, Role.QUASI, Kind.TAXONOMY))
    known = frame.height - frame[column].null_count()
    shown: dict[str, Any] = {
        "there": True,
        "leaves": taxonomy.size,
        "levels": int(taxonomy.levels.shape[0]),
        "groups": len(taxonomy.labels) - taxonomy.size - 1,
        "known": known,
        "covered": known - left["rows"],
        "lacking": [
            {"value": value, "rows": rows}
            for value, rows in zip(left["values"][:_LISTED], left["counts"][:_LISTED], strict=True)
        ],
        "lacking_values": len(left["values"]),
        "tree": None,
        "outline": None,
        "inner": [],
    }
    if len(set(taxonomy.labels)) == len(taxonomy.labels):
        tree = trees.from_taxonomy(taxonomy, column)
        shown["inner"] = tree.inner()[:_SHOWN]
        if len(taxonomy.labels) <= _SHOWN:
            shown["tree"] = _nested(tree, _rows_by_value(frame[column]))
            shown["outline"] = trees.to_outline(tree)
    return shown


def _rows_by_value(series: pl.Series) -> dict[str, int]:
    counted = (
        as_text(missing_to_null(series)).drop_nulls().rename("value").value_counts(name="count")
    )
    return dict(counted.iter_rows())


def _nested(tree: LabelTree, rows: Mapping[str, int]) -> dict[str, Any]:
    def node(label: str) -> dict[str, Any]:
        below = [node(child) for child in tree.children.get(label, ())]
        count = sum(child["rows"] for child in below) if below else rows.get(label, 0)
        return {"label": label, "rows": count, "children": below, "leaf": not below}

    return node(tree.top)


def _make(frame: pl.DataFrame, column: str, settings: Mapping[str, Any]) -> Taxonomy:
    how, text = settings["how"], settings.get("numbers", "").strip()
    takes = MAKERS[how].takes[:1] if how in MAKERS and text else ()
    return make(how, frame[column], column, dict.fromkeys(takes, text))


def _suggest(series: pl.Series, column: str) -> list[dict[str, Any]]:
    """Return the few ways to make a hierarchy that suit the values, each with an example."""
    known = as_text(missing_to_null(series)).drop_nulls()
    ways: list[dict[str, Any]] = []
    for how in _suiting(series.drop_nulls(), known):
        try:
            tree = make(how, series, column, {})
        except ShoalError:
            continue  # they are no countries, say
        if tree.levels.shape[0] > 2 and len(ways) < _WAYS:
            often = tree.values.index(known.mode().sort()[0])
            labels = [tree.labels[node] for node in tree.levels[:, often].tolist()]
            ways.append({"how": how, "path": [*dict.fromkeys(labels)]})
    return ways


def _suiting(known: pl.Series, texts: pl.Series) -> tuple[str, ...]:
    if known.is_empty():
        return ()
    if known.dtype.is_temporal():
        return "dates", "weeks", "decades"
    if known.dtype.is_numeric():
        aged = known.is_between(0, 130).all() and known.n_unique() > _FEW
        return (*(("ages",) if aged else ()), "intervals", "quantiles")
    codes = texts.str.len_chars().n_unique() == 1 and texts.str.contains(r"\d").all()
    return ("country", "icd10", "nuts", *(("prefixes",) if codes else ()), "frequency", "rare")


def _upload(_frame: pl.DataFrame, column: str, settings: Mapping[str, Any]) -> Taxonomy:
    try:
        return read_hierarchy(settings["file"], column)
    except SchemaError as error:
        # The name of our temporary file would tell the reader nothing.
        hidden = f" (file {settings['file']})"
        raise SchemaError([fault.replace(hidden, "") for fault in error.faults]) from None


def _outline(_frame: pl.DataFrame, column: str, settings: Mapping[str, Any]) -> Taxonomy:
    return trees.to_taxonomy(trees.from_outline(settings["text"], column), column)


def _add(frame: pl.DataFrame, column: str, settings: Mapping[str, Any]) -> Taxonomy:
    """Give every value that has no place one under a group."""
    taxonomy = read_hierarchy(settings["path"], column)
    left = lacking(taxonomy, frame[column], Column(column, Role.QUASI, Kind.TAXONOMY))
    tree = trees.from_taxonomy(taxonomy, column)
    return trees.to_taxonomy(trees.add(tree, left["values"], settings["under"]), column)


def _rare(frame: pl.DataFrame, column: str, settings: Mapping[str, Any]) -> Taxonomy:
    """Put values that few rows have into one group, beside what stands where they stood."""
    text = str(settings.get("least", "")).strip()
    if not text.isdecimal() or int(text) < 2:
        raise SchemaError(
            f"The number of rows must be a whole number from 2. Got {text!r} instead."
        )
    tree = trees.from_taxonomy(read_hierarchy(settings["path"], column), column)
    rows = _rows_by_value(frame[column])
    name, merged = "rare values", 0
    for parent in tree.inner():
        below = tree.children[parent]
        few = [v for v in below if v not in tree.children and rows.get(v, 0) < int(text)]
        if 1 < len(few) < len(below):  # where all are rare, what stands above them is their group
            tree = trees.group(
                tree, parent, few, name if parent == tree.top else f"{name} ({parent})"
            )
            merged += len(few)
    if not merged:
        raise SchemaError(
            f"Nothing was grouped: no group of the hierarchy holds several values with fewer than "
            f"{text} rows next to others with more. Give another number, or edit the text."
        )
    return trees.to_taxonomy(tree, column)


_STEPS: dict[str, Callable[[pl.DataFrame, str, Mapping[str, Any]], Taxonomy]] = {
    "make": _make,
    "upload": _upload,
    "outline": _outline,
    "add": _add,
    "rare": _rare,
}
