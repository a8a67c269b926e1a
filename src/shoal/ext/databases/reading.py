"""Read a table or a query of a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from difflib import get_close_matches

import polars as pl

from shoal.base.column_names import check_names, check_rows
from shoal.base.errors import InputError, ParameterError, format_names, suggest_nearest
from shoal.ext.databases.arrow import check_dates, gather
from shoal.ext.databases.database import Database, opened
from shoal.ext.databases.faults import translate_errors
from shoal.tables.cells import missing_to_null
from shoal.tables.source import Source
from shoal.tables.sql_names import Name, read_name, subquery


def read_source(source: Source, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Read a table or the result of a query, batch by batch, and change nothing in the database.

    Types are those of the database. NULL is missing, and so are, as in every other table, empty
    texts, NaN and the texts of ``missing``.
    """
    said = f"{str(source)[:1].upper()}{str(source)[1:]}"
    with (
        opened(source.address) as database,
        translate_errors(source.address, f"Cannot read {source}"),
    ):
        with closing(database.frames(selection(database, source))) as parts:
            frame = gather(parts, said)
        check_names(frame.columns, said)
        frame = database.finish(frame)
        check_dates(frame, str(source))
    check_rows(frame.height, frame.columns, said)
    return frame.select(missing_to_null(series, missing) for series in frame)


def exists(source: Source) -> bool:
    """Tell whether a table is there."""
    with (
        opened(source.address) as database,
        translate_errors(source.address, f"Cannot read {source}"),
    ):
        return source.table is not None and database.find(read_name(source.table)) is not None


def selection(database: Database, source: Source) -> str:
    """Return the SQL that reads a source."""
    database.confine(source.query, own=source.own)
    if source.query is not None:
        return subquery(source.query)
    if source.table is None:
        raise ParameterError(
            f"{source.address} is a database. Say what to read with --table NAME (table=...) or "
            f"--query SQL (query=...). It has the tables: {_names(database, database.tables())}."
        )
    name = read_name(source.table)
    table = database.find(name)
    if table is None:
        raise unknown(database, name, source)
    return f"select * from {table.name.sql}"


def unknown(database: Database, name: Name, source: Source) -> InputError:
    """Say that a table does not exist, and which ones may have been meant."""
    tables = database.tables()
    near = suggest_nearest(str(name), [_short(database, table) for table in tables])
    if not near:  # perhaps it is in another schema
        close = {table.table: table for table in tables}
        guess = get_close_matches(name.table, close, n=1, cutoff=0.6)
        near = f" Did you mean {str(close[guess[0]])!r}?" if guess else ""
    whole = [table for table in tables if table.table == source.table]
    if name.schema is not None and whole:
        near = f" Did you mean '\"{source.table}\"', in double quotes?"
    return InputError(
        f"{source.address} has no table {str(name)!r} that you may see.{near} It has: "
        f"{_names(database, tables)}."
    )


def _short(database: Database, name: Name) -> str:
    """Return a name as one would write it: without the schema that is looked in anyway."""
    return str(Name(None, name.table) if name.schema == database.home() else name)


def _names(database: Database, tables: Sequence[Name]) -> str:
    return format_names(_short(database, table) for table in tables)
