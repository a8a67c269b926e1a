"""Check a published file or frame against its promise, with or without the original at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import SchemaError
from shoal.base.roles import Role
from shoal.measures.exposure import exposure
from shoal.measures.models import models
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules, rule_spec
from shoal.privacy import Rule, flatten
from shoal.releases.generalized.check import Verdict, verify
from shoal.tables.cells import blank, typed
from shoal.tables.prepare import Hierarchies, gather, load, resolve
from shoal.verbs.audit_exact import audit_exact, forbidden, holds_sets, second_table


def audit(
    released: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifier: Sequence[str] | None = None,
    k: int | None = None,
    rules: Sequence[Rule] | None = None,
    original: Any = None,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
    plan: Plan | str | Path | None = None,
) -> Verdict:
    """Say what a release achieves, from its published cells alone.

    Parameters
    ----------
    released
        The published table, a file or a frame.
    quasi, sensitive, identifier
        Its columns by role, unless the plan declares them; a published identifier is a fault.
        Of sensitive columns every privacy model is measured, see ``models`` of the verdict.
    k, rules
        The promise to check (k = 10 unless a plan says otherwise).
    original
        The table it was made from: then every released cell must also cover its source.
    st
        Anatomy's second table; next to a file ``x.csv`` it is found as ``x.st.csv``.
    hierarchies
        The hierarchies that were used, to understand generalized cells; only with ``original``.
    plan
        The plan of the run.
    """
    base = Plan() if plan is None else plan if isinstance(plan, Plan) else Plan.read(plan)
    if rules is not None:
        base = base.with_rules([spec for rule in flatten(rules) if (spec := rule_spec(rule))])
    named = {Role.QUASI: quasi, Role.SENSITIVE: sensitive, Role.IDENTIFIER: identifier}
    full = base.override(
        roles={role: list(names) for role, names in named.items() if names is not None},
        rules=[] if k is None else [{"name": "k-anonymity", "k": k}],
    )
    wanted = full.names(Role.QUASI)
    if not wanted:
        raise SchemaError(
            "An audit needs the quasi-identifiers, and none were given. Name them with --quasi "
            "(quasi=[...]) or give the plan of the run with --plan (plan=...)."
        )
    extra = tuple(rule for rule in flatten(rules or ()) if not rule_spec(rule))
    published = load(released, full, released=True)
    table = second_table(released, published, st)
    if table is not None or holds_sets(published, full.names(Role.SENSITIVE)):
        source = None if original is None else load(original, full)
        return audit_exact(published, table, full, extra, source)
    specs = [part.spec for part in full.filled().rules]
    checked = (*build_rules(specs, full.names(Role.SENSITIVE)), *extra)
    hidden = full.names(Role.SENSITIVE)
    own = [text for name in hidden for text in full.columns[name].missing]
    missing = tuple(dict.fromkeys([*full.data.missing, *own]))
    if original is None:
        verdict = verify(published, wanted, checked, missing=missing, sensitive=hidden)
        if faults := forbidden(published, full):
            verdict = replace(verdict, holds=False, faults=(*verdict.faults, *faults))
        return _measured(verdict, published, wanted, missing)
    frame = load(original, full)
    if not base.columns:
        full = _rest_as_other(full, published, frame)
    taxonomies = gather(full, frame, hierarchies)
    full, schema = resolve(frame, full, taxonomies)
    verdict = verify(
        published,
        wanted,
        checked,
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
        missing=missing,
        sensitive=hidden,
    )
    return _measured(verdict, published, wanted, missing)


def _measured(
    verdict: Verdict, published: pl.DataFrame, quasi: Sequence[str], missing: Sequence[str]
) -> Verdict:
    """Add what every privacy model says, from the counts that the verdict was made of."""
    assert verdict.stats is not None
    ordered = []
    for name in verdict.stats.histograms:
        dtype = typed(blank(published[name], missing)).dtype
        if dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, pl.Enum):
            ordered.append(name)
    found = models(verdict.stats, quasi, ordered)
    exposed = exposure(published, quasi, list(verdict.stats.histograms))
    if exposed is not None:
        found["exposure"] = exposed.to_dict()
    return replace(verdict, models=found)


def _rest_as_other(plan: Plan, published: pl.DataFrame, original: pl.DataFrame) -> Plan:
    """Take published columns that nobody named for passed through, if the original has them.

    A plan declares every column, so a column that it does not name is a fault; a few flags do not.
    """
    rest = [
        name for name in published.columns if name not in plan.columns and name in original.columns
    ]
    return plan.override(roles={Role.OTHER: [*plan.names(Role.OTHER), *rest]})
