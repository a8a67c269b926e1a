"""Check that a table fits into memory before it is read."""

from __future__ import annotations

import os
import re

from shoal.base.errors import InputError, ParameterError
from shoal.base.system import free_memory

VARIABLE = "SHOAL_MAX_UNPACKED"
DEFAULT = 16 * 10**9  # bytes that a gzip file may unpack to
LEAST = 2  # bytes of memory for a byte of text, measured: 2 for long texts, 18 for single digits
PAGE = 4  # the page is one program among others: it takes this part of what a command may
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30, "TI": 1 << 40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?")


def size(text: str) -> int:
    """Read a size such as ``500MB``, ``16 GB`` or ``2GiB``."""
    match = _SIZE.fullmatch(text.strip().upper())
    number = 0 if match is None or match[2] not in _UNITS else float(match[1]) * _UNITS[match[2]]
    if number < 1:
        raise ParameterError(
            f"--max-unpacked ({VARIABLE}) must be a size such as 500MB or 16GB. Got {text!r} "
            "instead."
        )
    return int(number)


def format_bytes(number: float) -> str:
    """Say a size in the largest unit that it fills."""
    for unit in ("TB", "GB", "MB", "kB"):
        if number >= (scale := _UNITS[unit[0].upper()]):
            return f"{number / scale:,.1f} {unit}"
    return f"{number:,.0f} bytes"


def limit_unpacked(text: str | None) -> None:
    """Let gzip files unpack to so much from here on, also in processes started from here."""
    if text is not None:
        os.environ[VARIABLE] = str(size(text))


def most_unpacked() -> int:
    """Return how many bytes a gzip file may unpack to: never more than the free memory allows."""
    named = os.environ.get(VARIABLE, "").strip()
    most = size(named) if named else DEFAULT
    free = free_memory()
    return most if free is None else min(most, free // LEAST)


def check_fits(what: object, has: str, needed: float) -> None:
    """Refuse a table that is too large to be read here, by what is known of it before.

    ``has``: how large it is, in words; ``needed``: the least memory that it takes, in bytes.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{what} has {has}, and reading it takes {format_bytes(needed)} of memory or more; "
            f"{format_bytes(free)} are free. Nothing was read. Take a machine with more memory, "
            "or let "
            "Spark do the work, which leaves the table on disk: shoal anonymize --engine spark "
            "(pip install 'shoal[spark]')."
        )
