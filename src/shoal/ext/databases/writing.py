"""Write a release into a database in one transaction."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from shoal.base.address import Address
from shoal.base.errors import OutputError, format_names
from shoal.base.system import rename_new
from shoal.ext.databases.arrow import batches
from shoal.ext.databases.database import Database, Found, opened
from shoal.ext.databases.faults import translate_errors
from shoal.ext.databases.reading import selection
from shoal.tables.source import Place, Source
from shoal.tables.sql_names import Name, quote, read_name

_PATIENCE = 20.0  # seconds for a driver to let go after ctrl-C
_LEFT = ("", ".wal", "-journal", "-wal", "-shm")  # what a database file has beside it


def check_target(
    targets: Sequence[Source], *, force: bool = False, inputs: Sequence[Place | str] = ()
) -> None:
    """Say why a release may not be written, before any work: try it, and undo it.

    Parameters
    ----------
    targets
        The tables to be made, all in one database.
    force
        Existing tables may be replaced.
    inputs
        What the release is made from: never written over, not even with ``force``.
    """
    address = targets[0].address
    if _is_new(address):
        _check_folder(address)
        for target in targets:
            assert target.table is not None
        return
    used = _used(inputs)
    with (
        opened(address, write=True) as database,
        translate_errors(address, _cannot(targets[0]), OutputError),
    ):
        _spare(database, used, targets)
        for target in targets:
            name, old = _place(database, target, force)
            if old:
                database.run(f"drop table {old.name.sql}")
            _create(database, name, {"shoal": "integer"})
        database.rollback()


@contextlib.contextmanager
def written(
    tables: Mapping[Source, pl.DataFrame],
    *,
    force: bool = False,
    inputs: Sequence[Place | str] = (),
) -> Iterator[None]:
    """Write tables; they appear when the block ends well, and never if it does not."""
    targets = list(tables)
    address = targets[0].address
    with contextlib.ExitStack() as stack:
        if _is_new(address):
            address = stack.enter_context(_new_file(address))
        used = _used(inputs)
        database = stack.enter_context(opened(address, write=True))
        with translate_errors(address, _cannot(targets[0]), OutputError):
            _spare(database, used, targets)
            for target, frame in tables.items():
                _write(database, target, frame, force)
        yield
        with translate_errors(address, _cannot(targets[0]), OutputError):
            database.commit()


def _cannot(target: Source) -> str:
    return f"Cannot write the release to {target}"


def _write(database: Database, target: Source, frame: pl.DataFrame, force: bool) -> None:
    name, old = _place(database, target, force)
    columns = _fitted(database, frame, target)
    # Readers keep the old release until the new one is complete: it takes its place last.
    aside = Name(name.schema, f"shoal_{secrets.token_hex(8)}") if old else name
    _create(database, aside, {series.name: kind for series, kind in columns})
    _insert(database, aside, [series for series, _ in columns])
    if old:
        database.run(f"drop table {old.name.sql}")  # unless something depends on it
        database.run(f"alter table {aside.sql} rename to {quote(name.table)}")


def _create(database: Database, name: Name, columns: Mapping[str, str]) -> None:
    typed = ", ".join(f"{quote(column)} {kind}" for column, kind in columns.items())
    database.run(f"create table {name.sql} ({typed})")


def _insert(database: Database, name: Name, columns: list[pl.Series]) -> None:
    """Insert rows in a second thread, so that this one hears ctrl-C whatever the driver does."""
    stop, done = threading.Event(), threading.Event()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            database.insert(name, batches(columns, stop))
        except BaseException as fault:  # handed to the caller's thread below
            failed.append(fault)
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    try:
        done.wait()
    except BaseException:
        stop.set()
        database.cancel()
        done.wait(_PATIENCE)
        raise
    if failed:
        raise failed[0]


def _place(database: Database, target: Source, force: bool) -> tuple[Name, Found | None]:
    """Return the full name of a table to be made, and what stands there now."""
    assert target.table is not None
    asked = read_name(target.table)
    name = Name(asked.schema if asked.schema is not None else database.home(), asked.table)
    limit = database.longest()
    if limit is not None and len(name.table.encode()) > limit:
        raise OutputError(
            f"The table name {name.table!r} is too long: {len(name.table.encode())} bytes, and "
            f"{target.address.system} keeps {limit}. Choose a shorter one with --into."
        )
    old = database.find(name)
    if old is None:
        return name, None
    if old.kind != "table":
        raise OutputError(
            f"The output {target} is a {old.kind}, which Shoal never replaces. Choose another "
            "name with --into."
        )
    if not force:
        raise OutputError(
            f"The output {target} already exists. Choose another name with --into, or allow it to "
            "be replaced with --force (force=True)."
        )
    return name, old


@dataclass(frozen=True)
class _Used:
    """An input: the database it is in, and schema and name of every table that it reads there."""

    source: Source
    identity: object
    tables: set[tuple[str, str]]


def _used(inputs: Sequence[Place | str]) -> list[_Used]:
    """Look at the inputs that are in databases, each through a connection that is closed again."""
    used = []
    for source in inputs:
        if isinstance(source, Source):
            with (
                opened(source.address) as database,
                translate_errors(source.address, f"Cannot read {source}"),
            ):
                select = selection(database, source)
                identity = database.identity()
                own = None if source.table is None else database.find(read_name(source.table))
                tables = database.reads(select)
                if own is not None and own.name.schema is not None:
                    tables.add((own.name.schema, own.name.table))
                used.append(_Used(source, identity, tables))
    return used


def _spare(database: Database, used: Sequence[_Used], targets: Sequence[Source]) -> None:
    """Refuse to write over a table that the release is made from, also one below a view."""
    for read in used:
        if read.identity != database.identity():
            continue
        taken = {tuple(map(database.same, name)) for name in read.tables}
        for target in targets:
            assert target.table is not None
            name = read_name(target.table)
            schema = name.schema if name.schema is not None else database.home()
            if (database.same(schema), database.same(name.table)) in taken:
                raise OutputError(
                    f"The output {target} is the input {read.source}. Shoal never writes over the "
                    "data it reads: choose another name with --into."
                )


def _fitted(database: Database, frame: pl.DataFrame, target: Source) -> list[tuple[pl.Series, str]]:
    """Give every column a type of the database, or name those that have none."""
    fitted = []
    faults = []
    limit = database.longest()
    for series in frame:
        fit = database.fit(series)
        if fit is None:
            faults.append(f"{series.name!r} ({series.dtype})")
        else:
            fitted.append(fit)
    if faults:
        raise OutputError(
            f"{target.address.system} has no type for the columns {', '.join(faults)}. Nothing was "
            "written; write a .parquet file instead, or leave these columns out."
        )
    long = [name for name in frame.columns if limit and len(name.encode()) > limit]
    if long:
        raise OutputError(
            f"Names of columns are too long: {format_names(long)}; {target.address.system} "
            f"keeps {limit} "
            "bytes. Nothing was written; rename them."
        )
    return fitted


def _is_new(address: Address) -> bool:
    return address.path is not None and not os.path.lexists(address.path)


def _check_folder(address: Address) -> None:
    assert address.path is not None
    folder = address.path.absolute().parent
    if not folder.is_dir():
        raise OutputError(
            f"Cannot write {address}: the directory {folder} does not exist. Create it first."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(
            f"Cannot write {address}: no permission to create files in {folder}. Choose another "
            "directory."
        )


@contextlib.contextmanager
def _new_file(address: Address) -> Iterator[Address]:
    """Make a database under a hidden name; it gets its own name when all is well."""
    assert address.path is not None
    _check_folder(address)
    path = address.path.absolute()
    hidden = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        yield replace(address, path=hidden)
        try:
            rename_new(hidden, path)
        except FileExistsError:
            raise OutputError(
                f"The output {address} appeared while it was being made; it was left alone. "
                "Run again."
            ) from None
    finally:
        for ending in _LEFT:
            Path(f"{hidden}{ending}").unlink(missing_ok=True)
