"""Claims and verdicts: what a paper finds, asked of our own figures.

A claim is a *kind* of question (in ``KINDS``) about the curves of a figure. It is answered by
checks, one per point, step or curve, each with the figures it rests on, never by an average. All
checks passed: the claim holds; half of them or more: it holds at so many points, and every other
one is named; else it does not hold. Without a figure it is not measured.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.plans import NAMES
from shoal.base.errors import PlanError, listed, nearest

HOLDS, PART, FAILS, UNMEASURED = "holds", "holds at", "does not hold", "not measured"
VERDICTS = (HOLDS, PART, FAILS, UNMEASURED)
"""How a verdict begins; one that holds in part goes on with the number of points."""


@dataclass(frozen=True)
class Dot:
    """A measured point of a curve; ``mean`` is None where nothing could be measured."""

    figure: str
    panel: Any
    x: Any
    series: str
    mean: float | None
    low: float | None = None
    high: float | None = None
    repeats: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A finding of a paper, and when it counts as holding.

    Parameters
    ----------
    text, reported, place
        The finding in our words, what the paper reports, and where in it: a section or figure.
    ours
        Whether it is no finding of the paper but a question of our own.
    why
        Why our figures contradict the paper, for a claim that does not hold.
    kind
        The question asked, a name of ``KINDS``.
    figures, series, others
        The figures asked, the curve that the claim is about, and those it is compared with.
    at
        Only points with these values of x or panel, one or a list of them.
    along
        ``x``, or ``panel`` to follow the panels at each x.
    tolerance, factor, low, high, expect
        What the kind needs, see there.
    full
        Whether it speaks of all rows, so that a quick run cannot tell.
    main
        Whether it stands in the table at the top of the summary.
    """

    id: str
    text: str
    reported: str
    kind: str
    figures: tuple[str, ...]
    series: str
    place: str = ""
    ours: bool = False
    why: str = ""
    others: tuple[str, ...] = ()
    at: Mapping[str, Any] = field(default_factory=dict)
    along: str = "x"
    tolerance: float = 0.0
    factor: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    expect: str = ""
    full: bool = False
    main: bool = False


@dataclass(frozen=True)
class Check:
    """One question answered: where, with which figures."""

    passed: bool
    told: str


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
    """Return which of the four kinds of verdict this is."""
    return next(word for word in (PART, *VERDICTS) if verdict.startswith(word))


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Read the claims of a paper, or say all that is wrong with them."""
    claims, faults = [], []
    known = set(Claim.__dataclass_fields__) - {"figures"} | {"figure"}
    for part in tomllib.loads(path.read_text("utf-8"))["claims"]:
        name = part.get("id", "without an id")
        faults += [
            f"{path}: claim {name!r} has an unknown key {key!r}.{nearest(key, known)}"
            for key in sorted(set(part) - known)
        ]
        if part.get("kind") not in KINDS:
            faults.append(
                f"{path}: claim {name!r} is of the kind {part.get('kind')!r}; kinds are "
                f"{listed(KINDS, len(KINDS))}."
            )
        needed = {"id", "text", "figure", "series"}
        needed |= set() if part.get("ours") else {"reported", "place"}
        if lacking := needed - set(part):
            faults.append(f"{path}: claim {name!r} lacks {listed(sorted(lacking))}.")
        elif not faults:
            figures = part["figure"]
            rest = {key: value for key, value in part.items() if key != "figure"}
            rest["figures"] = (figures,) if isinstance(figures, str) else tuple(figures)
            rest["others"] = tuple(part.get("others", ()))
            rest.setdefault("reported", "not in the paper")
            claims.append(Claim(**rest))
    if faults:
        raise PlanError(faults)
    return tuple(claims)


def judge(claim: Claim, dots: Sequence[Dot], axes: Mapping[str, tuple[str, str]]) -> Verdict:
    """Ask a claim of the measured points.

    Parameters
    ----------
    dots
        All points of the paper.
    axes
        Per figure the parameters of its x axis and of its panels.
    """
    chosen = [dot for dot in dots if dot.figure in claim.figures and _asked(claim, dot, axes)]
    checks = list(KINDS[claim.kind](claim, chosen, axes))
    if not checks:
        reasons = sorted({dot.reason for dot in chosen if dot.reason})
        return Verdict(claim, UNMEASURED, "; ".join(reasons) or "no point of it was measured")
    failed = [check.told for check in checks if not check.passed]
    many, passed = len(checks), len(checks) - len(failed)
    if not failed:
        verdict = HOLDS
    elif 2 * passed >= many:
        verdict = f"{PART} {passed} of {many} points"
    else:
        verdict = FAILS
    why = f". {claim.why}" if failed and claim.why else ""
    if many == 1:
        return Verdict(claim, verdict, checks[0].told + why)
    if not failed:
        told = f"at all {many} points, from {checks[0].told} to {checks[-1].told}"
    elif verdict == FAILS:
        told = f"at {passed} of {many} points; not: {'; '.join(failed)}"
    else:
        told = f"not: {'; '.join(failed)}"
    return Verdict(claim, verdict, told + why)


def _asked(claim: Claim, dot: Dot, axes: Mapping[str, tuple[str, str]]) -> bool:
    x, panel = axes[dot.figure]
    here = {x: dot.x, panel: dot.panel}
    return all(
        here[key] in (value if isinstance(value, list) else [value])
        for key, value in claim.at.items()
        if key in here
    )


def _curves(
    claim: Claim, dots: Sequence[Dot], axes: Mapping[str, tuple[str, str]], series: str
) -> Iterator[tuple[str, list[Dot]]]:
    """Yield the measured points of a series, curve by curve, with the curve's name."""
    keys: dict[tuple[Any, Any], list[Dot]] = {}
    for dot in dots:
        if dot.series == series and dot.mean is not None:
            place = dot.panel if claim.along == "x" else dot.x
            keys.setdefault((dot.figure, place), []).append(dot)
    for (figure, place), curve in keys.items():
        name = _named(axes[figure][1 if claim.along == "x" else 0])
        yield (f"at {name} = {place}" if name and place is not None else ""), curve


