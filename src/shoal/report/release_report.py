"""The report of a release, after a run or an audit."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal import __version__
from shoal.base.errors import SchemaError
from shoal.catalog import find_method
from shoal.measures.risks.results import Attacks
from shoal.releases.verdict import Verdict, model_table
from shoal.report.content import Tile, losses_shown, promises
from shoal.report.evidence import evidence
from shoal.report.render import check_audience, render
from shoal.report.sections import sections, try_attacks
from shoal.show.charts.words import format_number
from shoal.show.figures.subject import Subject
from shoal.tables.open_table import resolve_schema
from shoal.verbs.run import Run


@dataclass(frozen=True)
class Provenance:
    """Where a run came from: the command, the input and its digest; told to stewards only."""

    command: str = ""
    source: str = ""
    digest: str = ""


def render_release(
    subject: Subject,
    verdict: Verdict,
    run: Run | None = None,
    *,
    audience: str = "steward",
    attacks: Attacks | bool = True,
    origin: Provenance | None = None,
    title: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return the report of a release as one HTML file: of its run, or of an audit without one.

    The parameters are those of :meth:`shoal.Release.report`; ``origin`` is told to stewards only,
    and ``subject`` has the original if it is at hand. The verdict of an audit with the original may
    itself speak of it, so the public is told the faults of the release alone.
    """
    public = check_audience(audience) == "public"
    compared = subject.source is not None
    said = list(warnings)
    tried = None if isinstance(attacks, bool) else attacks
    if attacks is True and not public and subject.source is not None:
        tried, why = try_attacks(subject.opened, subject.source)
        said += [why] if why else []
    if run is None:
        said += verdict.models.get("cautions", ())
        subject = _audited(subject)
    subject = replace(subject, stats=verdict.stats)
    subject = subject.public() if public else subject
    # Whose row is whose the public cannot tell: what people were counted in is counted anew.
    counted = replace(verdict, stats=None) if public else verdict
    context = sections(subject, counted, None if public else tried, signed=not public)
    tiles, origin = context.pop("tiles"), origin or Provenance()
    input_digest = origin.digest if run is not None else ""
    told = None if public else evidence(subject, verdict, tried, input_digest)
    if told is not None and run is None and origin.digest:
        told["digests"] = origin.digest
    if run is None:
        own = _of_audit(verdict, origin, compared, public)
    else:
        own = _of_run(run, subject, origin, public)
    rows = Tile("rows published", f"{verdict.rows:,}", own.pop("left"))
    return render(
        "release.html",
        heading=title or "Release",
        version=__version__,
        holds=verdict.holds,
        state=verdict.state,
        headline=verdict.headline,
        rules=promises(verdict),
        warnings=() if public else tuple(dict.fromkeys(said)),
        figures=[rows, *tiles, *own.pop("lost")],
        evidence=told,
        **own,
        **context,
    )


def _audited(subject: Subject) -> Subject:
    """Return what an audit looked at without columns never to be released, their kinds settled."""
    opened, original = subject.opened, subject.source
    columns = [column for column in opened.columns if column.role.published]
    if original is not None:
        if lost := [name for name in opened.quasi if name not in original.columns]:
            raise SchemaError(
                f"The original has no quasi-identifier {lost[0]!r}, so it cannot be compared with "
                "the release. Give the table that the release was made from."
            )
        _, schema = resolve_schema(original, opened.plan, opened.taxonomies)
        shown = {column.name: column for column in schema.columns}
        columns = [shown.get(column.name, column) for column in columns]
    return replace(subject, opened=replace(opened, columns=tuple(columns)))


def _of_run(run: Run, subject: Subject, origin: Provenance, public: bool) -> dict[str, Any]:
    """Return what only the report of a run tells."""
    where = "published cells alone" if public else "published cells, and against the original"
    lost = [
        Tile("information lost", format_number(run.loss.rate, "share"), "of the quasi-identifiers")
    ]
    proof = [] if run.proof is None else [("how near to the best", run.proof.describe())]
    return {
        "kicker": "Anonymization report",
        "subline": _subline(run, subject, public),
        "checked": f"Checked from the {where}.",
        "faults": run.verdict.faults,
        "left": "" if public else _left(run),
        "lost": [] if public else [*lost, *losses_shown(run.loss)],
        "worst": None,
        "models": None,
        "notes": []
        if public
        else [*proof, *((name, _note(value)) for name, value in run.notes.items())],
        "repeat": _repeat(run, origin, public),
    }


def _of_audit(verdict: Verdict, origin: Provenance, compared: bool, public: bool) -> dict[str, Any]:
    """Return what only the report of an audit tells."""
    both = compared and not public
    faults = list(verdict.faults)
    if compared and public:
        faults = [] if verdict.holds else ["Only the steward sees the details of the faults."]
    facts = (("file", origin.source), ("SHA-256 of the file", origin.digest))
    told = [] if public else [(name, value) for name, value in facts if value]
    return {
        "kicker": "Audit of a published table",
        "subline": f"{verdict.rows:,} rows, {verdict.classes:,} classes",
        "checked": f"Checked from the published cells {'and the original' if both else 'alone'}.",
        "faults": faults,
        "left": "",
        "lost": [],
        "worst": verdict.worst_classes,
        "models": model_table(verdict.models),
        "notes": [],
        "repeat": {
            "facts": [("Shoal", __version__), *told],
            "command": "" if public else origin.command,
            "plan": "",
            "seed_story": "",
        },
    }


def _left(run: Run) -> str:
    left = run.rows_in - run.rows_out
    return f"{left:,} left out" if left else "every row kept"


def _subline(run: Run, subject: Subject, public: bool) -> str:
    what = subject.opened.words.made.format(quasi=len(subject.opened.quasi))
    rows = f"{run.rows_out:,} rows" if public else f"{run.rows_in:,} rows in"
    return f"{rows}; {what}; method {run.method}"


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
    story = (
        "A seed was used. It is not shown here, because it reveals the order of the rows. With "
        "it, the run gives the same bytes again."
        if run.plan.seeded
        else "No seed was used: repeating the run makes an equally good release, not the same one."
    )
    return {
        "facts": facts,
        "command": origin.command,
        "plan": _bare(run.plan.to_toml()),
        "seed_story": story,
    }
