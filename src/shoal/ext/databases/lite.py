"""Read and write SQLite files through ADBC."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Generator
from typing import Any
from urllib.parse import quote as percent

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import InputError, OutputError
from shoal.ext.databases.arrow import frames, unsigned
from shoal.ext.databases.database import BATCH, Database, Found, missing
from shoal.ext.databases.faults import translate_errors
from shoal.tables.cells import read_dates
from shoal.tables.set_cells import SETS, to_json
from shoal.tables.sql_names import Name, bare, check_columns, not_one_select, quote

_TYPES = {
    pl.String: "TEXT",
    pl.Int16: "INTEGER",
    pl.Int32: "INTEGER",
    pl.Int64: "INTEGER",
    pl.Float64: "REAL",
    pl.Binary: "BLOB",
}
# The first row says what every column is, because the driver looks at the first rows only.
_FIRST = {"integer": "0", "real": "0.0", "text": "''", "blob": "x''"}
# All that a query may do; what attaches files, sets pragmas or writes is not among it.
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_LOADING = "load_extension"  # the one function that runs code from a file


def connect(address: Address, *, write: bool) -> Lite:
    """Open the file; a new one is made only for writing."""
    assert address.path is not None
    if not write and not address.path.exists():
        raise missing(address)
    with translate_errors(address, f"Cannot open {address}", OutputError if write else InputError):
        lite = Lite(_connected(address, "rwc" if write else "ro"), address)
        try:
            lite.tables()  # a file that is no database says so only now
            if write:  # the pages of a table that is replaced stay in the file: as zeros
                lite.erase()
        except BaseException:
            lite.close()
            raise
        return lite


def _connected(address: Address, mode: str) -> Any:
    import adbc_driver_sqlite.dbapi as driver

    return driver.connect(_uri(address, mode))


def _uri(address: Address, mode: str) -> str:
    assert address.path is not None
    return f"file:{percent(str(address.path.absolute()))}?mode={mode}"


class Lite(Database):
    """One connection to a SQLite file."""

    def __init__(self, connection: Any, address: Address) -> None:
        super().__init__(connection, address)
        self._texts: list[str] = []
        self._flags: list[str] = []

    def erase(self) -> None:
        """Let SQLite overwrite whatever it deletes from now on."""
        self.run("pragma secure_delete = on")

    def tables(self) -> list[Name]:
        """List tables and views."""
        rows = self.run(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite\\_%' escape '\\' order by 1"
        )
        return [Name("main", name) for (name,) in rows]

    def find(self, name: Name) -> Found | None:
        """Look a table up; capitals do not count."""
        if name.schema is not None and name.schema.casefold() != "main":
            return None
        rows = self.run(
            "select name, type from sqlite_master where type in ('table', 'view') "
            "and lower(name) = lower(?)",
            name.table,
        )
        return Found(Name("main", rows[0][0]), str(rows[0][1])) if rows else None

    def home(self) -> str:
        """Return ``main``, the only schema of a file."""
        return "main"

    def confine(self, query: str | None, *, own: bool) -> None:
        """Let SQLite tell, while it prepares the query, whether it does more than read."""
        if query is None:
            return
        refused: list[str] = []

        def judge(action: int, _: str | None, function: str | None, *__: Any) -> int:
            loads = action == sqlite3.SQLITE_FUNCTION and function == _LOADING
            if action in _READING and not loads:
                return sqlite3.SQLITE_OK
            refused.append(function or "")
            return sqlite3.SQLITE_DENY

        self.close()  # as in `reads`: only Python's own library can tell, and one at a time
        with contextlib.closing(sqlite3.connect(_uri(self._address, "ro"), uri=True)) as judging:
            judging.set_authorizer(judge)
            try:
                judging.execute(f"explain {bare(query)}").close()
            except sqlite3.ProgrammingError:
                raise not_one_select(self._address, "it has several statements") from None
            except sqlite3.DatabaseError:
                if refused:
                    raise not_one_select(self._address, "it does more than that") from None
                raise
        self._connection = _connected(self._address, "ro")

    def reads(self, select: str) -> set[tuple[str, str]]:
        """Let SQLite tell what it would read while it prepares the query."""
        seen: set[tuple[str, str]] = set()

        def note(
            action: int, table: str | None, _: str | None, schema: str | None, *__: Any
        ) -> int:
            if action == sqlite3.SQLITE_READ and table:
                seen.add((schema or "main", table))
            return sqlite3.SQLITE_OK

        # Only Python's own library can tell. Closing a file in one library undoes the locks that
        # another has on it in this process, so nothing may be read or written after this.
        self.close()
        with contextlib.closing(sqlite3.connect(_uri(self._address, "ro"), uri=True)) as own:
            own.set_authorizer(note)
            own.execute(f"explain {select}").close()
        return seen

    def _declared(self, select: str) -> dict[str, str]:
        """Return what type the columns of a query were declared to have, where SQLite knows."""
        self.run(f"create temp view shoal_view as {select}")
        rows = self.run("select name, type from pragma_table_info('shoal_view', 'temp')")
        self.run("drop view temp.shoal_view")
        return {str(name): str(kind).upper() for name, kind in rows}

    def frames(self, select: str) -> Generator[pl.DataFrame]:
        """Stream the rows of a query, every column as the one type that holds all its cells."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select * from ({select}) limit 0")
            names = [field[0] for field in cursor.description]
        check_columns(names, self._address)
        kinds = self._kinds(select, names)
        self._texts = [name for name in names if kinds[name] == "text"]
        declared = self._declared(select)
        self._flags = [
            name
            for name in names
            if kinds[name] == "integer" and declared.get(name, "").startswith("BOOL")
        ]
        first = ", ".join(f"{_FIRST[kinds[name]]} as {quote(name)}" for name in names)
        # A blob or a mixed column becomes text; numbers of both sorts become real.
        cells = ", ".join(f"cast({quote(name)} as {kinds[name]})" for name in names)
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH)})
            cursor.execute(f"select {first} union all select {cells} from ({select})")
            top = True
            for frame in frames(cursor.fetch_record_batch(), self._address):
                yield frame[1:] if top else frame
                top = False

    def _kinds(self, select: str, names: list[str]) -> dict[str, str]:
        """Look at what every cell is, since a declaration binds no cell of SQLite."""
        asked = ", ".join(
            f"max(typeof({quote(name)}) = '{kind}') as {quote(f'{i}{kind}')}"
            for i, name in enumerate(names)
            for kind in ("integer", "real", "text", "blob")
        )
        row = self.run(f"select {asked} from ({select})")[0]
        kinds = {}
        for i, name in enumerate(names):
            integer, real, text, blob = row[4 * i : 4 * i + 4]
            kinds[name] = (
                "text"
                if text or not (integer or real or blob) or (blob and (integer or real))
                else "blob"
                if blob
                else "real"
                if real
                else "integer"
            )
        return kinds

    def finish(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Make days, moments and truth values of what holds them: SQLite has no types for these."""
        flags = [frame[name] for name in self._flags if frame[name].is_in([0, 1, None]).all()]
        return frame.with_columns(
            *(read_dates(frame[name]) for name in self._texts),
            *(flag.cast(pl.Boolean) for flag in flags),
        )

    def fit(self, column: pl.Series) -> tuple[pl.Series, str] | None:
        """Choose the declared type of a column, and cells that SQLite has."""
        column = unsigned(column)
        dtype = column.dtype
        if dtype == pl.Boolean:
            return column.cast(pl.Int64), "BOOLEAN"
        if dtype == pl.Float32:
            return column.cast(pl.Float64), "REAL"
        if isinstance(dtype, pl.Decimal):
            return column.cast(pl.String), "NUMERIC"
        if dtype == pl.Date:
            return column.dt.strftime("%Y-%m-%d"), "DATE"
        if dtype == pl.Time:
            return column.cast(pl.String), "TIME"
        if isinstance(dtype, pl.Datetime):
            column = column.dt.cast_time_unit("us")
            zone = "%:z" if dtype.time_zone else ""
            return column.dt.strftime(f"%Y-%m-%d %H:%M:%S%.f{zone}"), "TIMESTAMP"
        if dtype == SETS:
            return to_json(column), "TEXT"
        named = _TYPES.get(dtype.base_type())
        return (column, named) if named else None

    def insert(self, name: Name, batches: Any) -> None:
        """Insert the rows of a reader."""
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name.table, batches, mode="append")
