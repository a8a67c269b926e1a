"""Read delimited text: strictly, fast, and with errors that name the line."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.column_names import check_names, check_rows, check_twice
from shoal.base.errors import InputError, warn
from shoal.base.extras import needed
from shoal.base.memory import format_bytes, most_unpacked
from shoal.base.threads import workers

_DELIMITERS = (",", ";", "\t", "|")
_GLANCE = 1 << 16  # bytes looked at to find the delimiter
_BLOCK = 1 << 22  # bytes parsed at a time
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DETECTED = 1 << 20  # bytes looked at to detect an encoding
_SIGNS = "\u00a0€“”„‘‚…°§«»²³½¼¾ºª©®™±¿¡£"  # in Western text, but not inside words
_NOT_WESTERN = re.compile(
    rf"[^\t\n\r -~\u00c0-\u00ff’–—·´µ{_SIGNS}]|[\u00c0-\u00ff]{{4}}"
    rf"|[A-Za-z\u00c0-\u00ff][{_SIGNS}][a-z\u00e0-\u00ff]"
)


def unpack(raw: bytes, path: Path) -> bytes:
    """Return the bytes of a file, unzipped when they are gzip."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    most = most_unpacked()
    unpacked = io.BytesIO()  # hands its bytes over without a copy
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while piece := stream.read(_BLOCK):
                if unpacked.tell() + len(piece) > most:
                    raise _too_large(path, len(raw), most)
                unpacked.write(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise InputError(
            f"{path} is a damaged or truncated gzip file ({fault}). "
            "Copy or download it again; nothing was read."
        ) from None
    return unpacked.getvalue()


def _too_large(path: Path, packed: int, most: int) -> InputError:
    return InputError(
        f"{path} is a gzip file of {format_bytes(packed)} that unpacks to more than "
        f"{format_bytes(most)}, the most "
        "that is allowed (--max-unpacked, and never more than the free memory takes). Nothing was "
        "kept of it. If you trust the file, allow more, for instance --max-unpacked 32GB, or let "
        "Spark read it: --engine spark."
    )


def read_csv(
    raw: bytes,
    path: Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    *,
    perhaps: bool = False,
) -> pl.DataFrame:
    """Read delimited text as texts only; empty cells are null.

    Parameters
    ----------
    raw
        The bytes of the file, gzip or not.
    path
        The file's name, for messages.
    delimiter
        One character; found out from the text when not given.
    encoding
        Of the text, if it is not UTF-8; ``"detect"`` looks at the bytes.
    perhaps
        The encoding was said of another file, too: this one may be UTF-8 all the same.
    """
    content = _recoded(unpack(raw, path), path, encoding, perhaps).removeprefix(_BOM)
    if not content or content.isspace():
        raise InputError(
            f"{path} is empty. A table needs a line of column names and at least one row."
        )
    _check_text(path, content)
    delimiter = sniff(content) if delimiter is None else _one_character(delimiter)
    names = _header(path, content, delimiter)
    return _parse(path, content, delimiter, names)


def _recoded(content: bytes, path: Path, encoding: str | None, perhaps: bool) -> bytes:
    """Return the text as UTF-8; if no encoding is named, cp1252 is taken where it fits."""
    if encoding == "detect":
        encoding = _detected(content, path)
    elif encoding is None or perhaps:
        if content.isascii() or _not_utf8(path, content) is None:
            return content
        if encoding is None:
            if not _is_western(content):
                return content
            encoding = "cp1252"
            warn(
                f"{path} is not UTF-8. It was read as cp1252 (Western European). If letters look "
                "wrong, name another encoding with --encoding (encoding=...)."
            )
    try:
        return content.decode(encoding).encode()
    except LookupError:
        raise InputError(
            f"There is no encoding {encoding!r}. Name one that Python knows, such as latin1, "
            "cp1252, utf-16 or shift_jis."
        ) from None
    except UnicodeError as fault:
        raise InputError(
            f"{path} is not {encoding}: {fault}. Name another with --encoding (encoding=...)."
        ) from None


def _is_western(content: bytes) -> bool:
    """Tell whether bytes that are not UTF-8 read as Western European text in cp1252.

    Nearly any bytes can be decoded. What gives other encodings away: control characters, letters
    that Western languages lack, signs inside words, and words without any plain letter.
    """
    if content.startswith(_UTF16) or b"\x00" in content:
        return False
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return not _NOT_WESTERN.search(text)


def _detected(content: bytes, path: Path) -> str:
    """Return the encoding that the bytes look like, and say it."""
    library = needed("charset_normalizer", "text in an encoding to be detected", "files")
    found = library.from_bytes(content[:_DETECTED]).best()
    if found is None:
        raise InputError(
            f"The encoding of {path} could not be detected. Name it with --encoding "
            "(encoding=...), for instance latin1, cp1252 or utf-16."
        )
    warn(f"The encoding of {path} was detected: {found.encoding}. Check that letters look right.")
    return str(found.encoding)


def _check_text(path: Path, content: bytes) -> None:
    """Refuse what is no text of ours before a parser says so in its own words."""
    if content.startswith(_UTF16):
        raise InputError(
            f"{path} is UTF-16 text, not UTF-8. Say so with --encoding utf-16 (encoding=...)."
        )
    if content[:4] == b"PK\x03\x04":
        raise InputError(
            f"{path} is a zip archive or a spreadsheet, not delimited text. "
            "Let the name of a workbook end in .xlsx; unpack an archive first."
        )
    nul = content.find(b"\x00")
    if 0 <= nul < _GLANCE:
        raise InputError(
            f"{path} is a binary file of an unknown kind. "
            "Shoal reads CSV (also gzipped), Parquet, Arrow/Feather, and by their names Excel "
            "(.xlsx), Stata (.dta), SPSS (.sav) and SAS (.sas7bdat, .xpt)."
        )
    if nul >= 0:
        line = content[:nul].count(b"\n") + 1
        raise InputError(
            f"{path} holds a NUL byte in line {line}, which no text has: the file is damaged, or "
            "not all of it is text. Make it again, or remove the byte, for instance: tr -d '\\000'."
        )


def _not_utf8(path: Path, content: bytes) -> InputError | None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        return InputError(
            f"{path} is not UTF-8: byte 0x{content[fault.start]:02x} in line {line} "
            "cannot be read. Say what it is with --encoding, for instance --encoding latin1 or "
            "cp1252 (encoding=...), or convert it: iconv -f latin1 -t utf-8."
        )
    return None


def _one_character(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
        raise InputError(
            f"The delimiter must be one character such as ',' or ';'. Got {delimiter!r} instead."
        )
    return delimiter


def sniff(content: bytes) -> str:
    """Find the delimiter: it cuts the names, and the first rows into as many cells."""
    head = content[:_GLANCE].decode("utf-8", "replace")
    if len(content) > _GLANCE:
        head = head[: head.rfind("\n") + 1] or head
    best, score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
            counts = [len(row) for row in rows if row]
        except csv.Error:
            continue
        if not counts or counts[0] < 2:
            continue
        fitting = sum(count == counts[0] for count in counts) / len(counts)
        if (fitting, counts[0]) > score:
            best, score = delimiter, (fitting, counts[0])
    return best


def _header(path: Path, content: bytes, delimiter: str) -> list[str]:
    fault = _not_utf8(path, content[: content.find(b"\n") + 1] or content)
    if fault:
        raise fault
    # Names may be quoted and hold line breaks, so the first line alone is not enough.
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="replace", newline="")
    rows = (row for row in csv.reader(lines, delimiter=delimiter) if row)
    try:
        names = next(rows)
    except csv.Error as broken:
        raise _unreadable(path, 1, broken) from None
    check_twice(names, path)
    check_names(names, path)
    with contextlib.suppress(csv.Error):  # a row that this reader finds too long is a row
        check_rows(int(next(rows, None) is not None), names, path)
    return names


def _parse(path: Path, content: bytes, delimiter: str, names: list[str]) -> pl.DataFrame:
    import pyarrow as pa

    quotes = content.count(b'"')
    if quotes % 2:  # the parser would take an open quote's rest of the file as one cell
        _diagnose(path, content, delimiter, len(names))
    try:
        table = _arrow(content, delimiter, names, quotes > 0, _BLOCK)
    except pa.ArrowInvalid:
        _diagnose(path, content, delimiter, len(names))
        try:  # nothing wrong with the text: a row may be longer than a block
            table = _arrow(content, delimiter, names, quotes > 0, len(content) + 1)
        except pa.ArrowInvalid as fault:
            raise InputError(f"{path} cannot be read as delimited text: {fault}.") from None
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _arrow(content: bytes, delimiter: str, names: list[str], quoted: bool, block: int) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        pa.BufferReader(content),
        read_options=arrow_csv.ReadOptions(block_size=block, use_threads=workers() > 1),
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=quoted,
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


def _diagnose(path: Path, content: bytes, delimiter: str, width: int) -> None:
    """Go through the text slowly and raise what is wrong with it, naming the line."""
    fault = _not_utf8(path, content)
    if fault:
        raise fault
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in rows:
            if row and len(row) != width:
                cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
                names = f"{width} column name{'' if width == 1 else 's'}"
                raise InputError(
                    f"{path} has ragged rows: line {start} has {cells} for {names} (delimiter "
                    f"{delimiter!r}). Quote cells that hold the delimiter, or name another one."
                )
            start = rows.line_num + 1
    except csv.Error as broken:
        raise _unreadable(path, start, broken) from None


def _unreadable(path: Path, line: int, fault: csv.Error) -> InputError:
    what = str(fault)
    if "field limit" in what:
        what = f"a cell there has more than {csv.field_size_limit():,} characters"
    return InputError(
        f"{path} cannot be read from line {line} on: {what}. "
        "Check the quotes there: a quote inside a quoted cell is written twice."
    )
