"""The report of a comparison."""

from __future__ import annotations

from typing import Any

from shoal import __version__
from shoal.report.release_report import Provenance
from shoal.report.render import render
from shoal.report.words import GLOSSARY


def render_comparison(comparison: Any, *, origin: Provenance | None = None, title: str = "") -> str:
    """Return a comparison as one HTML file: the recommendation, the frontier, all settings.

    ``comparison`` is a :class:`shoal.verbs.compare.Comparison`. Its figures are computed from the
    original, so there is no variant for the public.
    """
    chosen = comparison.recommended
    return render(
        "comparison.html",
        kicker="Comparison of methods and settings",
        heading=title or "Comparison",
        version=__version__,
        subline=f"{len(comparison.settings):,} settings",
        recommended="" if chosen is None else chosen.label,
        why=comparison.why,
        chart=comparison.plot(),
        settings=comparison.compared(),
        warnings=comparison.warnings,
        command=(origin or Provenance()).command,
        glossary=GLOSSARY,
    )
