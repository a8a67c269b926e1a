"""The report of a run."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal import __version__
from shoal.catalog import find_method
from shoal.measures.risks.results import Attacks
from shoal.report.pages import check_audience, render
from shoal.report.parts import Tile, losses_shown, promises
from shoal.report.release import sections
from shoal.show.charts.words import say
from shoal.show.figures import Subject
from shoal.verbs.outcome import Outcome


@dataclass(frozen=True)
class Origin:
    """Where a run came from: the command, the input and its digest; told to stewards only."""

    command: str = ""
    source: str = ""
    digest: str = ""


def render_outcome(
    outcome: Outcome,
    original: pl.DataFrame | None = None,
    *,
    audience: str = "steward",
    attacks: Attacks | None = None,
    origin: Origin | None = None,
    title: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return the report of a run as one HTML file.

    Parameters
    ----------
    outcome
        What a run gave back.
    original
        The table it was made from; the outcome's own by default.
    audience
        ``steward``: everything. ``public``: nothing that is computed from the original.
    attacks
        What :func:`shoal.attack` found; not shown to the public.
    origin
        Command, input and digest, for the steward.
    title
        The heading of the page.
    warnings
        What the steward should know besides the warnings of the run.
    """
    public = check_audience(audience) == "public"
    subject = outcome.subject
    if original is not None:
        subject = replace(subject, source=original)
    subject = subject.public() if public else subject
    verdict = outcome.verdict
    context = sections(subject, verdict, None if public else attacks)
    figures = [
        Tile("rows published", f"{outcome.rows_out:,}", "" if public else _left(outcome)),
        *context.pop("tiles"),
    ]
    if not public:
        figures.append(Tile("information lost", _rate(outcome), "of the quasi-identifiers"))
        figures += losses_shown(outcome.loss)
    where = (
        "the published cells alone" if public else "the published cells, and against the original"
    )
    return render(
        "release.html",
        kicker="Anonymization report",
        heading=title or "Release",
        subline=_subline(outcome, subject, public),
        version=__version__,
        holds=verdict.holds,
        checked=f"Checked from {where}.",
        rules=promises(verdict),
        faults=verdict.faults,
        warnings=() if public else (*outcome.warnings, *warnings),
        figures=figures,
        worst=(),
        models=None,
        notes=[] if public else _notes(outcome.notes),
        repeat=_repeat(outcome, origin or Origin(), public),
        **context,
    )


def _left(outcome: Outcome) -> str:
    left = outcome.rows_in - outcome.rows_out
    return f"{left:,} left out" if left else "every row kept"


def _rate(outcome: Outcome) -> str:
    return say(outcome.loss.rate, "share")


def _subline(outcome: Outcome, subject: Subject, public: bool) -> str:
    many = len(subject.quasi)
    what = {
        "generalized": f"{many} quasi-identifiers generalized",
        "dummies": "sensitive values hidden in sets",
        "anatomized": "sensitive values in a table of their own",
    }[subject.shape]
    rows = f"{outcome.rows_out:,} rows" if public else f"{outcome.rows_in:,} rows in"
    return f"{rows}; {what}; method {outcome.method}"


def _notes(notes: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), _note(value)) for name, value in notes.items()]


def _note(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_note(part)}" for name, part in value.items()) or "none"
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


def _repeat(outcome: Outcome, origin: Origin, public: bool) -> dict[str, Any]:
    entry = find_method(outcome.method)
    facts = [("method", f"{entry.name}: {entry.story} ({entry.citation})"), ("Shoal", __version__)]
    if public:
        return {"facts": facts, "command": "", "plan": "", "seed_story": ""}
    versions = outcome.to_dict()["versions"]
    said = ", ".join(f"{name} {value}" for name, value in versions.items() if name != "shoal")
    facts.append(("made with", f"{said}, on {platform.machine()}"))
    facts.append(("seconds", f"{outcome.seconds['total']:.2f}"))
    if origin.source:
        facts.append(("input", origin.source))
    if origin.digest:
        facts.append(("SHA-256 of the input", origin.digest))
    seeded = outcome.plan.seed is not None
    plan = outcome.plan.model_copy(update={"seed": None})
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
