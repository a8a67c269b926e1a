"""Histograms: upright bins side by side, before as hatched bars and after as a bold outline."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import polars as pl

from shoal.base.errors import ParameterError
from shoal.show.charts.paper import (
    TICK,
    TOP,
    WIDTH,
    Chart,
    across,
    extremes,
    finish,
    identity,
    label,
    legend,
    margin,
    number,
    same_length,
    tag,
    upright,
)
from shoal.show.charts.scales import Scale, linear, scale
from shoal.show.charts.words import escape, fit, say, width

_HEIGHT = 190.0
_AXIS = "axis"


def histogram(
    title: str,
    counts: Sequence[float],
    *,
    edges: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    before: Sequence[float] | None = None,
    text: str = "",
    form: str = "count",
    x: str = "",
    y: str = "rows",
    x_form: str = "plain",
    names: tuple[str, str] = ("before", "after"),
    reference: tuple[float, str] | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw how often each bin occurs, and how often it did before.

    Parameters
    ----------
    title, counts
        What to show.
    edges
        The ends of the bins on a number axis, one more than there are counts; or
    labels
        the names of the bins, which then stand side by side.
    before
        Counts to compare with, drawn as hatched bars behind an outline of ``counts``.
    form, x_form
        How counts and the numbers of the axis are said.
    reference
        With ``edges``: a place on the axis to point out, and its name.
    """
    if (edges is None) == (labels is None):
        raise ParameterError(
            "A histogram needs either the edges of its bins or their labels. Give one of the two."
        )
    if edges is not None and len(edges) != len(counts) + 1:
        raise ParameterError(
            f"A histogram of {len(counts)} bins needs {len(counts) + 1} edges. Got {len(edges)}."
        )
    same_length(counts=counts, labels=labels, before=before)
    shown = (wide, title, counts, edges, labels, before, form, x, y, x_form, names, reference)
    owner = identity("histogram", *shown)
    told = list(map(str, labels)) if labels is not None else _between(edges or (), x_form)
    table = _table(told, counts, before, x or "bin", y, names)
    hatched = f"url(#{owner}-hatch)"
    signs = [
        (tag("rect", x=-9, y=-6, width=18, height=11, cls="before", fill=hatched), names[0]),
        (tag("polyline", points="-9,5 -9,-5 9,-5 9,5", cls="outline"), names[1]),
    ]
    key, tall = legend(signs if before is not None else [], TOP + 6, wide)
    top = TOP + tall + 24 + (10 if reference else 0)
    bottom = top + _HEIGHT
    rise = scale([*counts, *(before or ())], bottom, top, zero=True, most=5)
    left, right = margin(rise, form), wide - 14
    ends, axis = _bins(counts, edges, left, right)
    parts = [key, upright(rise, left, right, form, y)]
    if axis is None:
        parts.append(tag("line", x1=left, y1=bottom, x2=right, y2=bottom, cls=_AXIS))
        parts.append(_thinned(told, ends, bottom))
        if x:
            parts.append(
                label(right, bottom + 33, x, room=right, size=TICK, cls="small", anchor="end")
            )
    for i in range(len(counts)):
        after = say(counts[i], form)
        if before is not None:
            hint = f"{told[i]}: {names[0]} {say(before[i], form)}, {names[1]} {after}"
            parts.append(_column(ends, i, rise, before[i], "before", hint, hatched, 0.5))
            parts.append(_column(ends, i, rise, counts[i], "wash", hint, "", 0.0))
        else:
            hint = f"{told[i]}: {after}"
            parts.append(_column(ends, i, rise, counts[i], "after", hint, "", 0.75))
    if before is not None and len(counts):
        parts.append(_outline(ends, counts, rise))
    if axis is not None:
        parts.append(across(axis, bottom, bottom, x_form, x, paper=wide))
        parts.append(_pointed(axis, reference, top, bottom, wide))
    text = text or _text(told, counts, before, names, form)
    tall, hatching = bottom + (40 if x else 24), before is not None
    return finish(owner, title, text, table, tall, parts, hatched=hatching, paper=wide)


