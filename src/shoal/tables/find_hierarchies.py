"""Find the hierarchies of a run: in the plan, in a folder, or in the call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

from shoal.base.errors import SchemaError, ShoalWarning, format_names
from shoal.base.roles import Kind, Role
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.hierarchy import read_directory, read_hierarchy
from shoal.tables.schema import unknown_column

Hierarchies = str | Path | Mapping[str, Taxonomy | str | Path]


def is_path(value: object) -> TypeGuard[str | Path]:
    """Tell whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def _given(value: Taxonomy | str | Path, name: str) -> Taxonomy:
    if isinstance(value, Taxonomy):
        return value
    if not is_path(value):
        raise SchemaError(
            f"The hierarchy of column {name!r} is a {type(value).__name__}. Give a file, or a "
            "shoal.Taxonomy (Taxonomy.from_rows makes one of rows: value, wider labels, top)."
        )
    return read_hierarchy(value, name)


def find_hierarchies(
    plan: Plan, columns: Sequence[str], hierarchies: Hierarchies | None = None
) -> dict[str, Taxonomy]:
    """Read the hierarchies of the plan and of the call; the call's come last and win."""
    quasi = [name for name in plan.names(Role.QUASI) if name in columns]
    wanted = quasi or columns
    trees: dict[str, Taxonomy] = {}
    if plan.data.hierarchies is not None:
        trees |= read_directory(plan.path(plan.data.hierarchies), wanted)
    for name, column in plan.columns.items():
        if column.hierarchy is not None:
            trees[name] = read_hierarchy(plan.path(column.hierarchy), name)
    if isinstance(hierarchies, Mapping):  # a folder stands in the plan already
        if unknown := [name for name in hierarchies if name not in columns]:
            raise SchemaError([unknown_column(name, columns) for name in unknown])
        trees |= {name: _given(value, name) for name, value in hierarchies.items()}
    # A column that the plan declares ordered or a set stays so, whatever the folder holds.
    kinds = {name: part.kind for name, part in plan.columns.items()}
    if unused := [name for name in trees if kinds.get(name) is Kind.SET]:
        warnings.warn(
            f"The hierarchy of {format_names(unused)} is not used, because the plan says kind = "
            "'set': "
            "names are published as sets of values, which all occur. Say kind = 'taxonomy' in the "
            "plan to use it, or take the hierarchy away.",
            ShoalWarning,
            stacklevel=3,
        )
    return {
        name: taxonomy
        for name, taxonomy in trees.items()
        if kinds.get(name) in (None, Kind.TAXONOMY)
    }
