"""The sections that all reports of a release have."""

from __future__ import annotations

from typing import Any

import polars as pl

from shoal.base.errors import ShoalError
from shoal.base.roles import Role
from shoal.measures.deduced_values import read_off
from shoal.measures.exposure import exposure
from shoal.measures.risks.reidentification import Risk
from shoal.measures.risks.results import Attacks
from shoal.measures.value_disclosure import value_disclosure
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.report import content
from shoal.report.words import GLOSSARY
from shoal.show.charts.words import format_number
from shoal.show.figures.plots import Plots, attacks_chart
from shoal.show.figures.subject import Subject
from shoal.verbs.attack import attack, people_of

TARGETS = 1000  # people attacked for a report: enough for an interval of a few percent
HALF = 490.0  # paper of a chart that shares its line with another

_NAMES = {
    "open": "Open risks",
    "evidence": "For the decision",
    "worst": "Broken classes",
    "looks": "What it looks like",
    "columns": "Columns",
    "crowds": "Loss and classes",
    "risk": "Risk",
    "values": "What a class reveals",
    "earlier": "With earlier releases",
    "attacks": "Attacks",
    "models": "Privacy models",
    "distributions": "Distributions",
    "missing": "Missing values",
    "questions": "Questions of regulators",
    "repeat": "How to repeat",
    "words": "Words",
}


def sections(
    subject: Subject, verdict: Verdict, attacks: Attacks | None = None, *, signed: bool = False
) -> dict[str, Any]:
    """Return what the template shows of a release; ``signed``: it has a part to sign.

    Everything that needs the original is None or left out when ``subject`` has no source.
    """
    plots, half = Plots(subject), Plots(subject, HALF)
    before, after = plots.risks()
    compared = subject.source is not None
    results = attacks.results if attacks is not None else ()
    disclosures = [*value_disclosure(subject.opened, verdict.stats).values()]
    has: dict[str, Any] = {"worst": verdict.worst, "values": disclosures, "attacks": results}
    has |= {"models": verdict.models.get("columns"), "evidence": signed, "questions": signed}
    has["earlier"] = verdict.models.get("earlier", {})
    opened = subject.opened
    words = opened.words
    lossy = subject.loss is not None and not subject.exact
    sizes = plots.sizes()
    least = int(sizes.min()) if sizes.size else 0
    smallest = f"{least:,} row{'s' * (least != 1)}"
    if after.counted == "people":
        smallest = f"{after.k:,} different people"
    return {
        "tiles": [
            content.Tile(words.classes, f"{sizes.size:,}", f"smallest: {smallest}"),
            *(_believed(plots) if subject.exact else []),
            content.Tile(
                "highest risk",
                format_number(after.prosecutor_highest, "share"),
                _hint(None if before is None else before.prosecutor_highest, after, subject),
            ),
            *_unique(before, after, subject),
        ],
        "exposed": exposure(opened.published, opened.sensitive, opened.names(Role.PERSON)),
        "read_off": read_off(opened),
        "contents": [item for item in _NAMES.items() if has.get(item[0], True)],
        "groups": content.example_groups(subject),
        "unread": content.unread(subject),
        "examples": content.example_rows(subject),
        "shape_story": words.examples,
        "quasi": opened.quasi,
        "sensitive": opened.sensitive,
        "unprotected": [name for name in opened.names(Role.KEEP) if opened.has(name)],
        "columns": content.column_rows(subject),
        "loss_chart": half.loss() if lossy else None,
        "classes_chart": half.classes(),
        "risk_before": before is not None,
        "risk_chart": half.risk(),
        "risk_story": words.risk.replace("rows that fit", "different people who fit")
        if after.counted == "people"
        else words.risk,
        "belief_chart": half.belief() if opened.sensitive else None,
        "disclosures": disclosures,
        "earlier": has["earlier"],
        "attacks": results,
        "attacks_chart": attacks_chart(results) if results else None,
        "attacks_story": _attacks_story(attacks) if attacks is not None else "",
        "compared": compared,
        "distributions": content.distributions(half),
        "distributions_story": _distributions_story(subject),
        "missing_chart": plots.missing(),
        "missing_story": words.gaps,
        "glossary": GLOSSARY,
    }


def _hint(before: float | None, after: Risk, subject: Subject) -> str:
    if before is not None:
        return f"before: {format_number(before, 'share')}"
    return "of rows: people are not counted" if after.counted == "rows" and subject.by_rows else ""


def _unique(before: Risk | None, after: Risk, subject: Subject) -> list[content.Tile]:
    """Return how many rows are alone; where only the fewest people are known nobody can say."""
    if subject.fewest is not None:
        return []
    name = "unique rows" if after.counted == "rows" else "rows of people alone in their class"
    hint = _hint(None if before is None else before.unique, after, subject)
    return [content.Tile(name, format_number(after.unique, "share"), hint)]


def _believed(plots: Plots) -> list[content.Tile]:
    """Return how sure one can be of each sensitive value: what these releases are judged by."""
    return [
        content.Tile(
            f"strongest belief in {risk.of}"[:60],
            format_number(risk.worst, "share"),
            f"a guess: {format_number(risk.prior, 'share')}",
        )
        for risk in plots.beliefs()
    ]


def _attacks_story(attacks: Attacks) -> str:
    return (
        f"The attacker has the release and knows {', '.join(attacks.known)} of {attacks.targets:,} "
        "people of the original. An attack that is no better than the guess and the control has "
        "learned nothing from the release."
    )


def _distributions_story(subject: Subject) -> str:
    told = subject.opened.words.shares
    if subject.source is None:
        return told
    return (
        f"{told} Values of the original are named only where the release names them too and at "
        f"least {subject.crowd} rows have them; bins hold that many rows or none."
    )


def try_attacks(
    opened: Opened, original: pl.DataFrame, *, targets: int = TARGETS
) -> tuple[Attacks | None, str]:
    """Attack some people of the original through a release, knowing all quasi-identifiers.

    Returns what was found, or None and why no attack was possible: a report without attacks must
    say so.
    """
    try:
        # The seed is of the sample of targets only: the same report for the same release.
        most = min(targets, original.height, people_of(opened, original) or original.height)
        attacks = attack(opened, original, targets=most, seed=0)
    except ShoalError as fault:
        return None, f"No attack could be tried on this release: {fault}"
    return attacks, ""