def _between(edges: Sequence[float], form: str) -> list[str]:
    return [f"{say(a, form)} to {say(b, form)}" for a, b in itertools.pairwise(edges)]


def _bins(
    counts: Sequence[float], edges: Sequence[float] | None, left: float, right: float
) -> tuple[list[float], Scale | None]:
    """Return where the bins end, and the number axis if there is one."""
    if edges is None:
        step = (right - left) / max(len(counts), 1)
        return [left + step * i for i in range(len(counts) + 1)], None
    axis = linear(edges[0], edges[-1], left, right, 9)
    return [axis(edge) for edge in edges], axis


def _column(
    ends: list[float],
    i: int,
    rise: Scale,
    value: float,
    cls: str,
    hint: str,
    fill: str,
    gap: float,
) -> str:
    at = rise(value)
    tall = max(rise.start - at, 1.0) if value > 0 else 0.0
    return tag(
        "rect",
        tag("title", escape(hint)),
        x=ends[i] + gap,
        y=rise.start - tall,
        width=max(ends[i + 1] - ends[i] - 2 * gap, 0.5),
        height=tall,
        cls=cls,
        fill=fill,
    )


def _outline(ends: list[float], counts: Sequence[float], rise: Scale) -> str:
    corners = [(ends[0], rise.start)]
    for i, value in enumerate(counts):
        corners += [(ends[i], rise(value)), (ends[i + 1], rise(value))]
    corners.append((ends[-1], rise.start))
    points = " ".join(f"{number(a)},{number(b)}" for a, b in corners)
    return tag("polyline", points=points, cls="outline")


def _thinned(told: list[str], ends: list[float], bottom: float) -> str:
    """Write as many bin labels as fit: every one, every second, ..."""
    if not told:
        return ""
    step = ends[1] - ends[0]
    widest = max(width(fit(name, 120, TICK), TICK) for name in told)
    every = max(1, -(-int(widest + 8) // max(int(step), 1)))
    return "".join(
        label(
            (ends[i] + ends[i + 1]) / 2,
            bottom + 16,
            told[i],
            room=min(120.5, max(every * step, 24)),
            size=TICK,
            cls="tick",
            anchor="middle",
        )
        for i in range(0, len(told), every)
    )


def _pointed(
    axis: Scale, reference: tuple[float, str] | None, top: float, bottom: float, paper: float
) -> str:
    if reference is None:
        return ""
    x, half = axis(reference[0]), width(reference[1], TICK) / 2
    at = min(max(x, half), paper - half)
    return tag("line", x1=x, y1=top - 6, x2=x, y2=bottom, cls="mark") + label(
        at, top - 10, reference[1], cls="mark-label", anchor="middle"
    )


def _table(
    told: list[str],
    counts: Sequence[float],
    before: Sequence[float] | None,
    x: str,
    y: str,
    names: tuple[str, str],
) -> pl.DataFrame:
    columns: dict[str, list[object]] = {x: list(told)}
    if before is None:
        columns[y if y != x else f"{y} "] = list(map(float, counts))
    else:
        for name, series in zip(names, (before, counts), strict=True):
            columns[name if name != x else f"{name} "] = list(map(float, series))
    return pl.DataFrame(columns, schema_overrides={x: pl.String})


def _text(
    told: list[str],
    counts: Sequence[float],
    before: Sequence[float] | None,
    names: tuple[str, str],
    form: str,
) -> str:
    if before is None or not told:
        return extremes(told, counts, form)
    far = max(range(len(told)), key=lambda i: (abs(counts[i] - before[i]), -i))
    return (
        f"The largest difference is at {told[far]}: {names[0]} {say(before[far], form)}, "
        f"{names[1]} {say(counts[far], form)}."
    )
