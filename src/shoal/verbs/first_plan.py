"""Suggest the first plan of a raw table: roles, rules and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_RULE, RULES
from shoal.plan.apply_changes import collect_changes
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.guessing import names
from shoal.tables.guessing.hierarchies import guess_hierarchy, nearly_unique, no_hierarchy
from shoal.tables.rare import once_each, rare_below
from shoal.tables.schema import Column, Schema, guess_kind, plain, textual
from shoal.verbs.inspect import Inspection

OFFERED: dict[str, dict[str, Any]] = {
    "l": {"name": "l-diversity", "l": 2},
    "t": {"name": "t-closeness", "t": 0.2},
    "beta": {"name": "beta-likeness", "beta": 1.0},
    "none": {},
}
"""The rules that a first plan may have for a sensitive column, by their flags."""

_WIDEST = 20  # rows that a class may need, on average, to hold two different values


@dataclass(frozen=True, eq=False)
class FirstPlan:
    """A plan for a raw table, with what a person has to check.

    Parameters
    ----------
    plan
        Roles, kinds and rules; no file of a hierarchy.
    trees
        The guessed hierarchies by column, and how each was made.
    schema
        The role and kind of every column, with the reason.
    """

    plan: Plan
    trees: Mapping[str, tuple[Taxonomy, str]]
    schema: Schema

    @property
    def roles(self) -> dict[str, Role]:
        """The role of every column."""
        return {column.name: column.role for column in self.schema.columns}

    @property
    def reasons(self) -> dict[str, str]:
        """Why every column has its role."""
        return {column.name: column.reason for column in self.schema.columns}

    @property
    def taxonomies(self) -> dict[str, Taxonomy]:
        """The guessed hierarchies by column."""
        return {name: tree for name, (tree, _) in self.trees.items()}


def first_plan(
    inspection: Inspection,
    plan: Plan,
    *,
    k: int | None = None,
    roles: Mapping[str, Role] | None = None,
    protect: Mapping[str, Mapping[str, Any]] | None = None,
    sets: Mapping[str, str] | None = None,
) -> FirstPlan:
    """Return the first plan: k-anonymity, a rule for each sensitive column, guessed hierarchies.

    Names without a hierarchy are never published as sets unless the plan allows it. Rules that the
    plan has already stay.

    Parameters
    ----------
    inspection
        A look at the table.
    plan
        What is declared already.
    k
        People who must look alike; by default that of the rule in the catalog.
    roles
        Answers of a person in place of the suggested roles.
    protect
        Rules of sensitive columns in place of the suggested ones; an empty one for none.
    sets
        Which columns may, or may not, be published as sets.
    """
    frame, suggested = inspection.frame, suggested_roles(inspection)
    plan = plan if plan.release.sets else plan.changed({"release": {"sets": "never"}})
    columns, rules = [], {}
    for guessed in inspection.schema.columns:
        name = guessed.name
        column = _decided(guessed, frame, suggested[name], (roles or {}).get(name))
        if column.role is Role.SENSITIVE:
            spec, why = suggested_rule(frame[name])
            columns.append(replace(column, reason=f"{column.reason}; {why}"))
            if own := (protect or {}).get(name, spec):
                rules[name] = own
        else:
            columns.append(column)
    parts = {
        column.name: {"role": column.role.value}
        | ({"kind": column.kind.value} if column.kind else {})
        for column in columns
    }
    plan = plan.changed({"columns": parts}).changed(collect_changes({"sets": sets or None}))
    if "rules" not in plan.model_fields_set:
        plan = plan.replaced(rules=first_rules(rules, k))
    trees = {}
    few = rare_below(rule.spec for rule in plan.final().rules)
    for place, column in enumerate(columns):
        if column.kind is Kind.SET and not plan.allows_sets(column.name):
            cells = once_each(frame, Schema(tuple(columns)), column.name)
            if tree := guess_hierarchy(cells, column.name, few):
                trees[column.name] = tree
                reason = f"{column.reason}; suggested hierarchy ({tree[1]}): check it"
                columns[place] = replace(column, kind=Kind.TAXONOMY, reason=reason)
    plan = plan.changed({"columns": {name: {"kind": Kind.TAXONOMY.value} for name in trees}})
    return FirstPlan(plan, trees, Schema(tuple(columns)))


def suggested_roles(inspection: Inspection) -> dict[str, Role]:
    """Return the role of every column that names and values speak for; others stay undecided.

    A column that repeats and seems to number people says whose row it is. A sensitive column with
    one value only cannot be protected, so it is left undecided.
    """
    roles = {column.name: column.role for column in inspection.schema.columns}
    for name, role in roles.items():
        if role is Role.SENSITIVE and suggested_rule(inspection.frame[name])[0] is None:
            roles[name] = Role.UNDECIDED
    whose = inspection.person_column
    if whose is not None and not _numbers_others(inspection, whose):
        roles[whose] = Role.PERSON
    return roles


def _numbers_others(inspection: Inspection, whose: str) -> bool:
    """Tell whether a number that repeats cannot count people, or counts more than one of them.

    It has gaps, or it is the number of a household beside one of each person in it.
    """
    frame = inspection.frame
    if frame[whose].null_count():
        return True
    return names.matching_word(whose, names.WHOSE) is None and any(
        names.matching_word(column.name, names.WHOSE) and frame[column.name].is_unique().all()
        for column in inspection.schema.columns
        if column.role is Role.IDENTIFIER
    )


def suggested_rule(series: pl.Series) -> tuple[dict[str, Any] | None, str]:
    """Return the rule that protects a sensitive column, and the reason.

    Two different values in every class, unless one value is so frequent that classes would have to
    be large for that. Then nothing is learned from a class without the others, and t-closeness
    keeps the shares of every class near those of the table.
    """
    counts = series.drop_nulls().value_counts()["count"]
    if len(counts) < 2:
        return None, "all its known values are the same, so no rule can hide them"
    most = int(counts.max())  # type: ignore[arg-type]
    others = int(counts.sum()) - most
    if len(series) <= _WIDEST * others:
        return OFFERED["l"], "every class can hold two different values"
    share = f"{most / len(series):.1%}" if most < 0.9995 * len(series) else "more than 99.9%"
    return OFFERED["t"], (
        f"one value has {share} of the rows, so two different values need "
        f"classes of {len(series) / others:,.0f} rows on average; near shares (t) need not"
    )


def suggested_answer(series: pl.Series, column: Column) -> Role:
    """Return the role that is suggested to a person for a column without a clear one.

    What is generalized is hidden among k people; texts of which no hierarchy can be made, and
    columns that say nothing, are dropped.
    """
    known = series.drop_nulls()
    if not plain(series.dtype) or known.n_unique() < 2:
        return Role.DROP
    if no_hierarchy(series, column.name) or (textual(series.dtype) and nearly_unique(known)):
        return Role.DROP
    return Role.QUASI


def first_rules(protected: Mapping[str, Mapping[str, Any]], k: int | None) -> list[dict[str, Any]]:
    """Return the rules of a first plan: k, and those of the sensitive columns.

    A rule that all of them have is said once, for every sensitive column.
    """
    rules = [_filled({"name": DEFAULT_RULE, **({"k": k} if k else {})})]
    own = list(protected.values())
    if own and all(spec == own[0] for spec in own):
        return [*rules, _filled(own[0])]
    return [*rules, *(_filled({**spec, "column": name}) for name, spec in protected.items())]


def _filled(spec: Mapping[str, Any]) -> dict[str, Any]:
    usual = {param.name: param.default for param in RULES[spec["name"]].params}
    return {key: v for key, v in {**usual, **spec}.items() if v is not None}


def _decided(column: Column, frame: pl.DataFrame, suggested: Role, answered: Role | None) -> Column:
    """Return a column with the role that was suggested or answered, and with the reason."""
    role = suggested if answered is None else answered
    reason = column.reason
    if role is not column.role:
        if answered is not None and answered is not suggested:
            guessed = f"; suggested: {suggested.label}" * (suggested is not Role.UNDECIDED)
            reason = f"your answer{guessed}"
        elif role is Role.PERSON:
            reason = "its values repeat and seem to number people"
        elif role is Role.UNDECIDED:
            reason = f"{reason}, but {suggested_rule(frame[column.name])[1]}"
    kind = column.kind
    if role is not Role.QUASI:
        kind = None
    elif kind is None:
        kind = guess_kind(frame[column.name], has_taxonomy=False)[0]
    return Column(column.name, role, kind, reason)
