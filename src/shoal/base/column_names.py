"""Check that column names are unique and usable, and that a table has rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from shoal.base.errors import InputError, format_names


def check_twice(names: Iterable[str], where: object) -> None:
    """Refuse names that stand there more than once."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(
            f"{where} has duplicate column names: {format_names(twice)}. "
            "Every column needs a name of its own: rename them."
        )


class NoRows(InputError):
    """A table has columns and no rows."""


def check_rows(rows: int, names: Iterable[str], where: object) -> None:
    """Refuse a table that has columns and no rows."""
    if not rows:
        raise NoRows(
            f"{where} has column names ({format_names(names)}) but no rows. "
            "A table needs at least one row."
        )


def check_unicode(texts: Iterable[str], where: str) -> None:
    """Refuse texts with half of a surrogate pair, which no file can hold."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{where} holds {text!a}, half of a character (a lone surrogate), which no "
                "file can hold. Repair the text, for instance with "
                "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')."
            ) from None


def check_names(names: Iterable[str], where: object) -> None:
    """Refuse names that mean several columns wherever polars is given a name.

    ``^a.*$`` would stand for every column that starts with an a, and ``*`` for all of them: what is
    done to the one would silently be done to the others.
    """
    patterns = [name for name in names if name == "*" or re.fullmatch(r"\^.*\$", name, re.DOTALL)]
    if patterns:
        raise InputError(
            f"{where} has column names that are read as patterns: {format_names(patterns)}. A "
            "name may "
            "not be '*', nor start with '^' and end with '$': rename the columns."
        )
