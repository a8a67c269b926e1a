"""Files of Stata, SPSS and SAS, in and out, with the labels of their values.

A column whose values all have labels is read as these labels: as an enumeration in the order of the
codes if the file calls it ordinal, else as categories. What a file declares as missing is missing.
Written are labels of published values only, numbered anew: a gap between codes would tell that
there is a value which nobody published.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import polars as pl

from shoal.base.column_names import check_names, check_rows, check_twice
from shoal.base.errors import InputError, OutputError, warn
from shoal.base.extras import needed
from shoal.base.parsing import Unreadable
from shoal.base.system import held_file
from shoal.tables.cells import as_text
from shoal.tables.files import STATISTICS

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_statistics(
    path: Path, raw: bytes, suffix: str, labels: str | None, encoding: str | None
) -> pl.DataFrame:
    """Read a file of Stata, SPSS or SAS, whose bytes were read from ``path``.

    ``labels``: ``"codes"`` keeps the numbers of columns that have labels.
    """
    library = needed("pyreadstat", f"a file of {STATISTICS[suffix]}", "files")
    asked: dict[str, Any] = {"output_format": "polars"}
    if suffix != ".xpt":
        asked["user_missing"] = True
    if encoding is not None:
        asked["encoding"] = encoding
    catalog = path.with_suffix(".sas7bcat")
    if suffix == ".sas7bdat" and catalog.exists():
        asked["catalog_file"] = str(catalog)
    unreadable = Unreadable(
        f"{path} cannot be read as a file of {STATISTICS[suffix]}",
        "Save it again, or say how its texts are encoded with --encoding.",
    )
    with unreadable.parsing("statistics"), held_file(raw, suffix) as file:
        frame, about = getattr(library, _READERS[suffix])(str(file), **asked)
    check_twice(frame.columns, path)
    check_names(frame.columns, path)
    check_rows(frame.height, frame.columns, path)
    columns = []
    declared = {}
    for column in frame:
        cells, gaps = _known(column, about)
        if gaps:
            declared[column.name] = gaps
        columns.append(_labelled(path, cells, about, labels))
    if declared:
        told = ", ".join(f"{name!r} ({gaps:,} cells)" for name, gaps in declared.items())
        warn(f"What the file declares as missing is read as missing: {told}.")
    return pl.DataFrame(columns)


def _known(column: pl.Series, about: Any) -> tuple[pl.Series, int]:
    """Return a column without what the file declares as missing, and how many cells these were."""
    from shoal.ext.exchange.workbooks import days

    before = column.null_count()
    letters = (getattr(about, "missing_user_values", None) or {}).get(column.name)
    if letters or column.dtype == pl.Object:
        cells = [cell if isinstance(cell, (int, float)) else None for cell in column.to_list()]
        column = pl.Series(column.name, cells, pl.Float64)
        # Plain gaps of such a column are not told apart from it; they are as missing.
    if column.dtype.is_float():
        column = column.fill_nan(None)
    for span in (getattr(about, "missing_ranges", None) or {}).get(column.name, ()):
        low, high = span["lo"], span["hi"]
        if (column.dtype == pl.String) == isinstance(low, str):
            inside = column.is_between(low, high).fill_null(False)
            column = pl.select(pl.when(~inside).then(column).alias(column.name)).to_series()
    after = column.null_count()
    if column.dtype == pl.String:
        return column, after - before
    return days(column), after - before


def _labelled(path: Path, column: pl.Series, about: Any, labels: str | None) -> pl.Series:
    """Return the labels of a column's values, if all of them have one."""
    given: Mapping[Any, str] = about.variable_value_labels.get(column.name, {})
    values = column.drop_nulls().unique().sort().to_list()
    if labels == "codes" or not given or not values:
        return column
    by_text = {str(_number(code)): text for code, text in given.items()}
    named = {code: by_text.get(str(_number(code))) for code in values}
    if any(text is None for text in named.values()):
        if any(text is not None for text in named.values()):
            warn(
                f"Column {column.name!r} has labels for some of its values only, so it is read as "
                "numbers. If a code means missing, declare it in the file, or list it under "
                "missing of the column in the plan."
            )
        return column
    texts = [str(text) for text in named.values()]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        codes = [str(_number(code)) for code, text in named.items() if text == twice]
        raise InputError(
            f"Column {column.name!r} of {path} has the label {twice!r} for {len(codes)} different "
            f"codes ({', '.join(codes)}), which would become one value. Give them different "
            "labels in the file, or read the codes: --labels codes (labels='codes')."
        )
    replaced = column.replace_strict(values, texts, return_dtype=pl.String)
    ordinal = (getattr(about, "variable_measure", None) or {}).get(column.name) == "ordinal"
    return replaced.cast(pl.Enum(texts) if ordinal else pl.Categorical)


