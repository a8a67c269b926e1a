"""Audit releases that keep their quasi-identifiers: dummy values and Anatomy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import OutputError, SchemaError, listed
from shoal.base.roles import Role
from shoal.measures.exposure import exposure
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.check_exact import plausible_exact, verify_sets, verify_tables
from shoal.releases.generalized.check import Verdict, held_back
from shoal.releases.opening import open_release
from shoal.tables.files import from_native, read_table, second_path
from shoal.tables.set_cells import read_sets
from shoal.tables.sources.source import Source, beside, place


def second_table(released: Any, published: pl.DataFrame, given: Any = None) -> pl.DataFrame | None:
    """Return Anatomy's second table: the one given, or the one next to the first."""
    if given is not None:
        return _read(place(given)) if isinstance(given, (str, os.PathLike)) else from_native(given)
    if GROUP not in published.columns or not isinstance(released, (str, os.PathLike)):
        return None
    where = place(released)
    if isinstance(where, Source):
        return _beside(where)
    try:
        second = second_path(where)
    except OutputError:
        return None
    return read_table(second) if second.exists() else None


def _read(where: Path | Source) -> pl.DataFrame:
    if isinstance(where, Source):
        from shoal.tables.sources.reading import read_source

        return read_source(where)
    return read_table(where)


def _beside(where: Source) -> pl.DataFrame | None:
    """Return the table ``x_st`` next to the table ``x`` of a database, if there is one."""
    if where.table is None:
        return None
    from shoal.tables.sources.reading import exists, read_source

    second = beside(where)
    return read_source(second) if exists(second) else None


def holds_sets(published: pl.DataFrame, sensitive: Sequence[str]) -> bool:
    """Tell whether a sensitive column (any, when none is named) holds sets of values."""
    names = [name for name in sensitive if name in published.columns] or published.columns
    return any(read_sets(published[name].head(1000)) is not None for name in names)


def forbidden(published: pl.DataFrame, plan: Plan) -> list[str]:
    """Name the published columns whose role says that they are never released."""
    return [
        held_back(name, part.role)
        for name, part in plan.columns.items()
        if name in published.columns and not part.role.published
    ]


def audit_exact(
    published: pl.DataFrame,
    table: pl.DataFrame | None,
    plan: Plan,
    extra: Sequence[Rule] = (),
    original: pl.DataFrame | None = None,
) -> Verdict:
    """Verify the published tables, and say what an attacker can believe of a person.

    Without a rule the promise is l = 2: distinct for sets, frequency for Anatomy.
    """
    quasi = plan.names(Role.QUASI)
    if table is None:
        sensitive = plan.names(Role.SENSITIVE) or [
            name for name in published.columns if read_sets(published[name]) is not None
        ]
        default = "l-diversity"
    else:
        sensitive = [name for name in table.columns if name not in (GROUP, COUNT)]
        default = "frequency-l-diversity"
    if unknown := [name for name in plan.names(Role.SENSITIVE) if name not in sensitive]:
        raise SchemaError(
            f"The second table has no sensitive column {unknown[0]!r}; it has {listed(sensitive)}."
        )
    asked = "rules" in plan.model_fields_set
    specs = [part.spec for part in plan.filled().rules] if asked else [{"name": default, "l": 2}]
    rules = (*build_rules(specs, sensitive), *extra)
    verdict = (
        verify_sets(published, quasi, rules)
        if table is None
        else verify_tables(published, table, quasi, rules)
    )
    faults = list(verdict.faults)
    faults += forbidden(published, plan)
    if original is not None:
        kept = [*quasi, *(name for name in plan.names(Role.OTHER) if name in published.columns)]
        faults += plausible_exact(published, table, original, kept, sensitive)
    posterior = {
        name: open_release(published, name, table=table, quasi=quasi).risk(name)
        for name in sensitive
    }
    figures = {
        "data": {"quasi-identifiers": quasi, "sensitive attributes": sensitive},
        "shape": "dummies" if table is None else "anatomized",
        "seeded": plan.seed is not None,
        "posterior": posterior,
    }
    if exposed := exposure(published, quasi, sensitive):
        figures["exposure"] = exposed.to_dict()
    return replace(verdict, holds=not faults, faults=tuple(faults), models=figures)
