"""Verdicts: what became of a claim, computed from the answers to its questions.

All checks passed: the claim holds; half of them or more: it holds at so many points, and every
other one is named; else it does not hold. Where another seed, another fit or another reading of the
paper turns the answer it is undecided, with the figures of both. A point that could not be measured
stays in the count. Without any figure the claim is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.claims import Check, Claim, Dot
from experiments.questions import KINDS, Axes

HOLDS, PART, FAILS, UNDECIDED = "holds", "holds at", "does not hold", "undecided"
UNMEASURED = "not measured"
VERDICTS = (HOLDS, PART, FAILS, UNDECIDED, UNMEASURED)
"""How a verdict begins; one that holds in part goes on with the number of points."""
SEEDS = 20
"""So many seeds are behind a random figure; a verdict of fewer says how many there were."""


@dataclass(frozen=True)
class Verdict:
    """What became of a claim, and why."""

    claim: Claim
    verdict: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "id": self.claim.id,
            "claim": self.claim.text,
            "reported": self.claim.reported,
            "place": self.claim.place,
            "ours": self.claim.ours,
            "main": self.claim.main,
            "verdict": self.verdict,
            "reason": self.reason,
        }


def class_of(verdict: str) -> str:
    """Return which of the five kinds of verdict this is."""
    return next(word for word in (PART, *VERDICTS) if verdict.startswith(word))


def judge(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Verdict:
    """Ask a claim of the measured points.

    Parameters
    ----------
    dots
        All points of the paper.
    axes
        Per figure the parameters of its x axis and of its panels.
    """
    if claim.readings:
        own = [replace(each, why="") for each in claim.readings]
        return _agreed(claim, [(each.reading, judge(each, dots, axes)) for each in own])
    chosen = [dot for dot in dots if dot.figure in claim.figures and _asked(claim, dot, axes)]
    many = max((len(dot.values) for dot in chosen), default=0)
    if claim.seeds and many > 1:
        plain = replace(claim, why="")
        found = [
            (f"seed {seed}", _answered(plain, [dot.at_seed(seed) for dot in chosen], axes))
            for seed in range(many)
        ]
        return _told_seeds(claim, _by_seed(claim, found), chosen)
    return _told_seeds(claim, _answered(claim, chosen, axes), chosen)


def _answered(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Verdict:
    checks = list(KINDS[claim.kind](claim, dots, axes))
    measured = [check for check in checks if check.measured]
    if not measured:
        reasons = sorted({dot.reason for dot in dots if dot.reason})
        return Verdict(claim, UNMEASURED, "; ".join(reasons) or "no point of it was measured")
    passed = sum(check.passed is True for check in checks)
    open_ = [check for check in checks if check.passed is None]
    verdict = _counted(passed, len(checks))
    if open_ and verdict != _counted(passed + len(open_), len(checks)):
        return Verdict(claim, UNDECIDED, "; ".join(check.told for check in open_))
    return Verdict(claim, verdict, _reason(claim, verdict, checks))


def _counted(passed: int, many: int) -> str:
    if passed == many:
        return HOLDS
    return f"{PART} {passed} of {many} points" if 2 * passed >= many else FAILS


def _reason(claim: Claim, verdict: str, checks: Sequence[Check]) -> str:
    """Return the figures behind a verdict: all that failed, or the first and the last."""
    failed = [check.told for check in checks if not check.passed]
    many = len(checks)
    why = f". {claim.why}" if failed and claim.why else ""
    if many == 1:
        return checks[0].told + why
    if not failed:
        return f"at all {many} points, from {checks[0].told} to {checks[-1].told}"
    if verdict == FAILS:
        return f"at {many - len(failed)} of {many} points; not: {'; '.join(failed)}{why}"
    return f"not: {'; '.join(failed)}{why}"


def _agreed(claim: Claim, found: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Return the verdict of all readings, or that they disagree, or that one was not measured."""
    known = [(name, each) for name, each in found if each.verdict != UNMEASURED]
    told = "; ".join(f"{name}: {each.verdict} ({each.reason})" for name, each in found)
    if len(known) < len(found):
        return Verdict(claim, UNMEASURED, f"not under every reading. {told}")
    if len({class_of(each.verdict) for _, each in known}) > 1:
        return Verdict(claim, UNDECIDED, f"{told}{f'. {claim.why}' if claim.why else ''}")
    if class_of(known[0][1].verdict) == PART:
        parts = [each.verdict.split()[2:5:2] for _, each in known]
        passed, many = (sum(map(int, column)) for column in zip(*parts, strict=True))
        return Verdict(claim, f"{PART} {passed} of {many} points", told)
    return Verdict(claim, known[0][1].verdict, told)


def _by_seed(claim: Claim, found: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Return the verdict of all seeds, or one seed of each verdict with its figures."""
    classes: dict[str, list[tuple[str, Verdict]]] = {}
    for name, each in found:
        classes.setdefault(class_of(each.verdict), []).append((name, each))
    if len(classes) == 1:
        (same,) = classes.values()
        ends = "" if len(same) == 1 else f" to {same[-1][1].reason} ({same[-1][0]})"
        told = f"for all {len(same)} seeds, {same[0][1].reason} ({same[0][0]}){ends}"
        return Verdict(claim, same[0][1].verdict, told)
    told = "; ".join(
        f"{word} for {len(some)} of {len(found)} seeds, {some[0][1].reason} ({some[0][0]})"
        for word, some in classes.items()
    )
    return Verdict(claim, UNDECIDED, f"{told}{f'. {claim.why}' if claim.why else ''}")


def _told_seeds(claim: Claim, verdict: Verdict, dots: Sequence[Dot]) -> Verdict:
    """Say of a verdict on random figures if too few seeds are behind it."""
    asked = {claim.series, *claim.others}
    mine = [dot for dot in dots if dot.series in asked and dot.mean is not None]
    few = min((dot.repeats for dot in mine if dot.random), default=SEEDS)
    if few >= SEEDS or verdict.verdict == UNMEASURED:
        return verdict
    told = f"{verdict.reason.rstrip('.')}. Asked of {few} seed{'s' if few > 1 else ''} only."
    return replace(verdict, reason=told)


def _asked(claim: Claim, dot: Dot, axes: Mapping[str, tuple[str, str]]) -> bool:
    x, panel = axes[dot.figure]
    here = {x: dot.x, panel: dot.panel}
    return all(
        here[key] in (value if isinstance(value, list) else [value])
        for key, value in claim.at.items()
        if key in here
    )
