"""A short HTML summary of a release for notebooks."""

from __future__ import annotations

from typing import Any

from shoal.privacy.base import format_figures
from shoal.releases.verdict import Verdict
from shoal.show.charts.style import CSS, FIGURE_CSS
from shoal.show.charts.words import escape, format_number
from shoal.show.figures.plots import Plots

_CSS = """
.shoal-summary { font-family: "Inter", "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  max-width: 760px; }
.shoal-summary .verdict { font-size: 16px; font-weight: 600; margin: .2em 0 .3em; }
.shoal-summary ul { margin: .2em 0 .6em; padding-left: 1.2em; }
.shoal-summary dl { display: flex; flex-wrap: wrap; gap: .3em 2em; margin: .4em 0 .8em; }
.shoal-summary dt { font-size: 12px; opacity: .7; }
.shoal-summary dd { margin: 0; font-variant-numeric: tabular-nums; }
"""


def summary(verdict: Verdict, run: Any, plots: Plots | None) -> str:
    """Return a release as one piece of HTML: its verdict, some figures and charts, no row.

    ``run``: how it was made, None if it was opened. ``plots``: None if its tables are elsewhere.
    """
    figures = {"rows": f"{verdict.rows:,}", "classes": f"{verdict.classes:,}"}
    charts = [] if plots is None else [plots.classes()]
    if run is not None:
        figures = {
            "method": run.method,
            "rows": f"{run.rows_in:,} in, {run.rows_out:,} out",
            "classes": f"{run.groups:,}",
            "information lost": format_number(run.loss.rate, "share"),
            "seconds": f"{run.seconds.get('total', 0.0):.2f}",
        }
        charts = [plots.loss(), *charts] if plots is not None else []
    sign = {"holds": "✓", "broken": "✗", "cannot tell": "?"}[verdict.state]
    head = f"{sign} {verdict.headline[:-1]}"
    rules = "".join(
        f"<li>{escape(rule.promise)} — reached: {escape(format_figures(rule.achieved))}</li>"
        for rule in verdict.rules
    )
    told = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in figures.items()
    )
    drawn = "".join(chart.html() for chart in charts)
    return (
        f"<style>{CSS}{FIGURE_CSS}{_CSS}</style><div class='shoal-summary'>"
        f"<p class='verdict'>{head}</p><ul>{rules}</ul><dl>{told}</dl>{drawn}</div>"
    )
