"""Read delimited text: strictly, fast, and with errors that name the line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, listed

_DELIMITERS = (",", ";", "\t", "|")
_GLANCE = 1 << 16  # bytes looked at to find the delimiter
_BOM = b"\xef\xbb\xbf"


def unpack(path: Path) -> bytes:
    """Return the bytes of a file, unzipped when they are gzip."""
    raw = path.read_bytes()
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise InputError(
            f"{path} is a damaged or truncated gzip file ({fault}). "
            "Copy or download it again; nothing was read."
        ) from None


def read_csv(path: Path, delimiter: str | None = None) -> pl.DataFrame:
    """Read a delimited file as texts only; empty cells are null.

    Parameters
    ----------
    delimiter
        One character; found out from the file when not given.
    """
    raw = unpack(path)
    content = raw.removeprefix(_BOM)
    if not content.strip():
        raise InputError(
            f"{path} is empty. A table needs a line of column names and at least one row."
        )
    _check_text(path, content)
    delimiter = sniff(path, content) if delimiter is None else _one_character(delimiter)
    names = _header(path, content, delimiter)
    frame = _parse(path, content, delimiter, names)
    if frame.height == 0:
        raise InputError(
            f"{path} has column names ({listed(names)}) but no rows. "
            "A table needs at least one row."
        )
    return frame


def _check_text(path: Path, content: bytes) -> None:
    """Refuse what is no text of ours before a parser says so in its own words."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            f"{path} is UTF-16 text, not UTF-8. Convert it, for instance: iconv -f utf-16 -t utf-8."
        )
    if content[:4] == b"PK\x03\x04":
        raise InputError(
            f"{path} is a zip archive or a spreadsheet, not delimited text. "
            "Save the sheet as CSV or Parquet first."
        )
    if b"\x00" in content[:_GLANCE]:
        raise InputError(
            f"{path} is a binary file of an unknown kind. "
            "Shoal reads CSV (also gzipped), Parquet and Arrow/Feather."
        )


def _not_utf8(path: Path, content: bytes) -> InputError | None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        return InputError(
            f"{path} is not UTF-8: byte 0x{content[fault.start]:02x} in line {line} "
            "cannot be read. Convert it, for instance: iconv -f latin1 -t utf-8."
        )
    return None


def _one_character(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
        raise InputError(
            f"The delimiter must be one character such as ',' or ';'. Got {delimiter!r} instead."
        )
    return delimiter


def sniff(path: Path, content: bytes) -> str:
    """Find the delimiter: it cuts the names, and the first rows into as many cells."""
    head = content[:_GLANCE].decode("utf-8", "replace")
    if len(content) > _GLANCE:
        head = head[: head.rfind("\n") + 1] or head
    best, score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            counts = [len(row) for row in _rows(head, delimiter) if row]
        except csv.Error:
            continue
        if not counts or counts[0] < 2:
            continue
        fitting = sum(count == counts[0] for count in counts) / len(counts)
        if (fitting, counts[0]) > score:
            best, score = delimiter, (fitting, counts[0])
    return best


def _rows(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _header(path: Path, content: bytes, delimiter: str) -> list[str]:
    fault = _not_utf8(path, content[: content.find(b"\n") + 1] or content)
    if fault:
        raise fault
    # Names may be quoted and hold line breaks, so the first line alone is not enough.
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="replace", newline="")
    names: list[str] = next((row for row in csv.reader(lines, delimiter=delimiter) if row), [])
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(
            f"{path} has duplicate column names: {listed(twice)}. "
            "Every column needs a name of its own: rename them."
        )
    return names


def _parse(path: Path, content: bytes, delimiter: str, names: list[str]) -> pl.DataFrame:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    quoted = content.count(b'"')
    if quoted % 2:
        raise _ragged(path, content, delimiter, len(names), "a quote is never closed")
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(block_size=1 << 22),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=quoted > 0,
                # In a table of one column a blank line is a missing value.
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid as fault:
        raise _not_utf8(path, content) or _ragged(
            path, content, delimiter, len(names), str(fault)
        ) from None
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _ragged(path: Path, content: bytes, delimiter: str, width: int, cause: str) -> InputError:
    """Go through the file slowly to say which line is at fault."""
    rows = csv.reader(
        io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="replace", newline=""),
        delimiter=delimiter,
        strict=True,
    )
    start = 1
    try:
        for row in rows:
            if len(row) != width and (row or width == 1) and (row or rows.line_num > 1):
                noun = "cell" if len(row) == 1 else "cells"
                return InputError(
                    f"{path} has ragged rows: line {start} has {len(row)} {noun}, the column "
                    f"names are {width} (delimiter {delimiter!r}). Quote cells that hold the "
                    "delimiter, or name another delimiter."
                )
            start = rows.line_num + 1
    except csv.Error as fault:
        return InputError(
            f"{path} cannot be read from line {start} on: {fault}. "
            "Check the quotes there: a quote inside a quoted cell is written twice."
        )
    return InputError(f"{path} cannot be read as delimited text: {cause}.")
