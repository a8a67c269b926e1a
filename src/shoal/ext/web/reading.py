"""How a file is read, on the page: what can be said of a file of its kind, and by which words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.tables.files import STATISTICS
from shoal.tables.local import DATES, DECIMALS

WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_ENCODINGS = ("cp1252", "latin1", "iso8859-15", "cp1250", "mac_roman", "utf-16", "shift_jis")
_TEXT = {
    "encoding": ("Encoding", _ENCODINGS, "how its letters are stored, if not as UTF-8"),
    "dates": ("Dates", DATES, "how days are written: d.m.y is 31.12.2024; off leaves them texts"),
    "decimal": ("Decimals", DECIMALS, "the sign before the decimals"),
}
_LABELS = {"labels": ("Labels", ("texts", "codes"), "of values: their texts, or their codes")}
_HIDDEN = {
    "hidden": ("Hidden", ("include", "skip"), "rows, columns and sheets: read them or leave them")
}
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


def fields(name: str, reading: Mapping[str, str], sheets: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the controls that say how a file of this kind is read."""
    kind = kind_of(name)
    offered: dict[str, tuple[str, Sequence[str], str]] = dict(_TEXT)
    if kind in WORKBOOKS:
        offered = {"sheet": ("Sheet", sheets, "which one is the table")} if sheets else {}
        offered |= _HIDDEN
    elif kind:
        offered = {"encoding": _TEXT["encoding"], **_LABELS}
    return [
        {
            "id": f"read-{key}",
            "name": key,
            "label": label,
            "meaning": meaning,
            "kind": "select",
            "value": reading.get(key, choices[0] if key == "sheet" else ""),
            "choices": list(dict.fromkeys(["", *choices, reading.get(key, "")])),
        }
        for key, (label, choices, meaning) in offered.items()
    ]


def from_form(form: Mapping[str, str], controls: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what was chosen, as a plan says it; empty: nothing."""
    return {
        control["name"]: form[control["name"]]
        for control in controls
        if form.get(control["name"]) in control["choices"]
    }


def on_the_page(text: str) -> str:
    """Say with the page's own means what a sentence says with options of the command line."""
    for pattern, words in _SAID:
        text = re.sub(pattern, words, text)
    return text
