"""Take a table in as a plan declares it: read, find hierarchies, settle every role and kind."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.domain import Taxonomy
from shoal.errors import SchemaError, ShoalWarning
from shoal.hierarchy import read_directory, read_hierarchy
from shoal.plan import Plan
from shoal.schema import Kind, Role, Schema, declare, guess, unknown_column
from shoal.table import from_native, read_table

Hierarchies = str | Path | Mapping[str, Taxonomy | str | Path]


def load(data: Any, plan: Plan, *, released: bool = False) -> pl.DataFrame:
    """Read a file, or take a frame in, as the plan says.

    In a ``released`` table only empty means missing: what else is written there is published. Its
    quasi-identifiers stay text, since a reader can tell 1.5 from 1.50.
    """
    missing = ("",) if released else plan.data.missing
    if isinstance(data, (str, os.PathLike)):
        delimiter = None if released else plan.data.delimiter
        text = plan.names(Role.QUASI) if released else ()
        return read_table(Path(data), missing=missing, delimiter=delimiter, text=text)
    return from_native(data, missing=missing)


def gather(
    plan: Plan, frame: pl.DataFrame, given: Hierarchies | None = None
) -> dict[str, Taxonomy]:
    """Read the hierarchies of the plan and of the call; the call's come last and win."""
    quasi = [name for name in plan.names(Role.QUASI) if name in frame.columns]
    wanted = quasi or frame.columns
    found: dict[str, Taxonomy] = {}
    if plan.data.hierarchies is not None:
        found |= read_directory(plan.path(plan.data.hierarchies), wanted)
    for name, part in plan.columns.items():
        if part.hierarchy is not None:
            found[name] = read_hierarchy(plan.path(part.hierarchy), name)
    if isinstance(given, (str, os.PathLike)):
        found |= read_directory(Path(given), wanted)
    elif given is not None:
        if unknown := [name for name in given if name not in frame.columns]:
            raise SchemaError([unknown_column(name, frame.columns) for name in unknown])
        found |= {
            name: value if isinstance(value, Taxonomy) else read_hierarchy(value, name)
            for name, value in given.items()
        }
    # A column that the plan declares ordered or a set stays so, whatever the folder holds.
    return {
        name: taxonomy
        for name, taxonomy in found.items()
        if name not in plan.columns or plan.columns[name].kind in (None, Kind.TAXONOMY)
    }


def resolve(
    frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy]
) -> tuple[Plan, Schema]:
    """Return the schema that the plan declares, and the plan with roles and kinds written out."""
    if not plan.columns:
        plan = _guessed(frame, plan, taxonomies)
    kinds = {name: part.kind for name, part in plan.columns.items() if part.kind is not None}
    kinds |= {
        name: Kind.ORDERED
        for name, part in plan.columns.items()
        if part.order and part.kind is None
    }
    schema = declare(
        frame,
        quasi=plan.names(Role.QUASI),
        sensitive=plan.names(Role.SENSITIVE),
        identifier=plan.names(Role.IDENTIFIER),
        other=plan.names(Role.OTHER),
        kinds=kinds,
        missing={name: part.missing for name, part in plan.columns.items() if part.missing},
        order={name: part.order for name, part in plan.columns.items() if part.order},
        taxonomies=taxonomies,
    )
    columns = tuple(
        replace(column, importance=plan.columns[column.name].importance)
        for column in schema.columns
    )
    schema = Schema(columns)
    schema.check(frame, taxonomies)
    return plan.with_kinds({c.name: c.kind for c in schema.columns if c.kind}), schema


def _guessed(frame: pl.DataFrame, plan: Plan, taxonomies: Mapping[str, Taxonomy]) -> Plan:
    """Fill in guessed roles, warn, and release nothing that no role was found for."""
    schema = guess(frame, taxonomies=taxonomies)
    if not schema.quasi:
        raise SchemaError(
            "No quasi-identifier was declared and none could be guessed from the column names "
            f"{', '.join(map(repr, frame.columns[:20]))}. Name them with --quasi (quasi=[...])."
        )
    roles = {role: schema.names(role) for role in (Role.QUASI, Role.SENSITIVE, Role.IDENTIFIER)}
    told = "; ".join(f"{role.value}: {', '.join(names)}" for role, names in roles.items() if names)
    left = f"; not released: {', '.join(schema.other)}" if schema.other else ""
    warnings.warn(
        f"Roles were guessed ({told}{left}). A guess does not know what others know: check them "
        "with 'shoal inspect', and declare them.",
        ShoalWarning,
        stacklevel=2,
    )
    return plan.override(roles=roles)
