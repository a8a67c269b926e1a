"""The kinds of questions that a claim asks of measured points, each answered by checks.

Every point, step or curve is a check of its own, with the figures that it rests on, never an
average. Where there is no figure the check says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.claims import Check, Claim, Dot
from experiments.plans import NAMES

Axes = Mapping[str, tuple[str, str]]


def _curves(
    claim: Claim, dots: Sequence[Dot], axes: Axes, series: str
) -> Iterator[tuple[str, list[Dot]]]:
    """Yield the points of a series, measured or not, curve by curve, with the curve's name."""
    keys: dict[tuple[Any, Any], list[Dot]] = {}
    for dot in dots:
        if dot.series == series:
            place = dot.panel if claim.along == "x" else dot.x
            keys.setdefault((dot.figure, place), []).append(dot)
    for (figure, place), curve in keys.items():
        name = _named(axes[figure][1 if claim.along == "x" else 0])
        yield (f"at {name} = {place}" if name and place is not None else ""), curve


def _measured(curve: Sequence[Dot]) -> list[Dot]:
    return [dot for dot in curve if dot.mean is not None]


def _missing(where: str) -> Check:
    """Return the answer to a question without a figure."""
    return Check(False, f"not measured {where}".strip(), measured=False)


def _where(dot: Dot, axes: Axes) -> str:
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


