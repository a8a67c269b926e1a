"""Attacks tried for a report, and the report as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.atomic import atomic_file
from shoal.base.errors import OutputError, ShoalError
from shoal.measures.risks.results import Attacks
from shoal.plan.plan import Plan
from shoal.report.outcome import render_outcome
from shoal.report.pages import check_audience
from shoal.verbs.attack import attack
from shoal.verbs.outcome import Outcome

TARGETS = 1000  # people attacked for a report: enough for an interval of a few percent


def try_attacks(
    original: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    plan: Plan,
    *,
    taxonomies: Mapping[str, Any] | None = None,
    targets: int = TARGETS,
) -> tuple[Attacks | None, str]:
    """Attack some people of the original through a release, knowing all quasi-identifiers.

    Returns what was found, or None and why no attack was possible: a report without attacks must
    say so.
    """
    try:
        found = attack(
            original,
            tables["release"],
            st=tables.get("st"),
            plan=plan,
            hierarchies=dict(taxonomies) if taxonomies else None,
            targets=min(targets, original.height),
            seed=0,  # of the sample of targets only: the same report for the same release
        )
    except ShoalError as fault:
        return None, f"No attack could be tried on this release: {fault}"
    return found, ""


def write_report(
    outcome: Outcome,
    path: Path | str,
    *,
    audience: str = "steward",
    attacks: Attacks | bool = True,
    force: bool = False,
    title: str = "",
) -> None:
    """Write the report of a run as one HTML file that needs no network and no script.

    Parameters
    ----------
    outcome
        What :func:`shoal.anonymize` gave back.
    path
        Where it goes, a name that ends in ``.html``; an existing file is replaced only with
        ``force``.
    audience
        ``steward``: everything. ``public``: nothing that is computed from the original.
    attacks
        Results of :func:`shoal.attack`, True to attack a sample of people now, False for none.
        The public is never shown any.
    title
        The heading of the page.
    """
    check_audience(audience)
    check_name(Path(path))
    found, warning = (None, "") if isinstance(attacks, bool) else (attacks, "")
    if attacks is True and audience == "steward" and outcome.source is not None:
        found, warning = try_attacks(
            outcome.source, outcome.published, outcome.plan, taxonomies=outcome.taxonomies
        )
    page = render_outcome(
        outcome,
        audience=audience,
        attacks=found,
        title=title,
        warnings=[warning] if warning else (),
    )
    with atomic_file(path, force=force) as stream:
        stream.write(page.encode())


def check_name(path: Path) -> None:
    """Refuse a name that no browser would take for a page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(
            f"A report is an HTML page, and {str(path)!r} does not end in .html. Give it that "
            "ending."
        )
