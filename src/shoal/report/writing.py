"""Attacks tried for a report, and the name of its file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.base.errors import OutputError, ShoalError
from shoal.measures.risks.results import Attacks
from shoal.releases.opened import Opened
from shoal.verbs.attack import attack

TARGETS = 1000  # people attacked for a report: enough for an interval of a few percent


def try_attacks(
    opened: Opened, original: pl.DataFrame, *, targets: int = TARGETS
) -> tuple[Attacks | None, str]:
    """Attack some people of the original through a release, knowing all quasi-identifiers.

    Returns what was found, or None and why no attack was possible: a report without attacks must
    say so.
    """
    try:
        # The seed is of the sample of targets only: the same report for the same release.
        attacks = attack(opened, original, targets=min(targets, original.height), seed=0)
    except ShoalError as fault:
        return None, f"No attack could be tried on this release: {fault}"
    return attacks, ""


def check_name(path: Path) -> None:
    """Refuse a name that no browser would take for a page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(
            f"A report is an HTML page, and {str(path)!r} does not end in .html. Give it that "
            "ending."
        )
