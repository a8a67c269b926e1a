"""Charts with one line per label: bars, bars in pairs, points with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.show.charts.paper import (
    TEXT,
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
    marker,
    same_length,
    tag,
)
from shoal.show.charts.scales import Scale, scale
from shoal.show.charts.words import escape, say, width

_MOST = 0.34  # of the paper for the labels
Reference = tuple[float, str]
"""A number worth comparing with, and what it is called."""


def bars(
    title: str,
    labels: Sequence[str],
    values: Sequence[float],
    *,
    text: str = "",
    form: str = "plain",
    name: str = "value",
    of: str = "label",
    reference: Reference | None = None,
    top: float | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw a horizontal bar per label, with its number at the end.

    Parameters
    ----------
    title, labels, values
        What to show.
    text
        The alternative in words; the highest and the lowest by default.
    form
        How numbers are said: ``count``, ``share``, ``plain`` or ``seconds``.
    name, of
        What the numbers and the labels are.
    reference
        A number to compare with, drawn as a line.
    top
        The end of the axis, when it should be further than the largest value.
    wide
        Width of the paper: letters keep their size, whatever it is.
    """
    same_length(labels=labels, values=values)
    owner = identity("bars", wide, title, labels, values, form, name, reference, top)
    table = pl.DataFrame(
        {of: list(map(str, labels)), name if name != of else f"{name} ": list(map(float, values))},
        schema_overrides={of: pl.String},
    )
    said = [say(value, form) for value in values]
    ends = [*values, *([reference[0]] if reference else []), *([top] if top is not None else [])]
    left, axis = _sheet(labels, said, ends, wide)
    step, thick = 25.0, 15.0
    start = TOP + (18 if reference else 4)
    bottom = start + step * len(labels)
    parts = [across(axis, start - 2, bottom, form, name if name != "value" else "", paper=wide)]
    for i, (row, value) in enumerate(zip(labels, values, strict=True)):
        y = start + step * i + (step - thick) / 2
        parts.append(_name(row, left, y + thick / 2))
        parts.append(_bar(axis, value, y, thick, "after", f"{row}: {said[i]}"))
        parts.append(_number(axis, value, y + thick / 2, said[i]))
    parts.append(_reference(axis, reference, start, bottom, wide))
    text = text or extremes(list(map(str, labels)), values, form)
    named = 16 if name != "value" else 0
    return finish(owner, title, text, table, bottom + 24 + named, parts, paper=wide)


