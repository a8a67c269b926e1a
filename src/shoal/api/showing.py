"""A release as a page: the report, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.base.atomic import atomic_file
from shoal.measures.risks.results import Attacks
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.report.page import Provenance, audited, render_release
from shoal.report.pages import check_audience, check_name
from shoal.report.release import try_attacks
from shoal.show.charts.words import say
from shoal.show.figures.summary import summary


def page(
    release: Any,
    *,
    audience: str = "steward",
    verdict: Verdict | None = None,
    attacks: Attacks | bool = True,
    origin: Provenance | None = None,
    title: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return the report as one HTML file, see :meth:`shoal.Release.report`."""
    tried = None if isinstance(attacks, bool) else attacks
    told = list(dict.fromkeys([*release.warnings, *warnings]))
    if attacks is True and audience == "steward" and release.original is not None:
        tried, warning = try_attacks(release.here, release.original)
        told += [warning] if warning else []
    common: dict[str, Any] = {"audience": audience, "attacks": tried, "origin": origin}
    common |= {"title": title, "warnings": told}
    if release.run is None:
        verdict = verdict or release.verdict
        common["warnings"] = [*told, *verdict.models.get("cautions", ())]
        return render_release(audited(release.here, release.original), verdict, **common)
    return render_release(release.subject, release.run.verdict, release.run, **common)


def write_page(release: Any, path: Path, *, force: bool, audience: str, **asked: Any) -> None:
    """Write the report, after what can be refused was refused."""
    check_audience(audience)
    check_name(path)
    text = page(release, audience=audience, **asked)
    with atomic_file(path, force=force) as stream:
        stream.write(text.encode())


def html(release: Any) -> str:
    """Show it in a notebook: what was promised and what it cost, no row of the table."""
    if release.run is None:
        figures = {"shape": release.shape, "rows": f"{release.here.frame.height:,}"}
        return summary(release.verdict, figures, [release.plot.classes()])
    run = release.run
    return summary(
        run.verdict,
        {
            "method": run.method,
            "rows": f"{run.rows_in:,} in, {run.rows_out:,} out",
            "classes": f"{run.groups:,}",
            "information lost": say(run.loss.rate, "share"),
            "seconds": f"{run.seconds.get('total', 0.0):.2f}",
        },
        [release.plot.loss(), release.plot.classes()] if release.opened is not None else [],
    )


def opened_figures(opened: Opened) -> dict[str, Any]:
    """Return what is known of a release that was opened, as plain data."""
    return {
        "shape": opened.shape.name,
        "rows": opened.frame.height,
        "classes": opened.published.sizes.size,
        "quasi": opened.quasi,
        "sensitive": opened.sensitive,
    }
