"""Functions shared by the commands that write a report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import streams

if TYPE_CHECKING:
    from shoal.api.release import Release
    from shoal.measures.risks.results import Attacks
    from shoal.releases.verdict import Verdict
    from shoal.report.release_report import Provenance
    from shoal.tables.source import Place, Source
    from shoal.verbs.compare import Comparison


def report_audience(report: Path | None, audience: str | None) -> str | None:
    """Return for whom the report is, None without one; whatever is wrong is said before work."""
    from shoal.base.errors import ParameterError

    if report is None:
        if audience is not None:
            raise ParameterError(
                f"--audience {audience} says who reads the report, and there is none. Ask for one "
                "with --report FILE.html, or leave --audience out."
            )
        return None
    from shoal.report.render import check_audience, check_name

    check_name(report)
    return check_audience("steward" if audience is None else audience)


def of_release(
    release: Release[Any],
    data: Path | Source,
    digest: str,
    audience: str,
    what: str,
    verdict: Verdict | None = None,
    attacks: Attacks | bool = True,
) -> str:
    """Return the report of a run or an audit; attacks are tried for the steward only.

    ``digest``: of the file that was read.
    """
    steward = audience == "steward"
    return release.page(
        audience=audience,
        verdict=verdict,
        attacks=attacks,
        origin=_origin(data, digest) if steward else None,
        title=f"{what} of {_named(data)}" if steward else _PUBLIC[what],
    )


def run_attacks(release: Release[Any], earlier: Sequence[Any], tables: Sequence[Place]) -> Attacks:
    """Return the attacks of a report on a release with earlier ones, each beside its original."""
    # The seed is of the sample of targets only: the same report for the same releases.
    return release.attack(against=earlier, against_original=tables, seed=0)


# What a report is called where the name of the file must not be told.
_PUBLIC = {"Release": "Release", "Audit": "Audit of a release"}


def of_comparison(comparison: Comparison, data: Place) -> str:
    """Return the report of a comparison."""
    from shoal.report.comparison import render_comparison

    title = f"Comparison on {_named(data)}"
    return render_comparison(comparison, origin=_origin(data, ""), title=title)


def _named(place: Place) -> str:
    """Return what a table is called in a heading; of a database no password is shown."""
    said = streams.display_name(place)
    return place.name if isinstance(place, Path) and said != streams.STDIN else said


def _origin(place: Place, digest: str) -> Provenance:
    from shoal.base.address import take_passwords
    from shoal.report.release_report import Provenance

    return Provenance(command_line(take_passwords(sys.argv[1:])), _named(place), digest)


def command_line(words: Sequence[str]) -> str:
    """Return the command as it was given, without the seed, which would tell the row order."""
    kept: list[Any] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--seed":
            skip = True
        elif not word.startswith("--seed="):
            kept.append(word)
    return shlex.join(["shoal", *kept])
