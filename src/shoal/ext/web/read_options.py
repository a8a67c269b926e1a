"""The options for reading a file on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.ext.web import fields
from shoal.plan.data import DataPart
from shoal.plan.setting import declared_settings
from shoal.tables.files import STATISTICS, WORKBOOKS

# What the command line says, and how it is said to somebody who sees the fields.
_SAID = (
    (r"Name it with --person \(.*?\), and", "Give it the role 'person', and"),
    (r"name it with --person \(.*?\)", "give it the role 'person'"),
    (
        "name the column that says whose row it is with --person",
        "give the role 'person' to the column that tells whose row it is",
    ),
    (r"Say which one is the table: --sheet NAME .*", "Choose the one that is the table."),
    (r"read it like the rest with --hidden include, or .*", "choose it under Hidden."),
    (r"Name one with --sheet, or say --hidden skip .*", "Choose one under Sheet."),
    (r"read it with --hidden include \(hidden='include'\)", "choose include under Hidden"),
    (r"Say what it is with --encoding, .*", "Choose how it is stored under Encoding."),
    (r"Say so with --encoding utf-16 \(encoding=...\)\.", "Choose utf-16 under Encoding."),
    (r"name another encoding with --encoding \(encoding=...\)\.", "choose another under Encoding."),
    (r"Name texts that mean missing with --missing", "Name texts that mean missing on this page"),
    (r"Name another with --encoding \(encoding=...\)\.", "Choose another under Encoding."),
    (r", or say how its texts are encoded with --encoding\.", ", or choose its encoding."),
    (r" \(--max-unpacked, and never more", " (--max-unpacked of shoal serve, and never more"),
    (r"with --same '(.*?)' \(same=\[...\]\)", r"with \1 in the field 'same' of Decide"),
    (r"Say which with --dates, .*", "Choose it under 'How the file is read'."),
)


def kind_of(name: str) -> str:
    """Return the ending that says which program a file is of, or nothing for all others."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in (*WORKBOOKS, *STATISTICS) else ""


def programs() -> dict[str, bool]:
    """Return whether files of Excel, and of Stata, SPSS and SAS, can be read here."""
    return {"excel": bool(find_spec("fastexcel")), "statistics": bool(find_spec("pyreadstat"))}


def controls(name: str, reading: Mapping[str, Any], sheets: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the controls that say how a file of this kind is read."""
    kind = kind_of(name)
    about = "workbook" if kind in WORKBOOKS else "statistics" if kind else "text"
    keys = [key for key, own in declared_settings(DataPart).items() if about in own.files]
    shown = fields.controls("data", reading, [key for key in keys if key != "delimiter"])
    for control in shown:
        if control["name"] == "sheet":
            control |= {"kind": "select", "choices": ["", *sheets]}
            control["value"] = control["value"] or next(iter(sheets), "")
        if control["kind"] == "select" and control["value"] not in control["choices"]:
            control["choices"].append(control["value"])
    return [control | {"blank": "detect"} for control in shown if control["choices"] != ["", ""]]


def from_form(
    form: Mapping[str, str], data: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return how a table is read, with what a form says of it; a choice is one of those shown."""
    known = [
        control["name"]
        for control in shown
        if control["kind"] != "select" or form.get(control["name"]) in control["choices"]
    ]
    return fields.read("data", data, known, form)


def on_the_page(text: str) -> str:
    """Say with the page's own means what a sentence says with options of the command line."""
    for pattern, words in _SAID:
        text = re.sub(pattern, words, text)
    return text
