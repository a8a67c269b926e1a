"""Inspect a table: columns, missing values, uniqueness and suggested roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from shoal.base.results import Caution, Piece, Result, ResultTable, percent
from shoal.base.roles import Role
from shoal.base.to_json import to_plain_data as plain_data
from shoal.measures.singling import Singling, singling_out
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.guess_person import not_people, repeating
from shoal.tables.schema import Column, Schema, plain, type_name
from shoal.tables.similar_values import look_alikes

_SIZES = (2, 5, 10)


_SETS = 3  # columns, combinations of each size, and rows that are shown


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
class Inspection(Result):
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

    def pieces(self, *, examples: bool = False) -> Iterator[Piece]:
        """Yield the columns, those that identify people, and how unique the rows are.

        ``examples``: also a value of every column.
        """
        heads = ["column", "type", "missing", "distinct", "example", "suggested role"]
        rows = [
            [
                look.column.name,
                look.type_name,
                percent(look.missing / max(self.rows, 1)),
                f"{look.distinct:,}",
                look.example[:24],
                look.column.role.label,
            ]
            for look in self.columns
        ]
        for row in () if examples else (heads, *rows):
            del row[4]
        yield ResultTable(heads, rows, spare=("example",))
        yield "Why these roles:"
        for look in self.columns:
            yield f"  {look.column.name}: {look.column.reason}"
        yield ""
        if self.not_people:
            yield Caution(self.not_people)
        yield from _identifying(self.singling)
        names = self.schema.quasi
        if not names:
            yield "No quasi-identifiers found or named. Name them with --quasi a,b,c."
            return
        yield f"By the quasi-identifiers {', '.join(names)}:"
        yield f"  missing values                  {percent(self.vmr)}"
        yield f"  rows with a missing value       {percent(self.rmr)}"
        for size, many in self.below.items():
            what = "rows that are unique" if size == 2 else f"rows in a class below {size}"
            yield f"  {what:<30}  {percent(many / self.rows)} ({many:,})"

    def with_schema(self, schema: Schema) -> Inspection:
        """Return the same look with other roles."""
        columns = tuple(replace(look, column=schema[look.column.name]) for look in self.columns)
        figures = uniqueness(self.frame, schema.quasi)
        return replace(self, columns=columns, schema=schema, **figures)

    @property
    def not_people(self) -> str:
        """What to know when rows are not people; nothing when they seem to be."""
        return not_people(self.schema, self.frame)

    @property
    def person_column(self) -> str | None:
        """The column that seems to say whose row it is, where people have several rows."""
        return self.schema.person or repeating(self.schema, self.frame)[1] or None

    @cached_property
    def look_alikes(self) -> dict[str, list[list[str]]]:
        """Groups of values of sensitive columns that may be one value, written in several ways."""
        found = {
            name: look_alikes(self.schema[name].clean(self.frame[name]), self.schema[name].same)
            for name in self.schema.sensitive
        }
        return {name: groups for name, groups in found.items() if groups}

    @property
    def look_alike_notes(self) -> list[str]:
        """What to tell the keeper of the table about them; it names values."""
        notes = []
        for name, groups in self.look_alikes.items():
            shown = "; ".join(", ".join(map(repr, group[:4])) for group in groups[:3])
            first, *others = (value.strip() for value in groups[0])
            same = f"{first}={','.join(dict.fromkeys(o for o in others if o != first)) or first}"
            notes.append(
                f"In {name!r} these values may mean the same: {shown}. They count as different. "
                f"Count them as one with --same '{same}' (same=[...])."
            )
        return notes

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


def _identifying(singling: Singling) -> Iterator[Piece]:
    """Yield which columns identify people, alone and together."""
    best = [one for one in singling.columns if one.unique][:_SETS]
    for size in (2, 3):
        best += [one for one in singling.together if len(one.columns) == size][:_SETS]
    if best:
        yield "Columns that identify people, alone or together:"
        yield ResultTable(
            ("columns", "rows that are unique"),
            [(" + ".join(one.columns), f"{one.unique:,} ({percent(one.alone)})") for one in best],
        )
    share = percent(singling.unique / max(singling.rows, 1))
    yield (
        f"{singling.unique:,} rows ({share}) are unique by three or fewer of "
        f"{', '.join(singling.tried)}."
    )
    for row in singling.worst[:_SETS]:
        sets = [" + ".join(names) for names in row.minimal]
        more = f", and {len(sets) - 2:,} more" if len(sets) > 2 else ""
        yield f"  Row {row.row + 1:,} is unique by {', by '.join(sets[:2])}{more}."
    yield ""


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
        **uniqueness(frame, schema.quasi),
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


def uniqueness(
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
