"""Convert Arrow batches of a database to polars frames, and back."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import InputError
from shoal.base.memory import check_fits
from shoal.ext.databases.database import BATCH

_SIGNED: dict[pl.DataType, type[pl.DataType]] = {
    pl.Int8(): pl.Int16,
    pl.UInt8(): pl.Int16,
    pl.UInt16(): pl.Int32,
    pl.UInt32(): pl.Int64,
}
_WIDE = (pl.UInt64, pl.Int128)
_EPOCH = dt.date(1970, 1, 1)
_FIRST_DAY, _LAST_DAY = (dt.date.min - _EPOCH).days, (dt.date.max - _EPOCH).days
_TICKS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}  # in a day


def frames(batches: Iterable[Any], address: Address) -> Iterator[pl.DataFrame]:
    """Turn batches into frames, one at a time; at least one, so that columns are known."""
    import pyarrow as pa

    schema = getattr(batches, "schema", None)
    empty = True
    for batch in batches:
        empty = False
        try:
            # A database need not check that its texts are texts; polars relies on it.
            batch.validate(full=True)
        except pa.ArrowInvalid as fault:
            raise InputError(
                f"{address} holds a text that is not UTF-8 ({str(fault).splitlines()[0]}). Convert "
                "it in the database, or leave the column out with --query."
            ) from None
        yield _frame(pa.Table.from_batches([batch]))
    if empty:
        yield _frame(schema.empty_table())  # type: ignore[union-attr]


def _frame(table: Any) -> pl.DataFrame:
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            plain = table.column(i).cast(field.type.storage_type)
            table = table.set_column(i, pa.field(field.name, plain.type), plain)
    frame = pl.from_arrow(table, rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    return frame


def gather(parts: Iterable[pl.DataFrame], what: str) -> pl.DataFrame:
    """Append batches to one frame as they come, as long as there is room for all of them.

    How many will come only the database knows, and counting would run a query twice.
    """
    held: list[pl.DataFrame] = []
    rows, size = 0, 0
    for batch in parts:
        held.append(batch)
        rows, size = rows + batch.height, size + int(batch.estimated_size())
        # To put them together takes as much again.
        check_fits(what, f"{rows:,} rows and more", size)
    return pl.concat(held, how="vertical", rechunk=True)


def check_dates(frame: pl.DataFrame, what: str) -> None:
    """Refuse days that no calendar of ours has, such as PostgreSQL's infinity."""
    for column in frame:
        dtype = column.dtype
        if dtype != pl.Date and not isinstance(dtype, pl.Datetime):
            continue
        unit = _TICKS[dtype.time_unit] if isinstance(dtype, pl.Datetime) else 1
        # As plain numbers: nothing can be asked of a day that does not exist.
        days = column.to_physical().cast(pl.Int64) // unit
        wrong = int((~days.is_between(_FIRST_DAY, _LAST_DAY)).sum())
        if wrong:
            raise InputError(
                f"Column {column.name!r} of {what} has {wrong:,} dates outside the years 1 to 9999 "
                "(infinity is one of them). Replace them, for instance with --query "
                '"select case when isfinite(d) then d end as d, ... from t".'
            )


def numbers(column: pl.Series) -> pl.Series:
    """Turn the texts of exact numbers into decimals, if 38 digits hold them all."""
    texts = column.set(column.is_in(["NaN", "nan"]).fill_null(False), None)
    known = texts.drop_nulls()
    if known.is_empty():
        return texts.cast(pl.Decimal(38, 0))
    if not known.str.contains(r"^-?[0-9]+(?:\.[0-9]+)?$").all():
        return texts  # infinity: as texts they are at least not wrong
    parts = known.str.strip_prefix("-").str.split_exact(".", 1).struct
    after = int(parts.field("field_1").str.len_bytes().fill_null(0).max() or 0)  # type: ignore[arg-type]
    before = int(parts.field("field_0").str.len_bytes().max() or 0)  # type: ignore[arg-type]
    if before + after > 38:
        return texts
    return texts.cast(pl.Decimal(38, after))


def unsigned(column: pl.Series) -> pl.Series:
    """Return a column in a type that databases know: signed numbers, plain texts."""
    dtype = column.dtype
    if dtype in _SIGNED:
        return column.cast(_SIGNED[dtype])
    if dtype in _WIDE:
        return column.cast(pl.Decimal(38, 0))
    if isinstance(dtype, (pl.Categorical, pl.Enum)) or dtype == pl.Null:
        return column.cast(pl.String)
    return column


def fit(
    column: pl.Series, types: Mapping[Any, str], *, decimal: str, texts: str
) -> tuple[pl.Series, str] | None:
    """Return a column as servers with rich types store it, and its SQL type."""
    column = unsigned(column)
    dtype = column.dtype
    if isinstance(dtype, pl.Decimal):
        return column, decimal.format(dtype)
    if isinstance(dtype, pl.Datetime):
        zoned = dtype.time_zone is not None
        column = column.dt.convert_time_zone("UTC") if zoned else column
        return column.dt.cast_time_unit("us"), "timestamptz" if zoned else "timestamp"
    if dtype == pl.List(pl.String):
        return column, texts
    named = types.get(dtype.base_type())
    return (column, named) if named else None


def batches(columns: list[pl.Series], stop: threading.Event) -> Any:
    """Return a reader that hands out a table a few rows at a time, without copying all of it.

    Once ``stop`` is set there are no more, which ends whoever reads with an error.
    """
    import pyarrow as pa

    frame = pl.DataFrame(columns)
    oldest = pl.CompatLevel.oldest()
    schema = frame.clear().to_arrow(compat_level=oldest).schema

    def each() -> Iterator[Any]:
        for batch in frame.iter_slices(BATCH):
            if stop.is_set():
                raise RuntimeError("stopped")
            yield from (
                batch.to_arrow(compat_level=oldest).cast(schema).combine_chunks().to_batches()
            )

    return pa.RecordBatchReader.from_batches(schema, each())