def _where(dot: Dot, axes: Mapping[str, tuple[str, str]]) -> str:
    x, panel = map(_named, axes[dot.figure])
    parts = [f"{panel} = {dot.panel}"] if panel and dot.panel is not None else []
    return ", ".join([*parts, f"{x} = {dot.x}".removeprefix(" = ")])


def _named(axis: str) -> str:
    return NAMES.get(axis, axis)


def _place(claim: Claim, dot: Dot) -> Any:
    return dot.x if claim.along == "x" else dot.panel


def number(value: float | None) -> str:
    """Write a figure with four digits that count."""
    if value is None:
        return "-"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _steps(claim: Claim, dots: Sequence[Dot], axes: Any, sign: int) -> Iterator[Check]:
    """Each step along the curve goes the right way, or the wrong way by less than a tolerance."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        for before, after in itertools.pairwise(curve):
            slack = claim.tolerance * abs(before.mean or 0.0)
            gone = sign * ((after.mean or 0.0) - (before.mean or 0.0))
            told = (
                f"{number(before.mean)} to {number(after.mean)} from {_place(claim, before)} to "
                f"{_place(claim, after)} {name}"
            )
            yield Check(gone >= -slack, told.strip())


def _below(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """At each point the series is at most ``factor`` times the least of the others."""
    found = {(dot.figure, dot.panel, dot.x, dot.series): dot.mean for dot in dots}
    for dot in dots:
        if dot.series != claim.series or dot.mean is None:
            continue
        against = {
            other: mean
            for other in claim.others
            if (mean := found.get((dot.figure, dot.panel, dot.x, other))) is not None
        }
        if against:
            least = min(against, key=lambda name: against[name])
            told = (
                f"{number(dot.mean)} against {number(against[least])} of {least} "
                f"at {_where(dot, axes)}"
            )
            yield Check(dot.mean <= claim.factor * against[least], told)


def _ratio(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """At each point series / other lies between ``low`` and ``high``."""
    for dot, ratio in _ratios(claim, dots):
        told = f"{number(ratio)} times at {_where(dot, axes)}"
        yield Check(claim.low <= ratio <= claim.high, told)


def _ratios(claim: Claim, dots: Sequence[Dot]) -> Iterator[tuple[Dot, float]]:
    """Yield every point of the series with what it is of the other one there."""
    found = {(dot.figure, dot.panel, dot.x, dot.series): dot.mean for dot in dots}
    for dot in dots:
        if dot.series == claim.series and dot.mean is not None:
            other = found.get((dot.figure, dot.panel, dot.x, claim.others[0]))
            if other:
                yield dot, dot.mean / other


def _share_falls(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """Series / other falls with every step along the curve."""
    shares = [replace(dot, mean=ratio) for dot, ratio in _ratios(claim, dots)]
    return _steps(claim, shares, axes, -1)


def _jumps(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """Each curve stands still at some steps and grows by a tenth or more at some other."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        steps = [
            (after.mean or 0.0) / before.mean - 1
            for before, after in itertools.pairwise(curve)
            if before.mean
        ]
        if steps:
            told = f"{100 * min(steps):.1f} to {100 * max(steps):.1f} % a step {name}"
            yield Check(min(map(abs, steps)) < 0.01 and max(steps) >= 0.1, told.strip())


