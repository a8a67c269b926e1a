"""Check published tables that tests give in their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.base.roles import Role
from shoal.plan.plan import Plan
from shoal.privacy import Rule
from shoal.releases.anatomy import check as anatomy
from shoal.releases.dummies import check as dummies
from shoal.releases.generalized.check import check
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.tables.domain import Taxonomy
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema

_WHOSE = "whose row it is"


def verify(
    released: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    *,
    original: pl.DataFrame | None = None,
    schema: Schema | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    order: np.ndarray | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] = (),
    sensitive: Sequence[str] = (),
    persons: pl.Series | None = None,
    worst: int = 5,
) -> Verdict:
    """Check a generalized release that is given in its parts.

    ``missing``: texts that mean missing in the sensitive columns. ``persons``: whose row each is.
    """
    spoken = [rule.column for rule in rules if getattr(rule, "column", None) is not None]
    hidden = dict.fromkeys([*sensitive, *(spoken if missing else ())])
    texts = missing if isinstance(missing, Mapping) else dict.fromkeys(hidden, missing)
    own = {column.name: column for column in ([] if schema is None else schema.columns)}
    columns = [own.get(name, Column(name, Role.QUASI)) for name in quasi]
    columns += [Column(n, Role.SENSITIVE, missing=tuple(texts.get(n, ()))) for n in hidden]
    plan, source = Plan(), None
    if schema is not None and original is None:
        roles = {role: [c.name for c in own.values() if c.role is role] for role in Role}
        plan = plan.changed({"roles": {role: names for role, names in roles.items() if names}})
        columns += [column for name, column in own.items() if name not in (*quasi, *hidden)]
    if original is not None:
        source = Original(original, schema, order, taxonomies or {}, persons)
    elif persons is not None:
        released = released.with_columns(persons.alias(_WHOSE))
        columns.append(Column(_WHOSE, Role.PERSON))
    tables, complete = {"release": released}, persons is None
    opened = Opened(tables, tuple(columns), taxonomies or {}, plan=plan, complete=complete)
    return check(opened, rules, source, worst=worst)


def verify_sets(
    released: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    source: Original | None = None,
    domains: Mapping[str, pl.Series] | None = None,
) -> Verdict:
    """Check a table with sets of dummy values."""
    columns = [Column(name, Role.QUASI) for name in quasi]
    for name, values in (domains or {}).items():
        columns.append(Column(name, Role.SENSITIVE, domain=tuple(values)))
    return dummies.check(Opened({"release": released}, tuple(columns)), rules, source)


def verify_tables(
    released: pl.DataFrame,
    second: pl.DataFrame,
    quasi: Sequence[str],
    rules: Sequence[Rule],
    source: Original | None = None,
) -> Verdict:
    """Check the two tables of Anatomy."""
    columns = tuple(Column(name, Role.QUASI) for name in quasi)
    return anatomy.check(Opened({"release": released, "st": second}, columns), rules, source)
