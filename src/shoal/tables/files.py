"""Read and write tables in files and frames."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import polars as pl

from shoal.base.column_names import check_names, check_rows
from shoal.base.errors import InputError, OutputError
from shoal.base.memory import LEAST, check_fits, format_bytes
from shoal.base.parsing import Unreadable
from shoal.base.threads import share
from shoal.catalog.extensions import require
from shoal.plan.data import DataPart
from shoal.tables.arrow_size import unpacked
from shoal.tables.cells import blank_and_typed, missing_to_null
from shoal.tables.csvfile import read_csv
from shoal.tables.local_formats import read_local_forms
from shoal.tables.source import Source
from shoal.tables.spreadsheet import unquote

_BINARY = {b"PAR1": "Parquet", b"ARRO": "Arrow"}  # the first bytes of a file
_CELLS = 1 << 16  # of a text file whose types are found at a time
TEXT_FORMATS = (".csv", ".csv.gz", ".tsv")
WORKBOOKS = (".xlsx", ".xlsm", ".xls")
STATISTICS = {
    ".dta": "Stata",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".sas7bdat": "SAS",
    ".xpt": "SAS",
}
STATISTICS_WRITTEN = (".dta", ".sav", ".xpt")
FORMATS = (*TEXT_FORMATS, ".parquet", ".arrow", ".feather", ".xlsx", *STATISTICS_WRITTEN)


AS_IT_STANDS = DataPart(missing=())
"""How a file is read of which nothing is said, not even that empty texts are missing."""


def read_file(
    path: Path | Source,
    how: DataPart = AS_IT_STANDS,
    *,
    text: Collection[str] | Callable[[Sequence[str]], Collection[str]] = (),
    quoted: bool = False,
) -> tuple[pl.DataFrame, str]:
    """Read a table as :func:`shoal.read_table` does; return also the SHA-256 of what was read.

    The bytes are read once and everything is taken from them, so that a file that changes
    meanwhile cannot have another digest than its rows. Of a database it is empty.
    """
    if isinstance(path, Source):
        require("databases")
        from shoal.ext.databases.reading import read_source

        return read_source(path, how.missing), ""
    if path.suffix == ".toml":
        raise InputError(
            f"{path} is a plan by its name, and a table is needed here: one of "
            f"{', '.join(FORMATS)}, or the address of a database. Give the table first and the "
            f"plan as --plan {path}."
        )
    if how.sheet is not None and not quoted and path.suffix.lower() not in WORKBOOKS:
        raise InputError(
            f"--sheet (sheet=) names a sheet of an Excel workbook, and {path} is none. Leave it "
            "out."
        )
    try:
        with path.open("rb") as stream:
            # A binary file is held as it is, at least; of texts more is known.
            known = _BINARY.get(stream.peek(6)[:4])
            length = path.stat().st_size
            check_fits(path, format_bytes(length), length * (LEAST if known is None else 1))
            raw = stream.read()
        digest = hashlib.sha256(raw).hexdigest()
        if (suffix := path.suffix.lower()) in (*WORKBOOKS, *STATISTICS):
            frame = _of_program(path, raw, suffix, how)
        elif known is not None:
            frame = _binary(path, raw, known)
        else:
            texts = read_csv(raw, path, how.delimiter, how.encoding, perhaps=quoted)
            frame = _typed(unquote(texts) if quoted else texts, how.missing, text)
            kept = frozenset(text(frame.columns) if callable(text) else text)
            return frame.with_columns(
                read_local_forms(column, how.dates, how.decimal)
                for column in frame
                if column.name not in kept
            ), digest
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Check the name of the file.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory. Give the name of a file in it.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror or fault}.") from None
    return frame.select(missing_to_null(series, how.missing) for series in frame), digest


def _of_program(path: Path, raw: bytes, suffix: str, how: DataPart) -> pl.DataFrame:
    """Read a file of Excel, Stata, SPSS or SAS, by its name; it is never taken for text."""
    require("exchange")
    if suffix in STATISTICS:
        from shoal.ext.exchange.statistics import read_statistics

        return read_statistics(path, raw, suffix, how.labels, how.encoding)
    if raw[:4] != b"PK\x03\x04":
        old = raw[:4] == b"\xd0\xcf\x11\xe0"
        raise InputError(
            f"{path} is {'a file of an old Excel, or encrypted' if old else 'no Excel workbook'}, "
            "whatever its name says. Save it as .xlsx without a password; if it is text, call it "
            ".csv."
        )
    from shoal.ext.exchange.workbooks import read_workbook  # reads XML, which few runs need

    return read_workbook(path, raw, how.sheet, how.hidden)


def _typed(
    frame: pl.DataFrame,
    missing: Sequence[str],
    text: Collection[str] | Callable[[Sequence[str]], Collection[str]],
) -> pl.DataFrame:
    """Give the columns of a text file their types, a few columns at a time."""
    kept = frozenset(text(frame.columns) if callable(text) else text)

    # Enough columns at a time to be worth a call, and few enough to stay small in memory.
    step = max(1, _CELLS // frame.height)
    columns = frame.get_columns()
    batches = [columns[start : start + step] for start in range(0, len(columns), step)]
    shares = share(lambda batch: blank_and_typed(batch, missing, kept), batches)
    return pl.DataFrame([column for columns in shares for column in columns])


def _binary(path: Path, raw: bytes, kind: str) -> pl.DataFrame:
    read: Callable[[bytes], pl.DataFrame] = pl.read_ipc
    if kind == "Parquet":
        from shoal.tables.parquet import read_parquet, rows_and_bytes

        read = read_parquet
        rows, needed = rows_and_bytes(raw)
        check_fits(path, f"{rows:,} rows", needed)
    elif (packed := unpacked(raw)) is not None:
        check_fits(path, f"{format_bytes(packed)} when unpacked", packed)
    unreadable = Unreadable(f"{path} is a damaged {kind} file", "Copy or make it again.")
    with unreadable.parsing("arrow", "polars"):
        try:
            frame = read(raw)
        except pl.exceptions.DuplicateError as fault:
            raise InputError(
                f"{path} has duplicate column names ({fault}). Rename the columns."
            ) from fault
    check_names(frame.columns, path)
    check_rows(frame.height, frame.columns, path)
    return frame


def check_output_format(path: Path | str) -> str:
    """Return which of :data:`FORMATS` a file's name asks for."""
    name = Path(path).name.lower()
    for suffix in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    raise OutputError(
        f"Cannot tell the format of the output {path} from its name. "
        f"Let it end in one of {', '.join(FORMATS)}."
    )


def second_path(path: Path, name: str) -> Path:
    """Return where another table of a release goes: ``x.csv`` -> ``x.st.csv``."""
    suffix = check_output_format(path)
    return path.with_name(f"{path.name[: -len(suffix)]}.{name}{path.name[-len(suffix) :]}")
