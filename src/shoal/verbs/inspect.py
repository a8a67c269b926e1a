"""A first look at a table: its columns, what is missing, and how unique its rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from shoal.base.roles import Role
from shoal.base.to_json import as_json, table_html
from shoal.base.to_json import plain as plain_data
from shoal.measures.singling import Singling, singling_out
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.whose import not_people, repeating
from shoal.tables.schema import Column, Schema, plain, type_name

_SIZES = (2, 5, 10)


@dataclass(frozen=True)
class ColumnLook:
    """One column: its suggested role, its type, its missing cells and different values."""

    column: Column
    dtype: str
    type_name: str
    missing: int
    distinct: int
    example: str


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return (
            f"Inspection({self.rows:,} rows, {len(self.columns)} columns, {self.unique:,} unique "
            f"rows, {self.vmr:.1%} of cells missing)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        columns = [
            {
                "name": look.column.name,
                "type": look.dtype,
                "missing": look.missing,
                "distinct": look.distinct,
                "example": look.example,
                "role": look.column.role.value,
                "kind": look.column.kind.value if look.column.kind else None,
                "reason": look.column.reason,
            }
            for look in self.columns
        ]
        standing = {"vmr": self.vmr, "rmr": self.rmr, "below": self.below}
        told: dict[str, Any] = plain_data(
            {"rows": self.rows, "columns": columns, "quasi": list(self.schema.quasi)}
            | standing
            | {"singling": self.singling.to_dict(), "not_people": self.not_people}
        )
        return told

    to_json = as_json

    def _repr_html_(self) -> str:
        """Show the columns in a notebook, with the role that each suggests and why."""
        rows = [
            (
                look.column.name,
                look.type_name,
                f"{look.missing / max(self.rows, 1):.1%}",
                look.distinct,
                look.column.role.label,
                look.column.kind.value if look.column.kind else "",
                look.column.reason,
            )
            for look in self.columns
        ]
        heads = ("column", "type", "missing", "distinct", "role", "kind", "why")
        return table_html(f"{self.rows:,} rows", heads, rows)

    def decided(self, schema: Schema) -> Inspection:
        """Return the same look with other roles."""
        columns = tuple(replace(look, column=schema[look.column.name]) for look in self.columns)
        figures = standing(self.frame, schema.quasi)
        return replace(self, columns=columns, schema=schema, **figures)

    @property
    def not_people(self) -> str:
        """What to know when rows are not people; nothing when they seem to be."""
        return not_people(self.schema, self.frame)

    @property
    def whose(self) -> str | None:
        """The column that seems to say whose row it is, where people have several rows."""
        return self.schema.person or repeating(self.schema, self.frame)[1] or None

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
        together = [
            name for name in names if self.schema[name].role not in (Role.IDENTIFIER, Role.PERSON)
        ]
        return singling_out(self.frame, names, together=together)


def inspect(
    frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy], *, only: bool = False
) -> Inspection:
    """Look at a table and suggest roles, with reasons.

    Parameters
    ----------
    frame
        The table.
    plan
        Roles, kinds and missing texts already declared.
    taxonomies
        Columns that have one are suggested as taxonomies.
    only
        The plan names all quasi-identifiers: none is to be guessed besides.
    """
    roles = {name: declared.role for name, declared in plan.columns.items()}
    kinds = {
        name: declared.kind for name, declared in plan.columns.items() if declared.kind is not None
    }
    schema = guess(frame, roles=roles, kinds=kinds, taxonomies=taxonomies)
    if only:
        schema = _only(schema, plan.names(Role.QUASI))
    return Inspection(
        rows=frame.height,
        columns=tuple(_look(frame[column.name], column) for column in schema.columns),
        schema=schema,
        **standing(frame, schema.quasi),
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
    hidden = column.role in (Role.IDENTIFIER, Role.PERSON, Role.SENSITIVE)
    shown = simple and len(known) and not hidden
    return ColumnLook(
        column=column,
        dtype=str(series.dtype),
        type_name=type_name(series.dtype),
        missing=series.null_count(),
        distinct=known.n_unique() if simple else 0,
        example=str(known[0]) if shown else "",
    )


def standing(
    frame: pl.DataFrame, names: Sequence[str], sizes: Sequence[int] = _SIZES
) -> dict[str, Any]:
    """Return how unique rows are on some columns, as :class:`Inspection` has it."""
    if not names:
        return {"below": {}, "vmr": 0.0, "rmr": 0.0}
    rows = max(frame.height, 1)
    classes = frame.group_by(list(names)).len()["len"]  # a missing value is a value
    holed = frame.select(pl.any_horizontal(pl.col(names).is_null()).sum()).item()
    gaps = sum(frame[name].null_count() for name in names)
    return {
        "below": {size: int(classes.filter(classes < size).sum()) for size in sizes},
        "vmr": gaps / (rows * len(names)),
        "rmr": int(holed) / rows,
    }
