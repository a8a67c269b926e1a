"""The interface of all database drivers, and how to open a connection."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import InputError, MissingExtra
from shoal.tables.sql_names import Name

BATCH = 65_536  # rows that travel at a time


@dataclass(frozen=True)
class Found:
    """A table that exists: its full name, and ``table``, ``view`` or whatever else it is."""

    name: Name
    kind: str


class Database(Protocol):
    """An open connection; everything it does is one transaction until :meth:`commit`.

    What most systems do alike stands here; a driver has its own where it differs.
    """

    _connection: Any
    _address: Address

    def __init__(self, connection: Any, address: Address) -> None:
        self._connection = connection
        self._address = address

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def identity(self) -> object:
        """Return what tells this database from all others, by whatever address it is reached."""
        assert self._address.path is not None
        status = self._address.path.stat()
        return (self._address.system, status.st_dev, status.st_ino)

    def tables(self) -> list[Name]:
        """Return every table and view that can be named, with its schema."""
        ...

    def find(self, name: Name) -> Found | None:
        """Return the table that a name means here, or None."""
        ...

    def home(self) -> str:
        """Return the schema that a new table without one goes to."""
        ...

    def confine(self, query: str | None, *, own: bool) -> None:
        """From here on let a table, or this one query, be read and nothing else happen.

        A text that is not exactly one SELECT is refused before any of it runs. ``own``: the words
        are the user's, not those of a plan that somebody else may have written.
        """
        ...

    def reads(self, select: str) -> set[tuple[str, str]]:
        """Return schema and name of all tables that a query reads, those under views too.

        The last thing asked of a connection.
        """
        ...

    def frames(self, select: str) -> Generator[pl.DataFrame]:
        """Run a query and return its rows in batches; types that Arrow lacks come as text."""
        ...

    def finish(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give columns the types that only the whole of them tells."""
        return frame

    def same(self, name: str) -> str:
        """Return a name in the form in which equal names are equal here: capitals do not count."""
        return name.casefold()

    def fit(self, column: pl.Series) -> tuple[pl.Series, str] | None:
        """Return a column as it is stored, and its SQL type; None for one with no place here."""
        ...

    def longest(self) -> int | None:
        """Return how many bytes of a name count, if that is limited."""
        return None

    def insert(self, name: Name, batches: Any) -> None:
        """Add the rows of an Arrow reader to a table."""
        ...

    def cancel(self) -> None:
        """End an :meth:`insert` that another thread is in the middle of, if it does not itself.

        It does where it soon asks for the next batch, and there is none.
        """
        return

    def commit(self) -> None:
        """Make everything done so far last."""
        self._connection.commit()

    def rollback(self) -> None:
        """Undo everything done so far."""
        self._connection.rollback()

    def close(self) -> None:
        """End the connection, also one that is lost; what was not committed is undone."""
        with suppress(Exception):
            self._connection.close()


def missing(address: Address) -> InputError:
    """Say that a database file does not exist, and how absolute paths are written."""
    assert address.path is not None
    rooted = not address.path.is_absolute() and (Path("/") / address.path).exists()
    hint = f" For a path from the root write {address.system}:/{address.path}." if rooted else ""
    return InputError(f"{address} does not exist. Check the name of the file.{hint}")


# The module of each system; it alone imports the library.
_DRIVERS = {"postgresql": "postgres", "duckdb": "duck", "sqlite": "lite"}


@contextmanager
def opened(address: Address, *, write: bool = False) -> Iterator[Database]:
    """Connect to a database, for reading only unless ``write`` is said."""
    home = import_module(f"shoal.ext.databases.{_DRIVERS[address.system]}")
    try:
        database: Database = home.connect(address, write=write)
    except ImportError as fault:
        raise MissingExtra(
            f"Tables in {address.system} need the library {fault.name!r}, which is not installed. "
            "Install it with: pip install 'shoal[db]'"
        ) from None
    try:
        yield database
    finally:
        database.close()
