"""The results of attacks, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.base.results import Piece, Result, ResultTable
from shoal.releases.estimates.intervals import quantile


@dataclass(frozen=True)
class AttackResult:
    """One attack on the targets.

    Parameters
    ----------
    name
        ``linkage``, ``homogeneity``, ``inference``, ``background``, ``intersection``, ``readoff``,
        ``downcoding``.
    column
        The sensitive column that was guessed, None where whole rows are looked for.
    question
        What the attack asks, in words.
    attempts
        Number of people attacked; those whose sensitive value is missing are not.
    success, low, high
        Share of them for whom the attack succeeds, with an interval of 95 %.
    baseline
        The same for somebody who does not look anybody up.
    control
        The same when nothing can be learnt about the person: with what is known of somebody else,
        or on people who are not in the table. None when there was nobody to try it on.
    verdict
        What was found, as a sentence.
    warning
        Why the result says little, or None.
    details
        Further figures by name.
    """

    name: str
    column: str | None
    question: str
    attempts: int
    success: float
    low: float
    high: float
    baseline: float
    control: float | None
    verdict: str
    warning: str | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def excess(self) -> float | None:
        """What the attack learns beyond the control, as a share of what there was to learn."""
        if self.control is None or self.control >= 1:
            return None
        return (self.success - self.control) / (1 - self.control)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {**vars(self), "details": dict(self.details), "excess": self.excess}


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """What :func:`shoal.attack` found.

    Parameters
    ----------
    results
        One result per attack and sensitive column.
    known
        The columns that the attacker knows of his targets.
    sensitive
        The columns that he wants to learn.
    shape
        ``generalized``, ``dummies`` or ``anatomized``.
    targets, rows
        Number of people attacked, and of rows released.
    noise, gaps
        Share of what he knows that is wrong, and that he does not know.
    control
        ``"others"`` or ``"outsiders"``: on whom the control was run; ``"none"`` if on nobody.
    unmatched
        Targets whose true values fit no released row: rows that were left out.
    """

    results: tuple[AttackResult, ...]
    known: tuple[str, ...]
    sensitive: tuple[str, ...]
    shape: str
    targets: int
    rows: int
    noise: float
    gaps: float
    control: str
    unmatched: int

    def __repr__(self) -> str:
        told = ", ".join(
            f"{result.name}{f' of {result.column}' if result.column else ''} {result.success:.4g}"
            for result in self.results
        )
        return f"Attacks({self.targets:,} people by {', '.join(self.known)}; {told})"

    def pieces(self) -> Iterator[Piece]:
        """Yield every attack in a line, then in words."""
        wrong = "".join(
            f"; {percent(share)} of that {what}"
            for share, what in ((self.noise, "wrong"), (self.gaps, "unknown"))
            if share
        )
        yield (
            f"{self.rows:,} rows, {self.shape}. The attacker knows {', '.join(self.known)} of "
            f"{self.targets:,} people{wrong}"
        )
        yield ResultTable(
            ("attack", "on", "success", "95 % interval", "guess", "control"),
            [
                (
                    attack.name,
                    attack.column or "the row",
                    percent(attack.success),
                    f"{percent(attack.low)} to {percent(attack.high)}",
                    percent(attack.baseline),
                    "" if attack.control is None else percent(attack.control),
                )
                for attack in self.results
            ],
        )
        for attack in self.results:
            yield f"{attack.name}: {attack.question}"
            yield f"  {attack.verdict}"
            if attack.warning:
                yield f"  Note: {attack.warning}"
        if self.unmatched:
            yield (f"{self.unmatched:,} targets match no published row; they count as not found.")
        yield {"others": _OTHERS, "outsiders": _OUTSIDERS, "none": ""}[self.control]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            **{k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()},
            "results": [result.to_dict() for result in self.results],
        }

    def frame(self) -> pl.DataFrame:
        """Return one row per result."""
        names = ("name", "column", "attempts", "success", "low", "high", "baseline", "control")
        kinds = (pl.String, pl.String, pl.Int64, *([pl.Float64] * 5))
        more = {"excess": pl.Float64, "verdict": pl.String, "warning": pl.String}
        return pl.DataFrame(
            [[getattr(result, name) for name in (*names, *more)] for result in self.results],
            schema={**dict(zip(names, kinds, strict=True)), **more},
            orient="row",
        )


def wilson(success: float, attempts: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share that was seen in so many attempts (Wilson 1927).

    Each attempt is taken for a throw that succeeds or not. Where its exact chance is known instead,
    the mean of the chances varies less than throws do, so the interval errs on the wide side.
    """
    if not attempts:
        return 0.0, 1.0
    z = quantile(level)
    weight = 1 + z * z / attempts
    middle = (success + z * z / (2 * attempts)) / weight
    spread = success * (1 - success) / attempts + z * z / (4 * attempts * attempts)
    reach = z * math.sqrt(spread) / weight
    return min(max(0.0, middle - reach), success), max(min(1.0, middle + reach), success)


