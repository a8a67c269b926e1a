"""Excel workbooks (.xlsx), in and out: one sheet of values, and only published cells."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree as Xml

import polars as pl

from shoal.base.column_names import check_names, check_rows, check_twice
from shoal.base.errors import InputError, OutputError, format_names, suggest_nearest, warn
from shoal.base.extras import needed
from shoal.base.memory import format_bytes, most_unpacked
from shoal.base.parsing import Unreadable
from shoal.ext.exchange.hidden import HiddenParts, hidden_in
from shoal.tables.cells import as_text

_STRICT = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MOST = {"rows": 1_048_575, "columns": 16_384, "characters": 32_767}  # below the header, by Excel
_FIRST_DAY = pl.date(1900, 3, 1)  # Excel counts a day that never was before it
_BLOCK = 1 << 20


def read_workbook(
    path: Path, raw: bytes, sheet: str | None, hidden: str | None = None
) -> pl.DataFrame:
    """Read one sheet of plain values; the first row has the names.

    ``raw``: the bytes of the file. ``sheet``: its name; needed when there are several. ``hidden``:
    ``"include"`` reads hidden rows, columns and sheets too, ``"skip"`` leaves them out; without
    either a sheet that hides something is refused.
    """
    fastexcel = needed("fastexcel", "an Excel file", "files")
    damaged = Unreadable(f"{path} is a damaged Excel file", "Save it again.")
    with damaged.parsing("zip", "xml"):
        box = zipfile.ZipFile(io.BytesIO(raw))
        check_size(path, box)
        raw = unpacked(path, box, most_unpacked())
        box = zipfile.ZipFile(io.BytesIO(raw))
        every, seen = _sheets(box, hidden=True), _sheets(box, hidden=False)
        chosen, member = _sheet(box, path, every, seen, sheet, hidden)
        _check_plain(path, box, chosen, member)
        unseen = hidden_in(box, member, sheet=chosen not in seen)
    with damaged.parsing("excel"):
        book = fastexcel.read_excel(raw)
        texts = book.load_sheet(chosen, header_row=None, dtypes="string").to_polars()
    rows, columns = list(range(texts.height)), list(range(texts.width))
    if unseen and hidden != "include":
        _check_decided(path, chosen, unseen, hidden, _names(texts, columns))
        with damaged.parsing("zip", "excel"):
            book = fastexcel.read_excel(unseen.without_rows(raw, member))
            texts = book.load_sheet(chosen, header_row=None, dtypes="string").to_polars()
        rows, columns = unseen.left_over(texts.shape, path)
    if not texts.height:
        raise InputError(f"The sheet {chosen!r} of {path} is empty. It needs names and rows.")
    names = _names(texts, columns)
    check_twice(names, path)
    check_names(names, path)
    check_rows(len(rows) - 1, names, path)
    with damaged.parsing("excel"):
        whole = book.load_sheet(chosen, header_row=0, schema_sample_rows=None).to_polars()
    typed: pl.DataFrame = whole[:, columns][[row - 1 for row in rows[1:]]]
    typed.columns = names
    return typed.with_columns(days(column) for column in typed)


def _names(texts: pl.DataFrame, columns: Sequence[int]) -> list[str]:
    """Return the names of some columns, which stand in the first row."""
    first = texts.row(0) if texts.height else ()
    return ["" if first[at] is None else str(first[at]) for at in columns if at < len(first)]


def _check_decided(
    path: Path, sheet: str, unseen: HiddenParts, hidden: str | None, names: list[str]
) -> None:
    """Refuse a sheet that hides something, unless what is hidden is to be left out and can be."""
    if hidden is None:
        raise InputError(
            f"In the sheet {sheet!r} of {path} {unseen.describe(names)} cannot be seen. Say what "
            "becomes of what is hidden: read it like the rest with --hidden include, or leave it "
            "out with --hidden skip (hidden=...; hidden under [data] of a plan)."
        )
    if unseen.sheet:
        raise InputError(
            f"The sheet {sheet!r} of {path} is hidden, and hidden sheets were to be skipped. Name "
            "another, or read it with --hidden include (hidden='include')."
        )
    if unseen.everything:
        raise InputError(
            f"Everything in the sheet {sheet!r} of {path} is hidden. Read it with --hidden include "
            "(hidden='include'), or give another file."
        )
    if unseen.header:
        raise InputError(
            f"The first row of the sheet {sheet!r} of {path}, row {unseen.rows[0]}, is hidden, and "
            f"hidden rows were to be skipped. Without it row {unseen.top} would have the names of "
            "the columns, which may be values of a person. Show it if it has the names, delete it "
            "in the workbook if it does not, or read it with --hidden include (hidden='include')."
        )


def days(column: pl.Series) -> pl.Series:
    """Take moments that are all midnights for days, and whole numbers for whole."""
    if isinstance(column.dtype, pl.Datetime):
        days = column.dt.date()
        return days if (days.cast(column.dtype) == column).all() else column
    if column.dtype == pl.Float64:
        return whole(column)
    return column


def whole(column: pl.Series) -> pl.Series:
    """Return numbers as integers if all of them are."""
    known = column.drop_nulls()
    fits = known.is_finite() & (known == known.round()) & (known.abs() < 2**53)
    return column.cast(pl.Int64) if len(known) and fits.all() else column


def check_size(path: Path, box: zipfile.ZipFile) -> None:
    """Refuse an archive that unpacks to more than is allowed."""
    size = sum(part.file_size for part in box.infolist())
    if size > most_unpacked():
        raise InputError(
            f"{path} unpacks to {format_bytes(size)}, more than the "
            f"{format_bytes(most_unpacked())} that are "
            "allowed (--max-unpacked, and never more than the free memory takes). Nothing was read."
        )


def unpacked(path: Path, box: zipfile.ZipFile, most: int) -> bytes:
    """Return the archive with nothing packed, so that no other reader has to unpack it.

    The directory says how large the parts are. What comes out of them is counted here, since the
    directory may lie and other readers do not ask it.
    """
    made, left = io.BytesIO(), most
    with zipfile.ZipFile(made, "w") as other:
        for name in dict.fromkeys(box.namelist()):
            part = copy(box.getinfo(name))
            said, part.file_size = part.file_size, left + 1  # else it is read as far as it says
            with box.open(part) as stream, other.open(name, "w", force_zip64=True) as plain:
                size = 0
                while block := stream.read(_BLOCK):
                    size += len(block)
                    if size > min(said, left):
                        raise InputError(
                            f"{path} is a damaged Excel file ({name} unpacks to more than "
                            f"{format_bytes(min(said, left))}, which is what the file says or "
                            "what is "
                            "allowed). Nothing was read. Save it again."
                        )
                    plain.write(block)
            left -= size
    return made.getvalue()


def sheet_names(path: Path) -> list[str]:
    """Return the sheets of a workbook that somebody sees, the largest first."""
    try:
        with Unreadable(str(path), "").parsing("zip", "xml"), zipfile.ZipFile(path) as box:
            check_size(path, box)
            return _by_size(box, _sheets(box, hidden=False))
    except InputError:
        return []


def _sheets(box: zipfile.ZipFile, *, hidden: bool) -> dict[str, str]:
    """Return by name the part of the archive that holds a sheet."""
    book = Xml.fromstring(box.read("xl/workbook.xml"))  # noqa: S314 -- expat bounds entities
    links = Xml.fromstring(box.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
    parts = {link.get("Id"): str(link.get("Target")) for link in links}
    return {
        str(sheet.get("name")): parts[sheet.get(_LINK) or sheet.get(_STRICT)]
        for sheet in book.iterfind(".//{*}sheet")
        if hidden or sheet.get("state", "visible") == "visible"
    }


def _member(target: str) -> str:
    """Return the part of the archive that a link of the workbook leads to."""
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _by_size(box: zipfile.ZipFile, sheets: Mapping[str, str]) -> list[str]:
    """Return the sheets, the largest first: a codebook is smaller than its table."""
    sizes = {info.filename: info.file_size for info in box.infolist()}
    return sorted(sheets, key=lambda name: -sizes.get(_member(sheets[name]), 0))


def _sheet(
    box: zipfile.ZipFile,
    path: Path,
    every: Mapping[str, str],
    seen: Mapping[str, str],
    wanted: str | None,
    hidden: str | None,
) -> tuple[str, str]:
    """Return the name of the sheet to read and the part of the archive that holds it."""
    sheets = every if wanted is not None or hidden == "include" else seen
    if hidden is None and (unseen := [name for name in every if name not in (*seen, wanted)]):
        warn(
            f"{path} has {len(unseen)} hidden sheet{'s' * (len(unseen) > 1)}, of which nothing is "
            f"read: {format_names(unseen)}. Name one with --sheet, or say --hidden skip "
            "(hidden='skip')."
        )
    if wanted is None and len(sheets) != 1:
        raise InputError(
            f"{path} has {len(sheets)} sheets: {format_names(sheets)}. Say which one is the table: "
            f"--sheet NAME (sheet=...; sheet under [data] of a plan). The largest is "
            f"{_by_size(box, sheets)[0]!r}."
        )
    name = next(iter(sheets)) if wanted is None else wanted
    if name not in sheets:
        raise InputError(
            f"{path} has no sheet {name!r}. Its sheets: "
            f"{format_names(sheets)}.{suggest_nearest(name, sheets)}"
        )
    return name, _member(sheets[name])


def _check_plain(path: Path, box: zipfile.ZipFile, sheet: str, member: str) -> None:
    """Refuse formulas and merged cells: what they stand for is not in the file for certain."""
    with box.open(member) as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            text = rest + block
            if re.search(rb"<(?:\w+:)?f[ >/]", text):
                raise InputError(
                    f"The sheet {sheet!r} of {path} has formulas. What they show may be old or "
                    "missing in the file. Copy the sheet and paste it as values, or save it as "
                    "CSV, and give that file."
                )
            if merged := re.search(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z0-9:]+)"', text):
                raise InputError(
                    f"The sheet {sheet!r} of {path} has merged cells ({merged[1].decode()}). A "
                    "table has one name above every column and one value in every cell: take the "
                    "merging away and fill the cells."
                )
            rest = text[-256:]


def write_workbook(frame: pl.DataFrame, stream: IO[bytes]) -> None:
    """Write one sheet called ``release``: values only, no formula, no author, no time."""
    writer = needed("xlsxwriter", "an Excel file", "files")
    _check_fits(frame)
    plain: dict[str, Any] = dict.fromkeys(
        ("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False
    )
    plain |= {"in_memory": True, "default_date_format": "yyyy-mm-dd"}
    book = writer.Workbook(stream, plain)
    # Equal cells make equal files.
    book.set_properties({"author": "", "created": datetime(2000, 1, 1, tzinfo=UTC)})
    sheet = book.add_worksheet("release")
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet.write_row(0, 0, frame.columns)
    for place, column in enumerate(map(_writable, frame)):
        form = moment if isinstance(column.dtype, pl.Datetime) else None
        sheet.write_column(1, place, column.to_list(), form)
    book.close()


def _writable(column: pl.Series) -> pl.Series:
    """Return a column as Excel can hold it: what it would change or not know becomes text."""
    dtype = column.dtype
    if dtype.is_integer() and not column.is_empty():
        most = column.cast(pl.Float64).abs().max()
        return column if not isinstance(most, float) or most < 10**15 else as_text(column)
    if dtype == pl.Date or (isinstance(dtype, pl.Datetime) and dtype.time_zone is None):
        early = (column.dt.date() < pl.select(_FIRST_DAY).item()).any()
        return as_text(column) if early else column
    return column if dtype.is_float() or dtype == pl.Boolean else as_text(column)


def _check_fits(frame: pl.DataFrame) -> None:
    texts = [column for column in map(as_text, frame) if column.dtype == pl.String]
    longest = max((int(text.str.len_chars().max() or 0) for text in texts), default=0)  # type: ignore[arg-type]
    sizes = {"rows": frame.height, "columns": frame.width, "characters": longest}
    for what, size in sizes.items():
        if size > _MOST[what]:
            where = " in a cell" if what == "characters" else ""
            raise OutputError(
                f"An Excel sheet holds {_MOST[what]:,} {what}{where}, and the release has "
                f"{size:,}. Nothing was written; let --out end in .csv or .parquet."
            )
