"""The report of a run."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal import __version__
from shoal.catalog import find_method
from shoal.engines.run import Run
from shoal.measures.risks.results import Attacks
from shoal.report.pages import check_audience, render
from shoal.report.parts import Tile, losses_shown, promises
from shoal.report.release import sections
from shoal.show.charts.words import say
from shoal.show.figures import Subject


@dataclass(frozen=True)
class Provenance:
    """Where a run came from: the command, the input and its digest; told to stewards only."""

    command: str = ""
    source: str = ""
    digest: str = ""


def render_run(
    run: Run,
    subject: Subject,
    *,
    audience: str = "steward",
    attacks: Attacks | None = None,
    origin: Provenance | None = None,
    title: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return the report of a run as one HTML file.

    Parameters
    ----------
    run
        How the release was made.
    subject
        The release, with the original if it is at hand.
    audience
        ``steward``: everything. ``public``: nothing that is computed from the original.
    attacks
        What :func:`shoal.attack` found; not shown to the public.
    origin
        Command, input and digest, for the steward.
    title
        The heading of the page.
    warnings
        What the steward should know.
    """
    public = check_audience(audience) == "public"
    subject = subject.public() if public else subject
    verdict = run.verdict
    context = sections(subject, verdict, None if public else attacks)
    figures = [
        Tile("rows published", f"{run.rows_out:,}", "" if public else _left(run)),
        *context.pop("tiles"),
    ]
    if not public:
        figures.append(Tile("information lost", _rate(run), "of the quasi-identifiers"))
        figures += losses_shown(run.loss)
    where = (
        "the published cells alone" if public else "the published cells, and against the original"
    )
    return render(
        "release.html",
        kicker="Anonymization report",
        heading=title or "Release",
        subline=_subline(run, subject, public),
        version=__version__,
        holds=verdict.holds,
        checked=f"Checked from {where}.",
        rules=promises(verdict),
        faults=verdict.faults,
        warnings=() if public else tuple(warnings),
        figures=figures,
        worst=(),
        models=None,
        notes=[] if public else _notes(run.notes),
        repeat=_repeat(run, origin or Provenance(), public),
        **context,
    )


def _left(run: Run) -> str:
    left = run.rows_in - run.rows_out
    return f"{left:,} left out" if left else "every row kept"


def _rate(run: Run) -> str:
    return say(run.loss.rate, "share")


def _subline(run: Run, subject: Subject, public: bool) -> str:
    what = subject.opened.words.made.format(quasi=len(subject.opened.quasi))
    rows = f"{run.rows_out:,} rows" if public else f"{run.rows_in:,} rows in"
    return f"{rows}; {what}; method {run.method}"


def _notes(notes: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), _note(value)) for name, value in notes.items()]


def _note(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_note(item)}" for name, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_note, value[:12])) + (" …" if len(value) > 12 else "") or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _bare(toml: str) -> str:
    """Return a plan without its comments, which the command ``init`` writes for who edits it."""
    kept = [line for line in toml.splitlines() if not line.startswith("#")]
    text = "\n".join(kept).strip()
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def _repeat(run: Run, origin: Provenance, public: bool) -> dict[str, Any]:
    entry = find_method(run.method)
    facts = [("method", f"{entry.name}: {entry.story} ({entry.citation})"), ("Shoal", __version__)]
    if public:
        return {"facts": facts, "command": "", "plan": "", "seed_story": ""}
    versions = run.to_dict()["versions"]
    said = ", ".join(f"{name} {value}" for name, value in versions.items() if name != "shoal")
    facts.append(("made with", f"{said}, on {platform.machine()}"))
    facts.append(("seconds", f"{run.seconds['total']:.2f}"))
    if origin.source:
        facts.append(("input", origin.source))
    if origin.digest:
        facts.append(("SHA-256 of the input", origin.digest))
    seeded = run.plan.seed is not None
    plan = run.plan.model_copy(update={"seed": None})
    story = (
        "A seed was used. It is not told here, because it would tell the order of the rows; with "
        "it the run gives the same bytes again."
        if seeded
        else "No seed was used: repeating the run makes an equally good release, not the same one."
    )
    return {
        "facts": facts,
        "command": origin.command,
        "plan": _bare(plan.to_toml()),
        "seed_story": story,
    }
