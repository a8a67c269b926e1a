"""The class Source: a table in a file or a database."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from shoal.base.address import Address, file_address, is_address, parse, refuse_pairs
from shoal.base.errors import ParameterError
from shoal.tables.sql_names import read_name

# How a file of a database begins: where, and with what.
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
# What a new file is to be, by its ending.
_ENDINGS = {".duckdb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}


class Place(Protocol):
    """A file's path, or a :class:`Source`."""

    def __fspath__(self) -> str:
        """Return the file, or for a server a text that is no file."""
        ...


@dataclass(frozen=True)
class Source:
    """A table or a query of a database, standing where a file could stand.

    Printed, it is the address without its password. As a path it is the file of the database, so
    that whatever guards input files guards it too. ``own`` is false when the query is that of a
    plan, which somebody else may have written.
    """

    address: Address
    table: str | None = None
    query: str | None = None
    own: bool = True

    def __post_init__(self) -> None:
        if self.table is not None and self.query is not None:
            raise ParameterError(
                f"Both a table ({self.table!r}) and a query were given for {self.address}. Keep "
                "one of --table (table=...) and --query (query=...)."
            )
        if self.table is not None:
            read_name(self.table)

    def __str__(self) -> str:
        if self.query is not None:
            return f"a query on {self.address}"
        table = (self.table or "").replace("%", "%25").replace("@", "%40")
        return f"{self.address}#{table}" if table else str(self.address)

    @property
    def again(self) -> str:
        """The words that name this on a command line, without a password."""
        table = str(self).removeprefix(str(self.address)) if self.table else ""
        return f"{self.address.bare}{table}{' --query ...' if self.query else ''}"

    def plan_keys(self, folder: Path) -> dict[str, str]:
        """Return what a plan in ``folder`` says to read this again; no password is in it."""
        source = self.address.bare
        path = self.address.path
        if path is not None and not path.is_absolute():
            source = file_address(Path(os.path.relpath(path, folder)), self.address.system).bare
        keys = {"source": source, "table": self.table, "query": self.query}
        return {key: value for key, value in keys.items() if value is not None}

    def __fspath__(self) -> str:
        return str(self.address.path or self.address.shown)


def parse_place(
    given: str | os.PathLike[str] | Source, table: str | None = None, query: str | None = None
) -> Path | Source:
    """Return the file or the database that is meant.

    Parameters
    ----------
    given
        A path, an address such as ``postgresql://host/db#table``, or a :class:`Source`. A file
        of SQLite or DuckDB is known by its first bytes.
    table, query
        What to read there; only for databases.
    """
    refuse_pairs(given)
    if isinstance(given, Source):
        source = given
    elif is_address(given):
        address, named = parse(str(given))
        source = Source(address, named)
    else:
        path = Path(given)
        system = _system(path)
        if system is None:
            if table is None and query is None:
                return path
            word, value = ("--table", table) if table is not None else ("--query", query)
            raise ParameterError(
                f"{word} {value!r} goes with a database, and {path} is none. Leave it out, or "
                "give an address such as postgresql://host/db, duckdb:FILE or sqlite:FILE."
            )
        source = Source(file_address(path, system))
    if table is None and query is None:
        return source
    if source.table is not None and (query is not None or source.table != table):
        raise ParameterError(
            f"The address names the table {source.table!r}, and --table or --query says something "
            "else. Keep one of them."
        )
    return replace(source, table=table, query=query)


def parse_target(value: str | os.PathLike[str], into: str | None = None) -> Path | Source:
    """Return where a release goes: a file, or the table ``into`` of a database."""
    refuse_pairs(value)
    if is_address(value):
        address, named = parse(str(value))
        if named is not None and into is not None and named != into:
            raise ParameterError(
                f"The output names the table {named!r}, and --into names {into!r}. Keep one."
            )
        if named is None and into is None:
            raise ParameterError(
                f"The output {address} is a database. Name the table that the release becomes "
                "with --into NAME."
            )
        return Source(address, into if into is not None else named)
    path = Path(value)
    system = _system(path) or (_ENDINGS.get(path.suffix.lower()) if into is not None else None)
    if system is not None and into is not None:
        return Source(file_address(path, system), into)
    if system is not None:
        raise ParameterError(
            f"The output {path} is a database. Name the table that the release becomes with "
            "--into NAME."
        )
    if into is not None:
        raise ParameterError(
            f"--into {into!r} goes with a database, and {path} is none. Leave it out, or give an "
            "address such as postgresql://host/db, duckdb:FILE or sqlite:FILE."
        )
    return path


def side_table(source: Source, name: str) -> Source:
    """Return where another table of a release is: ``x`` -> ``x_st``."""
    assert source.table is not None
    return replace(source, table=str(read_name(source.table).with_suffix(f"_{name}")))


def _system(path: Path) -> str | None:
    """Tell by its first bytes whether a file is a database."""
    try:
        about = path.stat()
        if not S_ISREG(about.st_mode):  # a pipe can be read once, and not by us
            return None
        return _system_of(path, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _system_of(path: Path, *_state: int) -> str | None:
    """Read the first bytes of a file, once for each state of it."""
    with path.open("rb") as stream:
        head = stream.read(16)
    for system, (start, magic) in _MAGIC.items():
        if head[start : start + len(magic)] == magic:
            return system
    return None
