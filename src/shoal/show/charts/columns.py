"""Histograms: upright bins side by side, before as hatched bars and after as a bold outline."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.show.charts.paper import (
    TICK,
    TOP,
    WIDTH,
    Chart,
    changed,
    finish,
    hatched_sign,
    identity,
    label,
    legend,
    margin,
    points_of,
    same_length,
    table_of,
    tag,
    vertical_axis,
)
from shoal.show.charts.scales import Scale, scale
from shoal.show.charts.words import escape, fit, format_number, width

_HEIGHT = 190.0
_WIDEST = 110.0  # of a bin: a single one must not look like a painted wall


def histogram(
    title: str,
    counts: Sequence[float],
    labels: Sequence[str],
    *,
    before: Sequence[float] | None = None,
    text: str = "",
    form: str = "count",
    x: str = "",
    y: str = "rows",
    names: tuple[str, str] = ("before", "after"),
    wide: float = WIDTH,
) -> Chart:
    """Draw how often each bin occurs, and how often it did before.

    Parameters
    ----------
    title, counts, labels
        What to show: the bins stand side by side, each over its label.
    before
        Counts to compare with, drawn as hatched bars behind an outline of ``counts``.
    form
        How counts are said.
    """
    same_length(counts=counts, labels=labels, before=before)
    owner = identity("histogram", wide, title, counts, labels, before, form, x, y, names)
    told = list(map(str, labels))
    numbers = {y: counts} if before is None else dict(zip(names, (before, counts), strict=True))
    signs = [
        (hatched_sign(owner), names[0]),
        (tag("polyline", points="-9,5 -9,-5 9,-5 9,5", cls="outline"), names[1]),
    ]
    key, tall = legend(signs if before is not None else [], TOP + 6, wide)
    top = TOP + tall + 24
    bottom = top + _HEIGHT
    rise = scale([*counts, *(before or ())], bottom, top, zero=True, most=5)
    left, right = margin(rise, form), wide - 14
    step = min((right - left) / max(len(counts), 1), _WIDEST)
    ends = [left + step * i for i in range(len(counts) + 1)]
    parts = [key, vertical_axis(rise, left, right, form, y)]
    parts.append(tag("line", x1=left, y1=bottom, x2=right, y2=bottom, cls="axis"))
    parts.append(_thinned(told, ends, bottom))
    if x:
        parts.append(label(right, bottom + 33, x, room=right, size=TICK, cls="small", anchor="end"))
    for i, count in enumerate(counts):
        after = format_number(count, form)
        if before is None:
            parts.append(_column(ends, i, rise, count, "after", f"{told[i]}: {after}", gap=0.75))
            continue
        hint = f"{told[i]}: {names[0]} {format_number(before[i], form)}, {names[1]} {after}"
        hatch = f"url(#{owner}-hatch)"
        parts.append(_column(ends, i, rise, before[i], "before", hint, hatch, gap=0.5))
        parts.append(_column(ends, i, rise, count, "wash", hint))
    if before is not None and len(counts):
        parts.append(_outline(ends, counts, rise))
    text = text or changed(told, counts, before, names, form, "difference")
    tall, hatching = bottom + (40 if x else 24), before is not None
    table = table_of(x or "bin", told, numbers)
    return finish(owner, title, text, table, tall, parts, hatched=hatching, paper=wide)


def _column(
    ends: list[float],
    i: int,
    rise: Scale,
    value: float,
    cls: str,
    hint: str,
    fill: str = "",
    gap: float = 0.0,
) -> str:
    tall = max(rise.start - rise(value), 1.0) if value > 0 else 0.0
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
    return tag("polyline", points=points_of(corners), cls="outline")


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
