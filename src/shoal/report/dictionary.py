"""A data dictionary of a release: what every column is, from its published cells alone.

As CSVW (https://www.w3.org/TR/tabular-metadata/) for programs, and as a page for people.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl

from shoal import __version__
from shoal.base.atomic import atomic_files
from shoal.base.errors import InputError
from shoal.base.parsing import Unreadable
from shoal.base.roles import Kind, Role
from shoal.releases.notation import read_labels, read_ordered
from shoal.releases.opened import Opened
from shoal.report.render import render
from shoal.report.words import GLOSSARY, role_words
from shoal.show.figures.column_values import read_column
from shoal.show.figures.subject import Subject
from shoal.tables.cells import as_text, infer_type
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Column

SUFFIX = "-metadata.json"  # the name that CSVW looks for beside a file
PAGE = ".dictionary.html"
_COLUMN: dict[Any, Any] = {"name": str, "shoal:role": str, "shoal:kind?": str, "shoal:values?": str}
_FORM: dict[Any, Any] = {
    str: object,
    "tableSchema": {
        str: object,
        "columns": [{str: object, **_COLUMN, "shoal:levels?": {str: int}}],
    },
}
_CONTEXT = ["http://www.w3.org/ns/csvw", {"shoal": "urn:shoal:dictionary:"}]
TYPES: dict[str, Any] = {
    "integer": pl.Int64,
    "double": pl.Float64,
    "date": pl.Date,
    "dateTime": pl.Datetime("us"),
    "boolean": pl.Boolean,
}
_CELLS = {
    Kind.ORDERED: "a value, an interval [low-high] with both ends in it, or * (any value)",
    Kind.TAXONOMY: "a value, a label of its hierarchy, or * (any value)",
    Kind.SET: "a value, a set {a, b} one of which it is, or * (any value)",
}


def dictionary(opened: Opened, file: str) -> dict[str, Any]:
    """Return the dictionary of a release that lies in ``file``."""
    subject = Subject(opened)
    columns = [
        entry
        for column in opened.columns
        if column.role.published
        for entry in _entries(subject, column)
    ]
    columns.sort(key=lambda entry: opened.frame.columns.index(entry["name"]))
    return {
        "@context": _CONTEXT,
        "url": file,
        "dc:title": file,
        "shoal:rows": opened.frame.height,
        "shoal:shape": opened.shape.name,
        "tableSchema": {"columns": columns},
    }


def _entries(subject: Subject, column: Column) -> list[dict[str, Any]]:
    """Return what is said of a column; a typed one has two."""
    frame = subject.opened.frame
    name, kind = column.name, column.kind if column.role is Role.QUASI else None
    pair = [f"{name}_lo", f"{name}_hi"]
    names = [name] if name in frame.columns else [end for end in pair if end in frame.columns]
    reading = read_column(subject.opened, name) if names else None
    common: dict[str, Any] = {"shoal:role": column.role.value}
    if kind is not None and not subject.exact:
        common |= {"shoal:kind": kind.value, "shoal:cells": _CELLS[kind]}
        declared = subject.opened.plan.columns.get(name)
        if declared is not None and declared.grid not in (None, "off"):
            common["shoal:grid"] = str(declared.grid)
        tree = subject.opened.taxonomies.get(name)
        if tree is not None and name in frame.columns:
            common["shoal:levels"] = _levels(frame[name], tree)
    if reading is not None:
        shares = {"exact": reading.exact, "wide": reading.wide, "nothing": reading.silent}
        common["shoal:shares"] = {key: round(share, 6) for key, share in shares.items()}
    told = []
    for one in names:
        values, base = _datatype(frame[one], kind if one == name else None)
        entry = {"name": one, "titles": one, "datatype": "string", **common}
        if base is not None:
            entry["shoal:values"] = base
            entry["datatype"] = base if values else "string"
        entry["dc:description"] = _described(column, one)
        told.append(entry)
    return told


def _described(column: Column, name: str) -> str:
    role = role_words(column.role)
    if name != column.name:
        end = "lowest" if name.endswith("_lo") else "highest"
        return f"{role}: {end} value that {column.name} may have"
    if column.role is Role.QUASI and column.kind is not None:
        return f"{role}: {_CELLS[column.kind]}"
    return f"{role}: unchanged"


def _levels(cells: pl.Series, tree: Taxonomy) -> dict[str, int]:
    """Return at which level of its hierarchy every published label stands; 0: a value."""
    shown = set(read_labels(as_text(cells).drop_nulls().unique()).to_list()) - {STAR}
    levels: dict[str, int] = {}
    for level in range(tree.levels.shape[0]):
        for node in dict.fromkeys(tree.levels[level].tolist()):
            if tree.labels[node] in shown:
                levels.setdefault(tree.labels[node], level)
    return dict(sorted(levels.items(), key=lambda item: (item[1], item[0])))


def _datatype(cells: pl.Series, kind: Kind | None) -> tuple[bool, str | None]:
    """Return whether cells are values of a type of CSVW by themselves, and the type they name."""
    bare = infer_type(cells)
    own = next((name for name, dtype in TYPES.items() if _same(bare.dtype, dtype)), None)
    if own is not None:
        return True, own
    if kind is Kind.ORDERED:
        for name, dtype in TYPES.items():
            if name != "boolean" and ends(as_text(cells), dtype) is not None:
                return False, name
    return False, None


def _same(dtype: pl.DataType, wanted: Any) -> bool:
    if wanted == pl.Int64:
        return dtype.is_integer()
    if wanted == pl.Float64:
        return dtype.is_float()
    return isinstance(dtype, pl.Datetime) if isinstance(wanted, pl.Datetime) else dtype == wanted


def ends(cells: pl.Series, dtype: Any) -> tuple[pl.Series, pl.Series] | None:
    """Return the two ends of every cell as values of a type, or None if they are not of it."""
    try:
        sides = read_ordered(cells, dtype)
    except InputError:
        return None
    result = []
    for side in ("lo", "hi"):
        # Top and bottom coded numbers are open at an end.
        open_ = sides[side].is_in(["inf", "-inf"]).fill_null(value=False)
        value = infer_type(sides[side].set(open_, None))
        value = value.cast(dtype, strict=False) if value.dtype != pl.String else value
        if open_.any() and dtype == pl.Float64 and value.dtype == dtype:
            value = value.set(open_, -math.inf if side == "lo" else math.inf)
        if value.dtype != dtype or value.null_count() != sides[side].null_count():
            return None
        result.append(value)
    return result[0], result[1]


def as_page(told: dict[str, Any]) -> str:
    """Return the dictionary as a page for people."""
    return render(
        "dictionary.html",
        kicker="Data dictionary",
        heading=told["dc:title"],
        version=__version__,
        glossary=GLOSSARY,
        rows=told["shoal:rows"],
        columns=told["tableSchema"]["columns"],
    )


def texts(opened: Opened, file: str) -> dict[str, str]:
    """Return the two files of a dictionary, by what their names add to the release's."""
    told = dictionary(opened, file)
    return {SUFFIX: json.dumps(told, indent=2, ensure_ascii=False) + "\n", PAGE: as_page(told)}


def write_dictionary(opened: Opened, path: Path, *, force: bool) -> None:
    """Write the two files of a dictionary beside a release."""
    with atomic_files() as files:
        for end, text in texts(opened, path.name).items():
            with files.open(path.with_name(path.name + end), force=force) as stream:
                stream.write(text.encode())


def by_column(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a dictionary says of each column, by name."""
    return {column["name"]: column for column in told["tableSchema"]["columns"]}


def read_dictionary(release: Path) -> dict[str, dict[str, Any]] | None:
    """Return what the dictionary beside a release says of each column; None without one."""
    path = release.with_name(release.name + SUFFIX)
    if not path.is_file():
        return None
    unreadable = Unreadable(
        f"The dictionary {path} cannot be read",
        "Write the release with --dictionary again, or say what its columns are (quasi=[...], "
        "plan=...).",
    )
    with unreadable.parsing("json"):
        told = json.loads(path.read_bytes().decode())
    unreadable.check_shape(told, _FORM)
    with unreadable.parsing("number"):  # words that are none of ours
        for column in told["tableSchema"]["columns"]:
            Role(column["shoal:role"])
            Kind(column.get("shoal:kind", Kind.SET))
    return by_column(told)