def _mixed(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """Each curve rises at some steps and falls at others."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        steps = [(b.mean or 0.0) - (a.mean or 0.0) for a, b in itertools.pairwise(curve)]
        if steps:
            up, down = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
            told = (
                f"{up} steps up, {down} down, {number(curve[0].mean)} to {number(curve[-1].mean)}"
            )
            yield Check(up > 0 < down, f"{told} {name}".strip())


def _value(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """Every point lies between ``low`` and ``high``."""
    for dot in dots:
        if dot.series == claim.series and dot.mean is not None:
            yield _in_range(claim, dot.mean, f"{number(dot.mean)} at {_where(dot, axes)}")


def _change(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """The end of each curve over its start lies between ``low`` and ``high``."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        first, last = curve[0], curve[-1]
        if len(curve) > 1 and first.mean:
            ratio = (last.mean or 0.0) / first.mean
            told = (
                f"{number(ratio)} times, {number(first.mean)} to {number(last.mean)} from "
                f"{_place(claim, first)} to {_place(claim, last)} {name}"
            )
            yield _in_range(claim, ratio, told.strip())


def _spread(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """All points of each curve lie within ``tolerance`` of their mean."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        values = np.array([dot.mean for dot in curve], float)
        middle = float(values.mean())
        if len(curve) > 1 and middle:
            off = float(np.abs(values / middle - 1).max())
            told = f"{number(middle)}, at most {100 * off:.1f} % off in {len(curve)} repeats {name}"
            yield Check(off <= claim.tolerance, told.strip())


def _shape(claim: Claim, dots: Sequence[Dot], axes: Any) -> Iterator[Check]:
    """A straight line fits the curve better than an exponential one (``linear``), or the reverse.

    The fits are least squares of y and of log y; each is judged by the share of y's variance that
    it explains.
    """
    for name, curve in _curves(claim, dots, axes, claim.series):
        x = np.array([_place(claim, dot) for dot in curve], float)
        y = np.array([dot.mean for dot in curve], float)
        if len(curve) < 3 or y.min() <= 0 or y.max() == y.min():
            continue
        line = np.polyval(np.polyfit(x, y, 1), x)
        power = np.exp(np.polyval(np.polyfit(x, np.log(y), 1), x))
        straight, bent = (
            1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum() for fit in (line, power)
        )
        told = (
            f"a line explains {straight:.2f} of the variance, an exponential {bent:.2f}, "
            f"{number(y[0])} to {number(y[-1])} {name}"
        )
        yield Check((straight >= bent) == (claim.expect == "linear"), told.strip())


def _in_range(claim: Claim, value: float, told: str) -> Check:
    return Check(claim.low <= value <= claim.high, told)


KINDS: dict[str, Callable[[Claim, Sequence[Dot], Any], Iterator[Check]]] = {
    "grows": lambda claim, dots, axes: _steps(claim, dots, axes, 1),
    "falls": lambda claim, dots, axes: _steps(claim, dots, axes, -1),
    "below": _below,
    "ratio": _ratio,
    "share-falls": _share_falls,
    "jumps": _jumps,
    "mixed": _mixed,
    "value": _value,
    "change": _change,
    "spread": _spread,
    "shape": _shape,
}