def paired_bars(
    title: str,
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    text: str = "",
    form: str = "plain",
    name: str = "value",
    of: str = "label",
    names: tuple[str, str] = ("before", "after"),
    reference: Reference | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw two bars per label: hatched what was before, full what is after."""
    same_length(labels=labels, before=before, after=after)
    owner = identity("pairs", wide, title, labels, before, after, form, name, names, reference)
    table = pl.DataFrame(
        {
            of: list(map(str, labels)),
            names[0]: list(map(float, before)),
            names[1]: list(map(float, after)),
        },
        schema_overrides={of: pl.String},
    )
    said = [[say(value, form) for value in series] for series in (before, after)]
    ends = [*before, *after, *([reference[0]] if reference else [])]
    left, axis = _sheet(labels, said[0] + said[1], ends, wide)
    step, thick = 37.0, 13.0
    signs = (
        tag("rect", x=-9, y=-6, width=18, height=11, cls="before", fill=f"url(#{owner}-hatch)"),
        tag("rect", x=-9, y=-6, width=18, height=11, cls="after"),
    )
    key, tall = legend(list(zip(signs, names, strict=True)), TOP + 6, wide)
    start = TOP + tall + (20 if reference else 6)
    bottom = start + step * len(labels)
    parts = [
        key,
        across(axis, start - 2, bottom, form, name if name != "value" else "", paper=wide),
    ]
    for i, row in enumerate(labels):
        y = start + step * i + (step - 2 * thick - 1) / 2
        parts.append(_name(row, left, y + thick))
        fill = f"url(#{owner}-hatch)"
        for which, (series, cls) in enumerate(((before, "before"), (after, "after"))):
            at, told = y + which * (thick + 1), said[which][i]
            hint = f"{row}, {names[which]}: {told}"
            parts.append(
                _bar(axis, series[i], at, thick, cls, hint, fill if cls == "before" else "")
            )
            parts.append(_number(axis, series[i], at + thick / 2, told))
    parts.append(_reference(axis, reference, start, bottom, wide))
    text = text or _compared(labels, before, after, names, form)
    named = 16 if name != "value" else 0
    return finish(owner, title, text, table, bottom + 24 + named, parts, hatched=True, paper=wide)


def intervals(
    title: str,
    labels: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    text: str = "",
    form: str = "plain",
    name: str = "value",
    of: str = "label",
    others: Mapping[str, Sequence[float | None]] | None = None,
    reference: Reference | None = None,
    top: float | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw a point with its interval per label, and other points to compare it with.

    ``others``: up to two series of points, for instance a baseline and a control, None where there
    is none.
    """
    others = dict(others or {})
    same_length(labels=labels, values=values, low=low, high=high, **others)
    owner = identity(
        "intervals", wide, title, labels, values, low, high, form, name, others, reference
    )
    table = pl.DataFrame(
        {of: list(map(str, labels)), name if name != of else f"{name} ": list(map(float, values))}
        | {"low": list(map(float, low)), "high": list(map(float, high))}
        | {
            key: [None if v is None else float(v) for v in series] for key, series in others.items()
        },
        schema_overrides={of: pl.String},
    )
    said = [say(value, form) for value in values]
    compared = [v for series in others.values() for v in series if v is not None]
    ends = [*values, *low, *high, *compared, *([reference[0]] if reference else [])]
    left, axis = _sheet(labels, said, [*ends, *([top] if top is not None else [])], wide)
    shapes = ("diamond", "square", "triangle")
    looks = [("hollow", shapes[i % 3]) for i in range(len(others))]
    whisker = tag("line", x1=-10, y1=0, x2=10, y2=0, cls="whisker")
    signs = [(whisker + marker("circle", 0, 0, "after"), f"{name}, with interval")]
    signs += [
        (marker(shape, 0, 0, cls), key) for (cls, shape), key in zip(looks, others, strict=True)
    ]
    key, tall = legend(signs, TOP + 6, wide)
    step = 30.0
    start = TOP + tall + (20 if reference else 6)
    bottom = start + step * len(labels)
    parts = [key, across(axis, start - 2, bottom, form, paper=wide)]
    for i, row in enumerate(labels):
        y = start + step * (i + 0.5)
        parts.append(_name(row, left, y))
        a, b = axis(low[i]), axis(high[i])
        parts.append(tag("line", x1=a, y1=y, x2=b, y2=y, cls="whisker"))
        parts += [tag("line", x1=end, y1=y - 4, x2=end, y2=y + 4, cls="whisker") for end in (a, b)]
        for (cls, shape), (other, series) in zip(looks, others.items(), strict=True):
            if (value := series[i]) is not None:
                hint = f"{row}, {other}: {say(value, form)}"
                parts.append(marker(shape, axis(value), y, cls, hint=hint))
        hint = f"{row}: {said[i]} ({say(low[i], form)} to {say(high[i], form)})"
        parts.append(marker("circle", axis(values[i]), y, "after", 5, hint))
        parts.append(label(wide, y + 4, said[i], anchor="end"))
    parts.append(_reference(axis, reference, start, bottom, wide))
    text = text or extremes(list(map(str, labels)), values, form)
    return finish(owner, title, text, table, bottom + 24, parts, paper=wide)


def _sheet(
    labels: Sequence[str], said: Sequence[str], ends: Sequence[float], paper: float
) -> tuple[float, Scale]:
    """Return where the labels end, and the axis between them and the numbers."""
    left = min(max((width(str(word), TEXT) for word in labels), default=0.0), _MOST * paper)
    right = max((width(word, TEXT) for word in said), default=0.0) + 12
    return left, scale(ends, left + 12, paper - right, zero=True, most=6)


def _name(row: object, left: float, y: float) -> str:
    return label(left, y + 4, row, room=left + 0.5, anchor="end")


def _bar(
    axis: Scale, value: float, y: float, thick: float, cls: str, hint: str, fill: str = ""
) -> str:
    zero, end = axis(0.0), axis(value)
    wide = abs(end - zero)
    if value != 0:
        wide = max(wide, 1.0)  # little is not nothing
    return tag(
        "rect",
        tag("title", escape(hint)),
        x=min(zero, end),
        y=y,
        width=wide,
        height=thick,
        cls=cls,
        fill=fill,
    )


def _number(axis: Scale, value: float, y: float, said: str) -> str:
    return label(max(axis(value), axis(0.0)) + 6, y + 4, said, cls="halo")


def _reference(
    axis: Scale, reference: Reference | None, top: float, bottom: float, paper: float
) -> str:
    if reference is None:
        return ""
    x = axis(reference[0])
    half = width(reference[1], TICK) / 2
    at = min(max(x, half), paper - half)
    return tag("line", x1=x, y1=top - 4, x2=x, y2=bottom, cls="mark") + label(
        at, top - 8, reference[1], cls="mark-label", anchor="middle"
    )


def _compared(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    names: tuple[str, str],
    form: str,
) -> str:
    if not labels:
        return "There is nothing to show."
    far = max(range(len(labels)), key=lambda i: (abs(after[i] - before[i]), -i))
    return (
        f"The largest change is at {labels[far]}: {names[0]} {say(before[far], form)}, {names[1]} "
        f"{say(after[far], form)}."
    )
