"""Published tables from files, databases and frames: read once, opened once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import OutputError
from shoal.base.roles import Role
from shoal.plan.plan import Plan
from shoal.releases.anatomy import GROUP
from shoal.releases.opened import Opened
from shoal.tables.files import read_table, second_path
from shoal.tables.native import from_native
from shoal.tables.prepare import Hierarchies, gather, is_path, load_released
from shoal.tables.schema import Column
from shoal.tables.sources.source import Source, beside, place


def open_published(
    released: Any,
    plan: Plan | Callable[[Sequence[str]], Plan],
    *,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
    complete: bool = True,
) -> Opened:
    """Read a published table, and the second one beside it, and open the release they are.

    ``plan``: what is declared, or what says so once the columns are known; ``complete``: whether it
    declares every column.
    """

    def declared(columns: Sequence[str]) -> Plan:
        return plan if isinstance(plan, Plan) else plan(columns)

    frame = load_released(released, lambda columns: declared(columns).names(Role.QUASI))
    table = second_table(released, frame, st)
    tables = {"release": frame} | ({} if table is None else {"st": table})
    full = declared(frame.columns)
    taxonomies = gather(full, [*frame.columns, *full.columns], hierarchies)
    return Opened.of(
        tables, declared_columns(full, frame), taxonomies, plan=full, complete=complete
    )


def declared_columns(plan: Plan, frame: pl.DataFrame) -> list[Column]:
    """Return what a plan declares of a published table; what it does not name is passed through.

    Of a sensitive column every text is listed that means missing: taken for a value it would make
    a class look more diverse than it is.
    """
    columns = []
    for name, part in plan.columns.items():
        missing = part.missing
        if part.role is Role.SENSITIVE:
            missing = tuple(dict.fromkeys([*plan.data.missing, *part.missing]))
        columns.append(Column(name, part.role, part.kind, missing=missing, order=part.order))
    ends = {f"{name}{end}" for name in plan.names(Role.QUASI) for end in ("_lo", "_hi")}
    rest = [name for name in frame.columns if name not in (*plan.columns, *ends, GROUP)]
    return [*columns, *(Column(name, Role.OTHER) for name in rest)]


def second_table(released: Any, published: pl.DataFrame, given: Any = None) -> pl.DataFrame | None:
    """Return Anatomy's second table: the one given, or the one next to the first."""
    if given is not None:
        return _read(place(given)) if is_path(given) else from_native(given)
    if GROUP not in published.columns or not is_path(released):
        return None
    where = place(released)
    if isinstance(where, Source):
        return _beside(where)
    try:
        second = second_path(where)
    except OutputError:
        return None
    return read_table(second, quoted=True) if second.exists() else None


def _read(where: Path | Source) -> pl.DataFrame:
    if isinstance(where, Source):
        from shoal.tables.sources.reading import read_source

        return read_source(where)
    return read_table(where, quoted=True)


def _beside(where: Source) -> pl.DataFrame | None:
    """Return the table ``x_st`` next to the table ``x`` of a database, if there is one."""
    if where.table is None:
        return None
    from shoal.tables.sources.reading import exists, read_source

    second = beside(where)
    return read_source(second) if exists(second) else None