def _steps(claim: Claim, dots: Sequence[Dot], axes: Axes, sign: int) -> Iterator[Check]:
    """Each step along the curve goes the right way, or the wrong way by less than a tolerance."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        for before, after in itertools.pairwise(curve):
            ends = f"from {_place(claim, before)} to {_place(claim, after)} {name}"
            if before.mean is None or after.mean is None:
                yield _missing(ends)
                continue
            slack = claim.tolerance * abs(before.mean)
            gone = sign * (after.mean - before.mean)
            told = f"{number(before.mean)} to {number(after.mean)} {ends}"
            yield Check(gone >= -slack, told.strip())


def _found(dots: Sequence[Dot]) -> dict[tuple[Any, ...], float | None]:
    return {(dot.figure, dot.panel, dot.x, dot.series): dot.mean for dot in dots}


def _below(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """At each point the series is at most ``factor`` times the least of the others."""
    found = _found(dots)
    for dot in dots:
        if dot.series != claim.series:
            continue
        means = {name: found.get((dot.figure, dot.panel, dot.x, name)) for name in claim.others}
        against = {name: mean for name, mean in means.items() if mean is not None}
        if dot.mean is None or not against:
            yield _missing(f"at {_where(dot, axes)}")
            continue
        least = min(against, key=lambda name: against[name])
        told = f"{number(dot.mean)} against {number(against[least])} of {least}"
        passed = dot.mean <= claim.factor * against[least]
        # Above one of the others it is not the least, whatever the rest would give.
        if passed and len(against) < len(means):
            rest = ", ".join(name for name in means if name not in against)
            yield _missing(f"of {rest} at {_where(dot, axes)}")
        else:
            yield Check(passed, f"{told} at {_where(dot, axes)}")


def _ratio(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """At each point series / other lies between ``low`` and ``high``."""
    for dot, ratio in _ratios(claim, dots):
        if ratio is None:
            yield _missing(f"at {_where(dot, axes)}")
        else:
            told = f"{number(ratio)} times at {_where(dot, axes)}"
            yield Check(claim.low <= ratio <= claim.high, told)


def _ratios(claim: Claim, dots: Sequence[Dot]) -> Iterator[tuple[Dot, float | None]]:
    """Yield every point of the series with what it is of the other one there."""
    found = _found(dots)
    for dot in dots:
        if dot.series == claim.series:
            other = found.get((dot.figure, dot.panel, dot.x, claim.others[0]))
            yield dot, dot.mean / other if dot.mean is not None and other else None


def _share_falls(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """Series / other falls with every step along the curve."""
    shares = [replace(dot, mean=ratio) for dot, ratio in _ratios(claim, dots)]
    return _steps(claim, shares, axes, -1)


def _average(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """Series / other over a whole curve lies between ``low`` and ``high``.

    ``how``: the mean of the ratios at all points, at all but the first, or sum over sum.
    """
    ratios = list(_ratios(claim, dots))
    known = [(dot, ratio) for dot, ratio in ratios if ratio is not None]
    if len(known) < len(ratios) or not known:
        yield _missing("at every point")
        return
    if claim.how == "sums":
        sums = [dot.mean or 0.0 for dot, _ in known]
        value = sum(sums) / sum(own / ratio for own, (_, ratio) in zip(sums, known, strict=True))
    else:
        kept = known[1:] if claim.how == "after the first" else known
        value = float(np.mean([ratio for _, ratio in kept]))
    yield Check(claim.low <= value <= claim.high, f"{number(value)} times")


def _jumps(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """Each curve stands still at some steps and grows by a tenth or more at some other."""
    for name, whole in _curves(claim, dots, axes, claim.series):
        curve = _measured(whole)
        steps = [
            (after.mean or 0.0) / before.mean - 1
            for before, after in itertools.pairwise(curve)
            if before.mean
        ]
        if not steps:
            yield _missing(name)
            continue
        told = f"{100 * min(steps):.1f} to {100 * max(steps):.1f} % a step {name}"
        yield Check(min(map(abs, steps)) < 0.01 and max(steps) >= 0.1, told.strip())


def _mixed(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """Each curve rises at some steps and falls at others."""
    for name, whole in _curves(claim, dots, axes, claim.series):
        curve = _measured(whole)
        steps = [(b.mean or 0.0) - (a.mean or 0.0) for a, b in itertools.pairwise(curve)]
        if not steps:
            yield _missing(name)
            continue
        up, down = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
        told = f"{up} steps up, {down} down, {number(curve[0].mean)} to {number(curve[-1].mean)}"
        yield Check(up > 0 < down, f"{told} {name}".strip())


def _value(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """Every point lies between ``low`` and ``high``."""
    for dot in dots:
        if dot.series == claim.series:
            where = f"at {_where(dot, axes)}"
            yield (
                _missing(where)
                if dot.mean is None
                else _in_range(claim, dot.mean, f"{number(dot.mean)} {where}")
            )


def _change(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """The end of each curve over its start lies between ``low`` and ``high``."""
    for name, curve in _curves(claim, dots, axes, claim.series):
        first, last = curve[0], curve[-1]
        if len(curve) < 2 or not first.mean or last.mean is None:
            yield _missing(name)
            continue
        ratio = last.mean / first.mean
        told = (
            f"{number(ratio)} times, {number(first.mean)} to {number(last.mean)} from "
            f"{_place(claim, first)} to {_place(claim, last)} {name}"
        )
        yield _in_range(claim, ratio, told.strip())


def _spread(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """All points of each curve lie within ``tolerance`` of their mean."""
    for name, whole in _curves(claim, dots, axes, claim.series):
        values = np.array([dot.mean for dot in _measured(whole)], float)
        if len(values) < 2 or not values.mean():
            yield _missing(name)
            continue
        middle = float(values.mean())
        off = float(np.abs(values / middle - 1).max())
        told = f"{number(middle)}, at most {100 * off:.1f} % off in {len(values)} repeats {name}"
        yield Check(off <= claim.tolerance, told.strip())


def _shape(claim: Claim, dots: Sequence[Dot], axes: Axes) -> Iterator[Check]:
    """A straight line fits the curve better than an exponential one (``linear``), or the reverse.

    The fits are least squares of y and of log y. Both are compared twice: by the share of the
    variance of y that they explain, and by that of log y. Where the two comparisons disagree the
    curve is undecided.
    """
    for name, whole in _curves(claim, dots, axes, claim.series):
        curve = _measured(whole)
        x = np.array([_place(claim, dot) for dot in curve], float)
        y = np.array([dot.mean for dot in curve], float)
        if len(curve) < 3 or y.min() <= 0 or y.max() == y.min():
            yield _missing(name)
            continue
        line = np.polyval(np.polyfit(x, y, 1), x)
        power = np.exp(np.polyval(np.polyfit(x, np.log(y), 1), x))
        plain = [_explained(y, fit) for fit in (line, power)]
        # A line that falls below 0 says nothing of logarithms.
        logs = [
            _explained(np.log(y), np.log(fit)) if fit.min() > 0 else -np.inf
            for fit in (line, power)
        ]
        answers = {(one >= other) == (claim.expect == "linear") for one, other in (plain, logs)}
        told = (
            f"of its variance a line explains {plain[0]:.3f}, an exponential "
            f"{plain[1]:.3f}; of their logarithms {_share(logs[0])} and {_share(logs[1])}; "
            f"{number(y[0])} to {number(y[-1])} {name}"
        )
        yield Check(answers.pop() if len(answers) == 1 else None, told.strip())


def _share(explained: float) -> str:
    return "nothing" if explained == -np.inf else f"{explained:.3f}"


def _explained(y: npt.NDArray[np.float64], fit: npt.NDArray[np.float64]) -> float:
    return float(1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def _in_range(claim: Claim, value: float, told: str) -> Check:
    return Check(claim.low <= value <= claim.high, told)


KINDS: dict[str, Callable[[Claim, Sequence[Dot], Axes], Iterator[Check]]] = {
    "grows": lambda claim, dots, axes: _steps(claim, dots, axes, 1),
    "falls": lambda claim, dots, axes: _steps(claim, dots, axes, -1),
    "below": _below,
    "ratio": _ratio,
    "share-falls": _share_falls,
    "average": _average,
    "jumps": _jumps,
    "mixed": _mixed,
    "value": _value,
    "change": _change,
    "spread": _spread,
    "shape": _shape,
}