def percent(share: float) -> str:
    """Write a share so that small ones do not become nothing."""
    shown = 100 * share
    if shown in (0.0, 100.0):
        return f"{shown:.0f} %"
    if shown < 0.001:
        return "less than 0.001 %"
    text = f"{shown:.3g}" if shown < 1 else f"{shown:.1f}"
    return ("more than 99.9 %" if text == "100.0" else f"{text} %") if shown < 100 else "100 %"


def conclude(
    name: str,
    column: str | None,
    *,
    attempts: int,
    success: float,
    baseline: float,
    control: float | None,
    outsiders: bool,
    known: tuple[str, ...],
    details: Mapping[str, float],
) -> AttackResult:
    """Put a result into words and say what it is worth."""
    low, high = wilson(success, attempts)
    question, reached, naive = _WORDS[name]
    m = int(details.get("ruled_out", 0))
    words = {
        "known": ", ".join(known),
        "column": column,
        "values": "1 value" if m == 1 else f"{m} values",
    }
    verdict = (
        f"{reached.format(**words)} for {percent(success)} of {attempts:,} people (95 % interval "
        f"{percent(low)} to {percent(high)}); {naive.format(**words)} {percent(baseline)}."
    )
    if "bound" in details:
        verdict += (
            " An attacker who also knew which of the fitting classes is the right one would be "
            f"right for {percent(details['bound'])}."
        )
    if "bound_people" in details:
        verdict += (
            f" Every class holds at least {details['people_fewest']:.0f} different people, and "
            "an attacker who also knew which of the fitting classes is the right one would be "
            f"right for at most {percent(details['bound_people'])} of them on average; a person "
            "with more of its rows is picked more often."
        )
    if "above" in details:
        verdict += (
            f" The true value is then believed more than {details['belief']:g} for "
            f"{percent(details['above'])}."
        )
    if "releases" in details:
        verdict += (
            f" The newest release alone gives {percent(details['alone'])}. With "
            f"{details['releases'] + 1:.0f} releases {details['left']:.3g} values are left on "
            f"average instead of {details['left_before']:.3g}, one alone for "
            f"{percent(details['one_value'])} instead of {percent(details['one_value_before'])}, "
            f"the true one for {percent(details['certain'])}."
        )
    if "cells" in details:
        verdict += (
            f" Of the people whose row is unique, {percent(details['unique'])} are guessed, "
            f"without it {percent(details['unique_without_facts'])}; of single wide cells "
            f"{percent(details['cells'])} and {percent(details['cells_without_facts'])}."
        )
    return AttackResult(
        name=name,
        column=column,
        question=question.format(**words),
        attempts=attempts,
        success=success,
        low=low,
        high=high,
        baseline=baseline,
        control=control,
        verdict=verdict,
        warning=_warning(attempts, success, low, baseline, control, outsiders=outsiders),
        details=dict(details),
    )


def _warning(
    attempts: int,
    success: float,
    low: float,
    baseline: float,
    control: float | None,
    *,
    outsiders: bool,
) -> str | None:
    if not attempts:
        return "Nobody could be attacked: the value is missing for all targets."
    if not success:
        return (
            "This attack found nothing, so it does no better than chance. It does not show that "
            "the release is safe: attackers who know more, or guess, may succeed."
        )
    if low <= baseline:
        return (
            "This attack does not do clearly better than guessing without looking anybody up, "
            "so it says nothing about safety. Let the attacker know more, or try more targets."
        )
    if control is None or low > control:
        return None
    if outsiders:
        return (
            "This attack works as well on people who are not in the table: it learns what is true "
            "of people like the targets, not what their own rows give away."
        )
    return (
        "This attack works as well with what is known of somebody else: what it finds does not "
        "come from the target's own row."
    )


# Per attack: the question, what success means, and what the baseline is.
_WORDS = {
    "linkage": (
        "Can somebody who knows {known} of a person find that person's row?",
        "The right row is found",
        "a random guess is right for",
    ),
    "homogeneity": (
        "Do the rows most likely to be a person's all have the same {column}, the true one?",
        "The most likely rows all have the true value of {column}",
        "a guess without looking anybody up is right for",
    ),
    "inference": (
        "Is the most likely {column}, over all rows that may be a person's, the true one?",
        "The value of {column} is guessed correctly",
        "the most common value is right for",
    ),
    "background": (
        "If {values} of {column} can be ruled out, is only the true one left in the likely rows?",
        "Only the true value of {column} is left once {values} can be ruled out",
        "a guess without looking anybody up is right for",
    ),
    "intersection": (
        "Who knows {known} of a person at the time of each release: is the {column} that all of "
        "them together make likeliest the true one?",
        "With earlier releases the value of {column} is guessed correctly",
        "the most common value is right for",
    ),
    "downcoding": (
        "Can a reader of the release alone guess the rows behind generalized cells?",
        "The whole row is guessed correctly",
        "somebody who does not use that cells are tight is right for",
    ),
}

_OTHERS = (
    "Control: the same attack with the values of another person. With --control and a table of "
    "people who are not in the release, it shows what is true of all similar people."
)
_OUTSIDERS = (
    "Control: the same attack on people who are not in the release (for linkage: with the values "
    "of another person)."
)