def _number(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def write_statistics(frame: pl.DataFrame, stream: IO[bytes], suffix: str) -> None:
    """Write a file of Stata, SPSS or SAS; equal cells make equal files."""
    program = {".dta": "Stata", ".sav": "SPSS", ".xpt": "SAS"}[suffix]
    library = needed("pyreadstat", f"a file of {program}", "files")
    coded, labels = (
        (frame.select(_plain(c) for c in frame), {}) if suffix == ".xpt" else _codes(frame)
    )
    write = getattr(
        library, {".dta": "write_dta", ".sav": "write_sav", ".xpt": "write_xport"}[suffix]
    )
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        file = Path(folder) / f"release{suffix}"
        try:
            write(coded, str(file), **({"variable_value_labels": labels} if labels else {}))
        except (library.ReadstatError, library.PyreadstatError) as fault:
            raise OutputError(
                f"The release cannot be written as a file of {program}: {fault}. Nothing was "
                "written; rename the column (letters, digits and _), or let --out end in .xlsx, "
                ".csv or .parquet."
            ) from None
        stream.write(_timeless(file.read_bytes(), suffix))


def _codes(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, dict[int, str]]]:
    """Return categories as numbers from 1 on, and what these mean."""
    labels, columns = {}, []
    for column in frame:
        if not isinstance(column.dtype, (pl.Enum, pl.Categorical)):
            columns.append(_plain(column))
            continue
        texts = column.cast(pl.String)
        used = column.drop_nulls().unique()
        names = (used.sort() if isinstance(column.dtype, pl.Enum) else used).cast(pl.String)
        order = names.to_list() if isinstance(column.dtype, pl.Enum) else sorted(names.to_list())
        numbers = list(range(1, len(order) + 1))
        columns.append(texts.replace_strict(order, numbers, return_dtype=pl.Int32))
        labels[column.name] = dict(zip(numbers, order, strict=True))
    return pl.DataFrame(columns), labels


def _plain(column: pl.Series) -> pl.Series:
    """Return a column as these programs hold it: numbers, days, moments, or texts without gaps."""
    dtype = column.dtype
    zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
    if dtype == pl.Boolean:
        return column.cast(pl.Int32)
    if dtype.is_integer():
        large = column.cast(pl.Float64).abs().max()
        return (
            column.cast(pl.Float64)
            if not isinstance(large, float) or large < 2**53
            else as_text(column)
        )
    if dtype.is_float() or dtype == pl.Date or (isinstance(dtype, pl.Datetime) and not zoned):
        return column.cast(pl.Float64) if dtype.is_float() else column
    return as_text(column).fill_null("")


def _timeless(raw: bytes, suffix: str) -> bytes:
    """Take the time of writing out of a file: the same release makes the same bytes."""
    if suffix == ".sav":
        return raw[:92] + b"01 Jan 8000:00:00" + raw[109:]
    if suffix == ".dta":
        return re.sub(rb"(?<=<timestamp>\x11).{17}", b"01 Jan 1980 00:00", raw, count=1)
    moment = rb"\d{2}[A-Z]{3}\d{2}:\d{2}:\d{2}:\d{2}"
    return re.sub(moment, b"01JAN80:00:00:00", raw[:640]) + raw[640:]
