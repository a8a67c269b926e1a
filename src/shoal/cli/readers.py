"""The flags that say how a file is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shoal.cli.options import with_flags

_READING = {
    "encoding": (
        "NAME",
        "Of text files that are not UTF-8: cp1252, utf-16, ...; detect: look at the bytes.",
    ),
    "dates": ("FORM", "How a text file writes dates: d.m.y, d/m/y, m/d/y, ...; off: leave them."),
    "decimal": ("WORD", "How a text file writes decimals: comma or point."),
    "sheet": ("NAME", "Which sheet of an Excel file."),
    "labels": ("WORD", "Of Stata, SPSS and SAS files: texts (default), or codes."),
}


def with_reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that say how a file is read, handed over as ``reading``."""
    kinds = {flag: (str, text, word) for flag, (word, text) in _READING.items()}

    def read(values: dict[str, Any]) -> dict[str, str]:
        return {flag: value for flag, value in values.items() if value is not None}

    return with_flags(command, kinds, "reading", read)
