"""The report of an audit: any published file, with or without the original at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from shoal import __version__
from shoal.base.errors import SchemaError
from shoal.measures.models import shown
from shoal.measures.risks.results import Attacks
from shoal.privacy.base import said
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.report.pages import check_audience, render
from shoal.report.parts import Tile, promises
from shoal.report.release import sections
from shoal.report.run import Provenance
from shoal.show.figures import Subject
from shoal.tables.prepare import resolve


def audited(opened: Opened, original: pl.DataFrame | None = None) -> Subject:
    """Return what an audit looked at, ready for figures, without columns never to be released."""
    columns = [column for column in opened.columns if column.role.published]
    if original is not None:
        if lost := [name for name in opened.quasi if name not in original.columns]:
            raise SchemaError(
                f"The original has no quasi-identifier {lost[0]!r}, so it cannot be compared with "
                "the release. Give the table that the release was made from."
            )
        _, schema = resolve(original, opened.plan, opened.taxonomies)
        shown = {column.name: column for column in schema.columns}
        columns = [shown.get(column.name, column) for column in columns]
    return Subject(replace(opened, columns=tuple(columns)), original)


def render_verdict(
    verdict: Verdict,
    subject: Subject,
    *,
    audience: str = "steward",
    attacks: Attacks | None = None,
    origin: Provenance | None = None,
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
        As for :func:`shoal.report.render_run`. The verdict of an audit with the original at
        hand may itself speak of it, so the public is told the faults of the release alone.
    """
    public = check_audience(audience) == "public"
    compared = subject.source is not None
    subject = subject.public() if public else subject
    context = sections(subject, verdict, None if public else attacks)
    origin = origin or Provenance()
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


def _facts(origin: Provenance, public: bool) -> list[tuple[str, str]]:
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
