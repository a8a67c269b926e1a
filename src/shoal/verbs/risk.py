"""The risk of a table, before and after it was anonymized, from files or frames."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import SchemaError, ShoalWarning
from shoal.base.roles import Role
from shoal.measures.exposure import Exposure, exposure
from shoal.measures.risks import AttributeRisk, Risk, assess, attribute_risk
from shoal.plan.plan import Plan
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.base import Release
from shoal.releases.generalized.view import GeneralizedView
from shoal.releases.opening import open_release
from shoal.tables.cells import blank
from shoal.tables.prepare import Hierarchies, gather, load, quasi_schema
from shoal.tables.schema import plain, unknown_column
from shoal.verbs.audit_exact import holds_sets, second_table


@dataclass(frozen=True, eq=False)
class Risks:
    """What :func:`risk` found.

    Parameters
    ----------
    quasi
        The quasi-identifiers looked at.
    after
        The risk of the table that was given.
    before
        The risk of its original, if that was given.
    attributes, attributes_before
        By sensitive column: what can be believed of a person.
    population
        Number of people in the population, if one was given.
    exposure
        The other columns of the table, and how many rows are unique when they are known besides.
    """

    quasi: tuple[str, ...]
    after: Risk
    before: Risk | None = None
    attributes: dict[str, AttributeRisk] = field(default_factory=dict)
    attributes_before: dict[str, AttributeRisk] = field(default_factory=dict)
    population: int | None = None
    exposure: Exposure | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, without those of single rows."""
        return {
            "quasi": list(self.quasi),
            "population": self.population,
            "before": None if self.before is None else self.before.to_dict(),
            "after": self.after.to_dict(),
            "attributes_before": {k: v.to_dict() for k, v in self.attributes_before.items()},
            "exposure": None if self.exposure is None else self.exposure.to_dict(),
            "attributes": {k: v.to_dict() for k, v in self.attributes.items()},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def risk(
    released: Any,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    original: Any = None,
    population: Any = None,
    st: Any = None,
    threshold: float = 0.2,
    belief: float = 0.5,
    missing: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    plan: Plan | str | Path | None = None,
) -> Risks:
    """Measure how likely people are found in a table, and what is then believed of them.

    Parameters
    ----------
    released
        The table, a file or a frame: a release of any shape, or any other table.
    quasi, sensitive
        Its columns by role, unless the plan declares them.
    original
        The table it was made from, for the risk before.
    population
        A list of people with the quasi-identifiers, those of the table among them: then the
        journalist's risk and k-map are measured against it.
    st
        Anatomy's second table; next to a file ``x.csv`` it is found as ``x.st.csv``.
    threshold
        Rows with a higher risk of re-identification are counted.
    belief
        Rows whose likeliest sensitive value is believed more than this are counted.
    missing
        Texts that mean missing in the original and the population, besides the empty one.
    hierarchies
        The hierarchies that were used, to understand generalized cells; only with a population.
    plan
        The plan of the run; the other arguments override it.
    """
    full = read_plan(plan, quasi=quasi, sensitive=sensitive, missing=missing)
    names = full.names(Role.QUASI)
    if not names:
        raise SchemaError(
            "Measuring risk needs the quasi-identifiers, and none were given. Name them with "
            "--quasi (quasi=[...]) or give the plan of the run with --plan (plan=...)."
        )
    published = load(released, full, released=True)
    table = second_table(released, published, st)
    hidden = full.names(Role.SENSITIVE)
    raw = table is not None or holds_sets(published, hidden)
    source = None if original is None else load(original, full)
    people = None if population is None else load(population, full)
    check_columns(source, "The original", [*names, *hidden])
    check_columns(people, "The population", names)
    options: dict[str, Any] = {"threshold": threshold, "population": people}
    if people is not None:
        guide = people if source is None else source
        options["taxonomies"] = gather(full, guide, hierarchies)
        options["schema"] = quasi_schema(guide, full, names, options["taxonomies"])
    after = assess(published, names, raw=raw, **options)
    if after.short:
        warnings.warn(
            f"{after.short:,} rows fit fewer people of the population than there are rows like "
            "them, so the population does not hold everybody in the table, or writes values in "
            "another way. A row that fits nobody counts as risk 1.",
            ShoalWarning,
            stacklevel=2,
        )
    views = {
        name: view(published, name, table=table, quasi=names, missing=missing_texts(full, name))
        for name in hidden
    }
    before = None if source is None else assess(source, names, raw=True, **options)
    seen = () if source is None else hidden
    return Risks(
        quasi=tuple(names),
        after=after,
        before=before,
        attributes={k: attribute_risk(v, k, threshold=belief) for k, v in views.items()},
        attributes_before={
            name: attribute_risk(
                view(source, name, quasi=names, missing=missing_texts(full, name)),
                name,
                threshold=belief,
            )
            for name in seen
            if source is not None
        },
        population=None if people is None else people.height,
        exposure=exposure(published, names, hidden),
    )


def read_plan(
    plan: Plan | str | Path | None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    missing: Sequence[str] | None = None,
) -> Plan:
    """Return the plan with what the call says about columns and gaps."""
    base = Plan() if plan is None else plan if isinstance(plan, Plan) else Plan.read(plan)
    named = {Role.QUASI: quasi, Role.SENSITIVE: sensitive}
    return base.override(
        roles={
            role: [names] if isinstance(names, str) else list(names)
            for role, names in named.items()
            if names is not None
        },
        data={} if missing is None else {"missing": ["", *missing]},
    )


def view(
    frame: pl.DataFrame,
    of: str,
    *,
    quasi: Sequence[str],
    table: pl.DataFrame | None = None,
    missing: Sequence[str] = (),
) -> Release:
    """Open a table of any shape to ask what it says of a sensitive column, an original too.

    ``missing``: texts that mean missing in that column. Taken for values they would make a class
    look more diverse than it is.
    """
    if table is not None:
        if of in table.columns and of not in (GROUP, COUNT):
            table = table.with_columns(blank(table[of], missing))
        return open_release(frame, of, table=table, quasi=quasi)
    if of not in frame.columns:
        raise SchemaError(unknown_column(of, frame.columns, "The release", Role.SENSITIVE))
    if holds_sets(frame, [of]):
        return open_release(frame, of, quasi=quasi)
    check_columns(frame, "The release", [of])
    return GeneralizedView(frame.with_columns(blank(frame[of], missing)), tuple(quasi))


def missing_texts(plan: Plan, name: str) -> tuple[str, ...]:
    """Return what means missing in a sensitive column."""
    own = plan.columns[name].missing if name in plan.columns else ()
    return tuple(dict.fromkeys([*plan.data.missing, *own]))


def check_columns(frame: pl.DataFrame | None, what: str, names: Sequence[str]) -> None:
    """Refuse a table that lacks one of some columns, or holds more than single values there."""
    if frame is None:
        return
    faults = [
        f"Column {name!r} of {what.lower()} holds values of type {frame[name].dtype}; needed are "
        "numbers, texts, dates, booleans or categories. Split it into plain columns first."
        if name in frame.columns
        else unknown_column(name, frame.columns, what)
        for name in names
        if name not in frame.columns or not plain(frame[name].dtype)
    ]
    if faults:
        raise SchemaError(faults)
