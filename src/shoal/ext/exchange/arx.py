"""Projects of ARX (.deid): a zip of XML and CSV becomes a plan and hierarchies.

What is read: ``metadata.xml`` (versions), ``project.xml`` (the separator), ``input/definition.xml``
(roles, types, hierarchies), ``input/config.xml`` (privacy models, suppression limit, weights) and
``input/hierarchies/*.csv``. The rest are Java objects and the results of a run. The table itself
(``data/input.csv``) stays in the project: it is personal data, and nobody asked for a copy.
"""

from __future__ import annotations

import io
import math
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from shoal.base.errors import InputError, SchemaError
from shoal.base.parsing import Unreadable
from shoal.ext.exchange.workbooks import check_size
from shoal.tables.hierarchy import read_hierarchy

_VOCABULARIES = ("1.0", "2.0")
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "keep",
}
_ORDERED = ("Integer", "Decimal", "Date/Time", "Ordinal")
_DATES = {
    "dd.MM.yyyy": "d.m.y",
    "dd/MM/yyyy": "d/m/y",
    "MM/dd/yyyy": "m/d/y",
    "dd-MM-yyyy": "d-m-y",
    "MM-dd-yyyy": "m-d-y",
    "yyyy/MM/dd": "y/m/d",
    "yyyy.MM.dd": "y.m.d",
}
_USUAL_WEIGHT = 0.5  # what ARX gives an attribute; ours is 1
_OF = r" for attribute '(?P<column>.*)'$"
_MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    (r"^(?P<k>\d+)-anonymity$", {"name": "k-anonymity"}),
    (r"^distinct-(?P<l>\d+)-diversity" + _OF, {"name": "l-diversity"}),
    (r"^shannon-entropy-(?P<l>[\d.]+)-diversity" + _OF, {"name": "entropy-l-diversity"}),
    (
        r"^recursive-\((?P<c>[\d.]+), ?(?P<l>\d+)\)-diversity" + _OF,
        {"name": "recursive-l-diversity"},
    ),
    (
        r"^(?P<t>[\d.]+)-closeness with equal ground-distance" + _OF,
        {"name": "t-closeness", "distance": "equal"},
    ),
    (
        r"^(?P<t>[\d.]+)-closeness with ordered distance" + _OF,
        {"name": "t-closeness", "distance": "ordered"},
    ),
    (r"^basic-(?P<beta>[\d.]+)-likeness" + _OF, {"name": "beta-likeness"}),
    (r"^enhanced-(?P<beta>[\d.]+)-likeness" + _OF, {"name": "beta-likeness", "enhanced": True}),
)
_WHOLE = ("k", "l")


@dataclass(frozen=True)
class Project:
    """What a plan takes over from a project: keys, hierarchies by column, and what is left."""

    columns: dict[str, dict[str, Any]]
    rules: list[dict[str, Any]]
    data: dict[str, Any]
    release: Mapping[str, Any]
    hierarchies: Mapping[str, bytes]
    notes: tuple[str, ...]


