"""Read and write DuckDB files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from typing import Any

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import InputError, OutputError
from shoal.ext.databases.arrow import fit, frames
from shoal.ext.databases.database import Database, Found, missing
from shoal.ext.databases.faults import translate_errors
from shoal.tables.sql_names import (
    Name,
    bare,
    check_columns,
    not_one_select,
    quote,
    read_name,
)

_TYPES = {
    pl.String: "varchar",
    pl.Boolean: "boolean",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.Float32: "float",
    pl.Float64: "double",
    pl.Date: "date",
    pl.Time: "time",
    pl.Binary: "blob",
}
# Types that Arrow or polars has no place for, or that say more as text.
_AS_TEXT = ("INTERVAL", "BIT", "BIGNUM", "VARINT", "UNION", "MAP", "TIME WITH", "GEOMETRY", "UUID")
_NEW = "shoal_rows"
# What reads files in a query: read_csv(...), parquet_scan(...), glob(...), from 'file'.
_FILES = re.compile(r"\b(?:read_\w+|\w+_scan|glob|sniff_csv)\s*\(|\b(?:from|join)\s*'", re.I)


def connect(address: Address, *, write: bool) -> Duck:
    """Open the file; a new one is made only for writing."""
    import duckdb

    assert address.path is not None
    if not write and not address.path.exists():
        raise missing(address)
    # Without the last setting a query could read Python's own variables as tables.
    config: Any = {"python_enable_replacements": False}
    with translate_errors(address, f"Cannot open {address}", OutputError if write else InputError):
        connection = duckdb.connect(
            str(address.path.absolute()), read_only=not write, config=config
        )
    connection.begin()
    return Duck(connection, address)


class Duck(Database):
    """One connection to a DuckDB file."""

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        return list(self._connection.execute(sql, list(values)).fetchall())

    def tables(self) -> list[Name]:
        """List tables and views."""
        rows = self.run(
            "select table_schema, table_name from information_schema.tables "
            "where table_catalog = current_database() order by 1, 2"
        )
        return [Name(schema, table) for schema, table in rows]

    def find(self, name: Name) -> Found | None:
        """Look a table up; capitals do not count."""
        rows = self.run(
            "select table_schema, table_name, table_type from information_schema.tables "
            "where table_catalog = current_database() and lower(table_name) = lower(?) "
            "and lower(table_schema) = lower(?)",
            name.table,
            name.schema or self.home(),
        )
        if not rows:
            return None
        schema, table, kind = rows[0]
        return Found(Name(schema, table), "table" if kind == "BASE TABLE" else "view")

    def home(self) -> str:
        """Return the schema in use."""
        return str(self.run("select current_schema()")[0][0])

    def confine(self, query: str | None, *, own: bool) -> None:
        """Refuse other files than this one, unless the user's own query names them."""
        import duckdb

        if query is not None:
            kinds = [statement.type for statement in duckdb.extract_statements(bare(query))]
            if len(kinds) != 1:
                raise not_one_select(self._address, f"it has {len(kinds)} statements")
            if kinds[0] != duckdb.StatementType.SELECT:
                raise not_one_select(self._address, f"it is of the kind {kinds[0].name}")
        if query is None or not own or not _FILES.search(query):
            self.run("set enable_external_access = false")
        self.run("set lock_configuration = true")

    def reads(self, select: str) -> set[tuple[str, str]]:
        """Ask which tables a query names, those under views too."""
        names = map(_last_two, self._connection.get_table_names(select, qualified=True))
        return {(name.schema or self.home(), name.table) for name in names}

    def frames(self, select: str) -> Generator[pl.DataFrame]:
        """Stream the rows of a query."""
        described = self.run(f"describe {select}")
        names = [str(row[0]) for row in described]
        check_columns(names, self._address)
        cast = ", ".join(
            f"cast({quote(name)} as varchar) as {quote(name)}"
            if str(row[1]).startswith(_AS_TEXT)
            else quote(name)
            for name, row in zip(names, described, strict=True)
        )
        import pyarrow as pa

        relation = self._connection.sql(f"select {cast} from ({select}) as shoal_source")
        yield from frames(pa.RecordBatchReader.from_stream(relation), self._address)

    def fit(self, column: pl.Series) -> tuple[pl.Series, str] | None:
        """Choose the SQL type of a column."""
        return fit(column, _TYPES, decimal="decimal({0.precision}, {0.scale})", texts="varchar[]")

    def insert(self, name: Name, batches: Any) -> None:
        """Insert the rows of a reader."""
        self._connection.register(_NEW, batches)
        try:
            self.run(f"insert into {name.sql} select * from {_NEW}")
        finally:
            self._connection.unregister(_NEW)

    def cancel(self) -> None:
        """Interrupt what runs."""
        with contextlib.suppress(Exception):
            self._connection.interrupt()

    def commit(self) -> None:
        """Commit the transaction and start the next."""
        self._connection.commit()
        self._connection.begin()

    def rollback(self) -> None:
        """Roll the transaction back and start the next."""
        self._connection.rollback()
        self._connection.begin()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(Exception):
            self._connection.rollback()
        with contextlib.suppress(Exception):
            self._connection.close()


def _last_two(text: str) -> Name:
    # The catalog may stand in front; it is the file itself.
    try:
        return read_name(text)
    except InputError:
        return read_name(text.partition(".")[2])
