"""A first look at a table: its columns, what is missing, and how alone its rows stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.roles import Role
from shoal.measures.singling import Singling, singling_out
from shoal.plan.plan import Plan
from shoal.tables.guessing import guess
from shoal.tables.prepare import Hierarchies, gather, load, locate
from shoal.tables.schema import Column, Schema, plain

_SIZES = (2, 5, 10)


@dataclass(frozen=True)
class ColumnLook:
    """One column: its suggested part, its type, what is missing, how many values differ."""

    column: Column
    dtype: str
    missing: int
    distinct: int
    example: str


@dataclass(frozen=True)
class Inspection:
    """What a table looks like to someone who wants to publish it.

    Parameters
    ----------
    rows
        Number of rows.
    columns
        One look per column.
    schema
        The suggested (or declared) roles and kinds.
    vmr, rmr
        Share of missing quasi-identifier cells, and of rows with at least one.
    below
        For each size: rows whose quasi-identifiers are shared by fewer than so many rows; 2 tells
        the rows that are unique.
    frame
        The table as it was read.
    """

    rows: int
    columns: tuple[ColumnLook, ...]
    schema: Schema
    vmr: float
    rmr: float
    below: dict[int, int]
    frame: pl.DataFrame = field(repr=False, compare=False)

    @property
    def unique(self) -> int:
        """Number of rows that are alone with their quasi-identifiers."""
        return self.below.get(2, 0)

    @cached_property
    def singling(self) -> Singling:
        """Which columns, and which few together, single rows out; identifiers only by themselves.

        Found out when it is first asked for: of a large table this takes some seconds.
        """
        names = [column.name for column in self.schema.columns]
        together = [name for name in names if name not in self.schema.identifier]
        return singling_out(self.frame, names, together=together)


def inspect(
    data: Any = None,
    *,
    quasi: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    missing: Sequence[str] | None = None,
    plan: Plan | str | Path | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Inspection:
    """Look at a table (a file, a database or a frame) and suggest roles, with reasons.

    Parameters
    ----------
    data
        A file, the address of a database, or a frame.
    quasi
        Quasi-identifiers to measure; guessed otherwise.
    hierarchies
        Columns that have one are suggested as taxonomies.
    missing
        Texts that mean missing besides the empty one.
    plan
        Roles, kinds and missing texts already declared.
    table, query
        What to read from a database.
    """
    base = Plan() if plan is None else plan if isinstance(plan, Plan) else Plan.read(plan)
    full = base.override(
        roles={} if quasi is None else {Role.QUASI: list(quasi)},
        data={} if missing is None else {"missing": ["", *missing]},
    )
    frame = load(locate(data, full, table, query), full)
    taxonomies = gather(full, frame, hierarchies)
    known = {name: part.role for name, part in full.columns.items()}
    kinds = {name: part.kind for name, part in full.columns.items() if part.kind is not None}
    schema = guess(frame, roles=known, kinds=kinds, taxonomies=taxonomies)
    if quasi is not None:
        schema = _only(schema, list(quasi))
    names = list(schema.quasi)
    cells = frame.height * len(names)
    return Inspection(
        rows=frame.height,
        columns=tuple(_look(frame[column.name], column) for column in schema.columns),
        schema=schema,
        vmr=sum(frame[name].null_count() for name in names) / cells if cells else 0.0,
        rmr=_incomplete(frame, names),
        below=_below(frame, names),
        frame=frame,
    )


def _only(schema: Schema, quasi: Sequence[str]) -> Schema:
    """Return the schema in which no other column than these is a quasi-identifier."""
    return Schema(
        tuple(
            Column(column.name, Role.UNDECIDED, None, f"not named, although {column.reason}")
            if column.role is Role.QUASI and column.name not in quasi
            else column
            for column in schema.columns
        )
    )


def _look(series: pl.Series, column: Column) -> ColumnLook:
    known = series.drop_nulls()
    simple = plain(series.dtype)
    # Identifiers and sensitive values are nobody's business, not even on the steward's screen.
    hidden = column.role in (Role.IDENTIFIER, Role.SENSITIVE)
    shown = simple and len(known) and not hidden
    return ColumnLook(
        column=column,
        dtype=str(series.dtype),
        missing=series.null_count(),
        distinct=known.n_unique() if simple else 0,
        example=str(known[0]) if shown else "",
    )


def _incomplete(frame: pl.DataFrame, names: Sequence[str]) -> float:
    if not names or not frame.height:
        return 0.0
    holed = frame.select(pl.any_horizontal(pl.col(names).is_null()).sum()).item()
    return int(holed) / frame.height


def _below(frame: pl.DataFrame, names: Sequence[str]) -> dict[int, int]:
    """Count the rows in small classes of identical quasi-identifiers, missing as a value."""
    if not names:
        return {}
    sizes = frame.group_by(list(names)).len()["len"]
    return {size: int(sizes.filter(sizes < size).sum()) for size in _SIZES}
