"""Read a table from standard input and write a file to standard output (``-``)."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from shoal.base.errors import ParameterError
from shoal.base.system import open_in_memory
from shoal.cli import console
from shoal.cli.progress import BAR
from shoal.tables.source import Place, parse_place

DASH = Path("-")
STDIN = "standard input"


def parse_input(text: str | Place) -> Place:
    """Return the table that a word of the command line means; ``-`` is what is piped in."""
    return _piped() if str(text) == "-" else parse_place(text)


def display_name(table: Place) -> str:
    """Return what a table is called in a sentence; of a database no password is shown."""
    if isinstance(table, Path) and _piped.cache_info().currsize and table == _piped():
        return STDIN
    return str(table)


@cache
def _piped() -> Path:
    """Take standard input in; where the system can, it never touches a disk."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ParameterError(
            "A table was to come from standard input (-), and nothing is piped in. Name a file, or "
            "pipe one in: cat patients.csv | shoal inspect -"
        )
    if (opened := open_in_memory("shoal")) is not None:
        handle, path = opened
    else:
        handle, name = tempfile.mkstemp(prefix="shoal-")  # for this user alone
        path = Path(name)
        atexit.register(path.unlink, missing_ok=True)
    with os.fdopen(handle, "wb", closefd=False) as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return path


def output_path(path: Path | None) -> Path | None:
    """Take the name of an output; ``-`` lets everything else be said on standard error."""
    if path == DASH:
        console.set_verbosity(aside=True)
    return path


def write_stdout(content: bytes) -> None:
    """Write an output to standard output."""
    if not content:
        return
    with BAR.aside():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
