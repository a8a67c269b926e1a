"""Read and write PostgreSQL through ADBC."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator
from typing import Any

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import InputError, OutputError
from shoal.ext.databases.arrow import fit, frames, numbers
from shoal.ext.databases.database import Database, Found
from shoal.ext.databases.faults import translate_errors
from shoal.tables.sql_names import Name, bare, check_columns, not_one_select, quote

_KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "view", "f": "foreign table"}
# Read as they are; enumerations and domains arrive under their base type. Whatever is not here
# is cast to text by the server: uuid, json, interval, inet, money, ...
_PLAIN = {"int2", "int4", "int8", "float4", "float8", "bool", "text", "varchar", "name"}
_PLAIN |= {"date", "timestamp", "timestamptz", "time", "bytea", "numeric", "_text", "_varchar"}
_TYPES = {
    pl.String: "text",
    pl.Boolean: "boolean",
    pl.Int8: "smallint",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.Date: "date",
    pl.Time: "time",
    pl.Binary: "bytea",
}


def connect(address: Address, *, write: bool) -> Postgres:
    """Connect as the address, the environment and the password file say."""
    import adbc_driver_postgresql.dbapi as driver

    settings = dict(address.settings)
    settings.setdefault("client_encoding", "UTF8")
    settings.setdefault("fallback_application_name", "shoal")
    if "PGCONNECT_TIMEOUT" not in os.environ:
        settings.setdefault("connect_timeout", "15")
    # Pairs of our own writing: the client has no address to misread and to repeat in an error.
    text = " ".join(f"{key}='{_escaped(value)}'" for key, value in settings.items())
    with translate_errors(
        address, f"Cannot connect to {address}", OutputError if write else InputError
    ):
        return Postgres(driver.connect(text), address, write=write)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


class Postgres(Database):
    """One connection to a PostgreSQL server."""

    def __init__(self, connection: Any, address: Address, *, write: bool) -> None:
        super().__init__(connection, address)
        self._exact: list[str] = []
        self._inserting: Any = None
        # Whoever reads the old release must not keep the new one waiting for ever.
        self.run("set local lock_timeout = '20s'" if write else "set transaction read only")

    def identity(self) -> object:
        """Tell the cluster and the database, so that a replica counts as the same."""
        row = self.run(
            "select (select system_identifier::text from pg_control_system()), oid::bigint "
            "from pg_database where datname = current_database()"
        )[0]
        return ("postgresql", *row)

    def tables(self) -> list[Name]:
        """List what can be read: tables, views and partitioned tables outside the catalogs."""
        rows = self.run(
            "select n.nspname::text, c.relname::text from pg_class c "
            "join pg_namespace n on n.oid = c.relnamespace "
            "where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' "
            "and n.nspname <> 'information_schema' order by 1, 2"
        )
        return [Name(schema, table) for schema, table in rows]

    def find(self, name: Name) -> Found | None:
        """Look a name up as the server would, by the search path when it has no schema."""
        rows = self.run(
            "select n.nspname::text, c.relkind::text from pg_class c "
            "join pg_namespace n on n.oid = c.relnamespace "
            "where c.relname = $1 and case when $2 = '' then pg_table_is_visible(c.oid) "
            "else n.nspname = $2 end",
            name.table,
            name.schema or "",
        )
        if not rows:
            return None
        return Found(Name(rows[0][0], name.table), _KINDS.get(rows[0][1], "other object"))

    def home(self) -> str:
        """Return the schema that a new table without one goes to."""
        schema = self.run("select current_schema()::text")[0][0]
        if schema is None:
            raise InputError(
                f"{self._address} has no schema on its search path. Name one: --into schema.table"
            )
        return str(schema)

    def confine(self, query: str | None, *, own: bool) -> None:
        """Let the server prepare the text alone: it must be whole, and one statement."""
        if query is None:
            return
        with self._connection.cursor() as cursor:
            try:
                cursor.adbc_execute_schema(bare(query))
            except Exception as fault:
                if "multiple commands" not in str(fault):
                    raise
                raise not_one_select(self._address, "it has several statements") from None

    def reads(self, select: str) -> set[tuple[str, str]]:
        """Ask the planner which tables it would visit."""
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(f"explain (verbose, format json) {select}")
            told_as = "".join(str(row[0]) for row in cursor.fetchall())
        tables: set[tuple[str, str]] = set()
        todo: list[Any] = json.loads(told_as)
        while todo:
            node = todo.pop()
            if isinstance(node, list):
                todo += node
            elif isinstance(node, dict):
                if "Relation Name" in node:
                    tables.add((node.get("Schema", ""), node["Relation Name"]))
                todo += node.values()
        return tables

    def frames(self, select: str) -> Generator[pl.DataFrame]:
        """Stream the rows of a query; the server says as text what Arrow has no type for."""
        with self._connection.cursor() as cursor:
            schema = cursor.adbc_execute_schema(select)
            check_columns(schema.names, self._address)
            cast = ", ".join(
                quote(field.name)
                + ("" if _as_it_is(field) else "::text")
                + f" as {quote(field.name)}"
                for field in schema
            )
            cursor.execute(f"select {cast} from ({select}) as shoal_source")
            yield from frames(cursor.fetch_record_batch(), self._address)
            self._exact = [field.name for field in schema if _type(field) == "numeric"]

    def finish(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Make decimals of exact numbers, which travel as texts."""
        return frame.with_columns(numbers(frame[name]) for name in self._exact)

    def same(self, name: str) -> str:
        """Return the name: capitals count once a name is quoted."""
        return name

    def longest(self) -> int:
        """Return 63: what is longer would silently be cut off."""
        return 63

    def fit(self, column: pl.Series) -> tuple[pl.Series, str] | None:
        """Choose the SQL type of a column."""
        return fit(column, _TYPES, decimal="numeric", texts="text[]")

    def insert(self, name: Name, batches: Any) -> None:
        """Copy rows in."""
        with self._connection.cursor() as cursor:
            self._inserting = cursor
            cursor.adbc_ingest(name.table, batches, mode="append", db_schema_name=name.schema)
        self._inserting = None

    def cancel(self) -> None:
        """Ask the server to stop."""
        with contextlib.suppress(Exception):
            if self._inserting is not None:
                self._inserting.adbc_cancel()


def _type(field: Any) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())


def _as_it_is(field: Any) -> bool:
    import pyarrow as pa

    named = _type(field)
    # An enumeration has a name of its own, and arrives as the text it is.
    return named in _PLAIN or (pa.types.is_string(field.type) and named != "bpchar")
