"""The sections that every report of a release has, whoever made it."""

from __future__ import annotations

from typing import Any

from shoal.base.roles import Role
from shoal.measures.exposure import exposure
from shoal.measures.risks.results import Attacks
from shoal.releases.generalized.check import Verdict
from shoal.report import parts
from shoal.report.words import GLOSSARY
from shoal.show.charts.words import say
from shoal.show.figures import Plots, Subject, attacks_chart

HALF = 490.0  # paper of a chart that shares its line with another

_STORIES = {
    "generalized": "",
    "dummies": "Some published rows. The quasi-identifiers are as they were; in place of each "
    "sensitive value stands a set of values of which one is true.",
    "anatomized": "The rows of one group. The quasi-identifiers are as they were; the sensitive "
    "values of the group stand in a second table.",
}
_MISSING = {
    True: "A missing quasi-identifier is published as *, the same as a value that was hidden, so "
    "nobody can tell which is which.",
    False: "Quasi-identifiers are published as they were, their gaps included.",
}
_NAMES = {
    "worst": "Broken classes",
    "looks": "What it looks like",
    "columns": "Columns",
    "crowds": "Loss and crowds",
    "risk": "Risk",
    "attacks": "Attacks",
    "models": "Privacy models",
    "distributions": "Distributions",
    "missing": "Missing values",
    "limits": "Limits",
    "repeat": "How to repeat",
    "words": "Words",
}


def sections(subject: Subject, verdict: Verdict, attacks: Attacks | None = None) -> dict[str, Any]:
    """Return what the template shows of a release.

    Everything that needs the original is None or left out when ``subject`` has no source.
    """
    plots, half = Plots(subject), Plots(subject, HALF)
    before, after = plots.risks()
    compared = subject.source is not None
    results = attacks.results if attacks is not None else ()
    shown = dict(_NAMES)
    if not verdict.worst:
        shown.pop("worst")
    if not results:
        shown.pop("attacks")
    if not verdict.models.get("columns"):
        shown.pop("models")
    lossy = subject.loss is not None and subject.shape == "generalized"
    sizes = plots.sizes()
    least = int(sizes.min()) if sizes.size else 0
    what = "groups" if subject.shape == "anatomized" else "classes"
    return {
        "tiles": [
            parts.Tile(what, f"{sizes.size:,}", f"smallest: {least:,} row{'s' * (least != 1)}"),
            *([] if subject.shape == "generalized" else _believed(plots)),
            parts.Tile(
                "highest risk",
                say(after.prosecutor_highest, "share"),
                "" if before is None else f"before: {say(before.prosecutor_highest, 'share')}",
            ),
            parts.Tile(
                "unique rows",
                say(after.unique, "share"),
                "" if before is None else f"before: {say(before.unique, 'share')}",
            ),
        ],
        "exposed": exposure(subject.frame, subject.quasi, subject.sensitive),
        "contents": list(shown.items()),
        "groups": parts.example_groups(subject),
        "examples": parts.example_rows(subject),
        "shape_story": _STORIES[subject.shape],
        "quasi": subject.quasi,
        "sensitive": subject.sensitive,
        "unprotected": [name for name in subject.names(Role.OTHER) if subject.has(name)],
        "columns": parts.column_rows(subject),
        "loss_chart": half.loss() if lossy else None,
        "classes_chart": half.classes(),
        "risk_before": before is not None,
        "risk_chart": half.risk(),
        "risk_story": _risk_story(subject.shape),
        "belief_chart": half.belief() if subject.sensitive else None,
        "attacks": results,
        "attacks_chart": attacks_chart(results) if results else None,
        "attacks_story": _attacks_story(attacks) if attacks is not None else "",
        "compared": compared,
        "distributions": parts.distributions(half),
        "distributions_story": _distributions_story(subject),
        "missing_chart": plots.missing(),
        "missing_story": _MISSING[subject.shape == "generalized"],
        "glossary": GLOSSARY,
    }


def _believed(plots: Plots) -> list[parts.Tile]:
    """Return how sure one can be of each sensitive value: what these releases are judged by."""
    return [
        parts.Tile(
            f"surest belief in {risk.of}"[:60],
            say(risk.worst, "share"),
            f"a guess: {say(risk.prior, 'share')}",
        )
        for risk in plots.beliefs()
    ]


def _risk_story(shape: str) -> str:
    if shape == "generalized":
        return (
            "Somebody knows all quasi-identifiers of a person and looks for that person's row. The "
            "risk is one divided by the number of rows that fit."
        )
    return (
        "This kind of release does not hide whose row is whose: its quasi-identifiers are as they "
        "were. What it hides is the sensitive value, so the belief in that is what counts."
    )


def _attacks_story(attacks: Attacks) -> str:
    return (
        f"{attacks.targets:,} people of the original were attacked with the release in hand, "
        f"knowing {', '.join(attacks.known)} of each. An attack that does no better than the guess "
        "and the control has learnt nothing from the release."
    )


def _distributions_story(subject: Subject) -> str:
    told = "A generalized cell counts in equal parts for everything that it covers."
    if subject.shape != "generalized":
        told = "Sensitive values are estimated from what is published."
    if subject.source is None:
        return told
    return (
        f"{told} Values of the original are named only where the release names them too and at "
        f"least {subject.crowd} rows have them; bins hold that many rows or none."
    )
