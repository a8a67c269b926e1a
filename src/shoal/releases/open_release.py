"""Open a published release from files, databases or frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.column_names import NoRows
from shoal.base.errors import OutputError
from shoal.base.roles import Role
from shoal.catalog import DOMAIN
from shoal.catalog.extensions import require
from shoal.plan.data import DataPart
from shoal.plan.plan import Plan
from shoal.releases.anatomy import GROUP
from shoal.releases.counterfeits import COUNTERFEITS
from shoal.releases.ends import ENDS, all_ends
from shoal.releases.opened import Opened
from shoal.tables.files import read_file, second_path
from shoal.tables.find_hierarchies import Hierarchies, find_hierarchies, is_path
from shoal.tables.native import from_native
from shoal.tables.open_table import read_data
from shoal.tables.schema import Column
from shoal.tables.set_cells import read_sets
from shoal.tables.source import Source, parse_place, side_table

NOTHING_SAID = DataPart()
SIDES = ("st", DOMAIN, COUNTERFEITS)
"""The tables that may lie beside a release, by their part of the name."""


def open_published(
    released: Any,
    plan: Plan | Callable[[Sequence[str]], Plan],
    *,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
    complete: bool = True,
    how: DataPart = NOTHING_SAID,
) -> Opened:
    """Read a published table, and the second one beside it, and open the release they are.

    ``plan``: what is declared, or what says so once the columns are known; ``complete``: whether it
    declares every column; ``how`` its file is read (encoding, sheet, labels).
    """

    def declared(columns: Sequence[str]) -> Plan:
        return plan if isinstance(plan, Plan) else plan(columns)

    # Only empty means missing there: what else stands in a release is published.
    frame, digest = read_data(
        parse_place(released) if is_path(released) else released,
        how.released,
        lambda columns: declared(columns).names(Role.QUASI),
    )
    tables = {"release": frame, **side_tables(released, frame, st, how)}
    full = declared(frame.columns)
    typed = [name.removesuffix(ENDS[0]) for name in frame.columns if name.endswith(ENDS[0])]
    taxonomies = find_hierarchies(full, [*frame.columns, *full.columns, *typed], hierarchies)
    columns = declared_columns(full, frame)
    opened = Opened.from_tables(tables, columns, taxonomies, plan=full, complete=complete)
    return replace(opened, digest=digest)


def declared_columns(plan: Plan, frame: pl.DataFrame) -> list[Column]:
    """Return what a plan declares of a published table; what it does not name is passed through.

    Of a sensitive column every text is listed that means missing: taken for a value it would make
    a class look more diverse than it is.
    """
    columns = []
    for name, declared in plan.columns.items():
        missing, own = declared.missing, declared.domain or ()
        if declared.role is Role.SENSITIVE:
            missing = tuple(dict.fromkeys([*plan.data.missing, *declared.missing]))
        role, kind, order = declared.role, declared.kind, declared.order
        columns.append(Column(name, role, kind, missing=missing, order=order, domain=own))
    ends = all_ends(frame, plan.names(Role.QUASI))
    rest = [name for name in frame.columns if name not in (*plan.columns, *ends, GROUP)]
    return [*columns, *(Column(name, Role.KEEP) for name in rest)]


def side_tables(
    released: Any, published: pl.DataFrame, sides: Any, how: DataPart
) -> dict[str, pl.DataFrame]:
    """Return the other tables of a release, by name, as far as its first one has their marks.

    Anatomy's second table: the one given, or the one next to the first. The domains from which sets
    were drawn, and the counterfeits of its classes, if they stand next to it.
    """
    if sides is not None:
        return {"st": _read(parse_place(sides), how) if is_path(sides) else from_native(sides)}
    if not is_path(released):
        return {}
    names = SIDES if GROUP in published.columns else SIDES[1:]
    tables = ((name, _beside(parse_place(released), name, published, how)) for name in names)
    return {name: table for name, table in tables if table is not None}


def _read(where: Path | Source, how: DataPart) -> pl.DataFrame:
    if isinstance(where, Source):
        require("databases")
        from shoal.ext.databases.reading import read_source

        return read_source(where)
    return read_file(where, how.released, quoted=True)[0]


def _beside(
    where: Path | Source, name: str, published: pl.DataFrame, how: DataPart
) -> pl.DataFrame | None:
    """Return the table ``x.st.csv`` next to ``x.csv``, or ``x_st`` next to ``x`` of a database."""
    if isinstance(where, Path):
        try:
            second = second_path(where, name)
        except OutputError:
            return None
        # A wide table takes long to look through: first of all there must be something to read.
        there = second.exists() and (name != DOMAIN or _holds_sets(published))
        text = {DOMAIN: ("column", "value"), COUNTERFEITS: published.columns}.get(name, ())
        try:
            return read_file(second, how.released, text=text, quoted=True)[0] if there else None
        except NoRows:  # no counterfeits are told by a table without rows
            if name != COUNTERFEITS:
                raise
            return None
    if where.table is None or (name == DOMAIN and not _holds_sets(published)):
        return None
    require("databases")
    from shoal.ext.databases.reading import exists, read_source

    other = side_table(where, name)
    return read_source(other) if exists(other) else None


def _holds_sets(published: pl.DataFrame) -> bool:
    return any(read_sets(column.head(1000)) is not None for column in published)