def read_project(path: Path) -> Project:
    """Read a project of ARX."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Check the name of the project.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror or fault}.") from fault
    with _unreadable(path).parsing("zip"):
        box = zipfile.ZipFile(io.BytesIO(raw))
        check_size(path, box)
    with box:
        return _read(path, box)


def _unreadable(path: Path, what: str = "is not an ARX project, or damaged") -> Unreadable:
    return Unreadable(f"{path} {what}", "Save the project again in ARX.")


def _number(path: Path, text: str | None, what: str) -> float:
    """Read a number of a project."""
    unreadable = _unreadable(path, f"has no number as {what}: {text!r}")
    with unreadable.parsing("number"):
        number = float(text or "")
    if not math.isfinite(number):
        raise unreadable.fault()
    return number


def _read(path: Path, box: zipfile.ZipFile) -> Project:
    about = _tree(path, box, "metadata.xml")
    version, words = about.findtext("version", "?"), about.findtext("vocabulary", "1.0")
    if words not in _VOCABULARIES:
        raise InputError(
            f"{path} was saved by ARX {version} in a form ({words}) that is newer than this "
            f"version of Shoal, which knows {' and '.join(_VOCABULARIES)}. Export the hierarchies "
            "in ARX as CSV, name their folder with --hierarchies, and run shoal init on the table."
        )
    notes: list[str] = []
    columns, dates, trees = _columns(path, box, notes)
    config = _tree(path, box, "input/config.xml")
    _weights(path, config, columns, notes)
    rules = _rules(path, config, columns, notes)
    limit = _number(path, config.findtext("relativeMaxOutliers") or "0", "suppression limit")
    release = {"suppress": limit} if 0 < limit < 1 else {}
    if limit >= 1:
        notes.append("Suppression limit 1: in Shoal at least one row is published. Left out.")
    data: dict[str, Any] = {}
    if "project.xml" in box.namelist():
        sign = _tree(path, box, "project.xml").findtext("separator", "")
        data |= {"delimiter": sign} if sign.strip() or sign == "\t" else {}
    if len(dates) == 1:
        data["dates"] = dates.pop()
    elif dates:
        notes.append(f"Dates in {len(dates)} forms: Shoal reads one form a file, or ISO dates.")
    return Project(columns, rules, data, release, trees, tuple(notes))


def _tree(path: Path, box: zipfile.ZipFile, member: str) -> Xml.Element:
    if member not in box.namelist():
        raise InputError(
            f"{path} is not an ARX project: it holds no {member}. Give a file that ARX saved "
            "(.deid)."
        )
    with _unreadable(path).parsing("zip", "xml"):
        return Xml.fromstring(box.read(member))  # noqa: S314 -- expat bounds entities


def _columns(
    path: Path, box: zipfile.ZipFile, notes: list[str]
) -> tuple[dict[str, dict[str, Any]], set[str], dict[str, bytes]]:
    """Return roles and kinds, the forms of dates, and hierarchies."""
    columns: dict[str, dict[str, Any]] = {}
    dates: set[str] = set()
    trees: dict[str, bytes] = {}
    for one in _tree(path, box, "input/definition.xml").iter("assigment"):
        name, kind = one.findtext("name", ""), one.findtext("datatype", "String")
        role = _ROLES.get(one.findtext("type", ""))
        if role is None:
            role = "undecided"
            notes.append(f"{name}: its type in ARX is not known; undecided, not released.")
        columns[name] = {"role": role}
        form = one.findtext("format")
        if kind == "Date/Time" and form is not None:
            if form in _DATES:
                dates.add(_DATES[form])
            elif form != "yyyy-MM-dd":
                notes.append(f"{name}: dates of the form {form} are read as texts.")
        if role == "quasi":
            tree = _hierarchy(path, box, one, name)
            if tree is not None:
                trees[name] = tree
            columns[name]["kind"] = (
                "taxonomy" if tree is not None else "ordered" if kind in _ORDERED else "set"
            )
            if kind == "Ordinal" and tree is None:
                columns[name]["kind"] = "set"
                notes.append(f"{name}: ordinal; list its values under order to keep the order.")
        for key, limit in (("min", "finest"), ("max", "coarsest")):
            level = one.findtext(key, "All")
            if level in ("All", ""):
                continue
            if name in trees and level.isdecimal():
                columns[name][limit] = int(level)
            else:
                notes.append(f"{name}: {limit} level {level}, and it has no hierarchy here.")
        if one.find("microAggregationFunction") is not None and role == "quasi":
            notes.append(f"{name}: microaggregation; Shoal publishes true values only, coarser.")
    if not columns:
        raise InputError(f"{path} declares no attribute. Set attribute types in ARX and save it.")
    return columns, dates, trees


def _hierarchy(path: Path, box: zipfile.ZipFile, one: Xml.Element, name: str) -> bytes | None:
    """Return the hierarchy of an attribute, checked, or None if it has none of two levels."""
    ref = one.findtext("ref")
    member = f"input/{ref}"
    if ref is None or member not in box.namelist():
        return None
    with _unreadable(path).parsing("zip"):
        raw = box.read(member)
    first = raw.splitlines()[0] if raw.strip() else b""
    if not re.search(rb"[;,\t]", first):
        return None  # a value on every line: nothing is generalized
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        file = Path(folder) / "hierarchy.csv"
        file.write_bytes(raw)
        try:
            read_hierarchy(file, name)
        except (InputError, SchemaError) as fault:
            raise InputError(
                f"The hierarchy of {name!r} in {path} cannot be used: "
                f"{str(fault).replace(str(file), member)}"
            ) from None
    return raw


def _weights(
    path: Path, config: Xml.Element, columns: dict[str, dict[str, Any]], notes: list[str]
) -> None:
    for one in config.iter("attributeWeight"):
        name = one.findtext("attribute", "")
        weight = _number(path, one.findtext("weight", "0.5"), f"weight of {name!r}")
        if name not in columns or columns[name]["role"] != "quasi" or weight == _USUAL_WEIGHT:
            continue
        if weight > 0:
            columns[name]["importance"] = weight / _USUAL_WEIGHT
        else:
            notes.append(f"{name}: weight 0; an importance is above 0. Left at 1.")


def _rules(
    path: Path, config: Xml.Element, columns: Mapping[str, Any], notes: list[str]
) -> list[dict[str, Any]]:
    """Return the privacy models that Shoal has too."""
    rules = []
    for one in config.iter("criterion"):
        text = (one.text or "").strip()
        for form, fixed in _MODELS:
            if match := re.match(form, text):
                numbers = {
                    key: _value(path, key, value) for key, value in match.groupdict().items()
                }
                if "column" in numbers and numbers["column"] not in columns:
                    notes.append(f"{text}: there is no such attribute.")
                    break
                rules.append({**fixed, **numbers})
                break
        else:
            notes.append(f"{text}: no counterpart; not promised.")
    return rules


def _value(path: Path, key: str, text: str) -> Any:
    if key == "column":
        return text
    number = _number(path, text, f"{key} of a privacy model")
    return int(number) if key in _WHOLE and number.is_integer() else number
