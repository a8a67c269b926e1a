"""The report of an audit: any published file, with or without the original at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from shoal import __version__
from shoal.base.errors import SchemaError
from shoal.base.roles import Role
from shoal.measures.models import shown
from shoal.measures.risks.results import Attacks
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import crowd
from shoal.privacy.base import said
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.generalized.check import Verdict
from shoal.report.outcome import Origin
from shoal.report.pages import check_audience, render
from shoal.report.parts import Tile, promises
from shoal.report.release import sections
from shoal.show.figures import FEW, Subject
from shoal.tables.prepare import Hierarchies, gather, load, resolve
from shoal.tables.schema import Column
from shoal.tables.set_cells import read_sets
from shoal.verbs.audit_exact import second_table


def audited(
    released: Any,
    plan: Plan,
    *,
    original: Any = None,
    st: Any = None,
    hierarchies: Hierarchies | None = None,
) -> Subject:
    """Return what an audit looked at, ready for figures.

    Parameters
    ----------
    released, original, st, hierarchies
        As for :func:`shoal.audit`.
    plan
        The plan with the columns by role.
    """
    frame = load(released, plan, released=True)
    table = second_table(released, frame, st)
    source = None if original is None else load(original, plan)
    quasi = plan.names(Role.QUASI)
    hidden = plan.names(Role.SENSITIVE)
    if table is not None:
        hidden = [name for name in table.columns if name not in (GROUP, COUNT)]
    elif not hidden:
        hidden = [name for name in frame.columns if _holds_sets(frame, name)]
    taxonomies = gather(plan, frame if source is None else source, hierarchies)
    kinds = _kinds(plan, source, quasi, taxonomies)
    known = [*quasi, *hidden, *plan.names(Role.IDENTIFIER)]
    ends = {f"{name}{end}" for name in quasi for end in ("_lo", "_hi")}
    rest = [name for name in frame.columns if name not in (*known, *ends, GROUP)]
    k = crowd([part.spec for part in plan.filled().rules])
    columns = [_column(plan, name, Role.QUASI, kinds) for name in quasi]
    columns += [_column(plan, name, Role.SENSITIVE, kinds) for name in hidden]
    columns += [_column(plan, name, Role.OTHER, kinds) for name in rest]
    tables = {"release": frame} | ({} if table is None else {"st": table})
    return Subject(tables, columns, taxonomies, max(k, FEW), source)


def _holds_sets(frame: pl.DataFrame, name: str) -> bool:
    return read_sets(frame[name].head(1000)) is not None


def _kinds(
    plan: Plan, source: pl.DataFrame | None, quasi: Sequence[str], taxonomies: Mapping[str, Any]
) -> dict[str, Column]:
    """Return the columns as the original shows them, when it is at hand."""
    if source is None:
        return {}
    present = [name for name in quasi if name in source.columns]
    if len(present) < len(quasi):
        lost = next(name for name in quasi if name not in present)
        raise SchemaError(
            f"The original has no quasi-identifier {lost!r}, so it cannot be compared with the "
            "release. Give the table that the release was made from."
        )
    _, schema = resolve(source, plan, taxonomies)
    return {column.name: column for column in schema.columns}


def _column(plan: Plan, name: str, role: Role, known: Mapping[str, Column]) -> Column:
    if name in known:
        return known[name]
    part = plan.columns.get(name)
    if part is None:
        return Column(name, role)
    return Column(name, role, part.kind, missing=part.missing, order=part.order)


def render_verdict(
    verdict: Verdict,
    subject: Subject,
    *,
    audience: str = "steward",
    attacks: Attacks | None = None,
    origin: Origin | None = None,
    title: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return the report of an audit as one HTML file.

    Parameters
    ----------
    verdict
        What :func:`shoal.audit` found.
    subject
        What it looked at, see :func:`audited`.
    audience, attacks, origin, title, warnings
        As for :func:`shoal.report.render_outcome`. The verdict of an audit with the original at
        hand may itself speak of it, so the public is told the faults of the release alone.
    """
    public = check_audience(audience) == "public"
    compared = subject.source is not None
    subject = subject.public() if public else subject
    context = sections(subject, verdict, None if public else attacks)
    origin = origin or Origin()
    faults = list(verdict.faults)
    if public and compared:
        faults = [] if verdict.holds else ["Details of the faults are told to the steward only."]
    where = (
        "published cells and the original" if compared and not public else "published cells alone"
    )
    return render(
        "release.html",
        kicker="Audit of a published table",
        heading=title or "Release",
        subline=f"{verdict.rows:,} rows, {verdict.classes:,} classes",
        version=__version__,
        holds=verdict.holds,
        checked=f"Checked from the {where}.",
        rules=promises(verdict),
        faults=faults,
        warnings=() if public else warnings,
        figures=[Tile("rows published", f"{verdict.rows:,}"), *context.pop("tiles")],
        worst=verdict.worst,
        models=_models(verdict),
        notes=[],
        repeat={
            "facts": [("Shoal", __version__), *_facts(origin, public)],
            "command": "" if public else origin.command,
            "plan": "",
            "seed_story": "",
        },
        **context,
    )


def _facts(origin: Origin, public: bool) -> list[tuple[str, str]]:
    if public:
        return []
    told = (("file", origin.source), ("SHA-256 of the file", origin.digest))
    return [(name, value) for name, value in told if value]


def _models(verdict: Verdict) -> dict[str, Any] | None:
    columns = verdict.models.get("columns", {})
    if not columns:
        return None
    figures = shown()
    rows = [(name, [said(own[key]) for key in figures]) for name, own in columns.items()]
    return {"names": list(figures.values()), "rows": rows}
