"""Bar charts and interval charts with one line per label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.show.charts.paper import (
    TEXT,
    TOP,
    WIDTH,
    Chart,
    changed,
    extremes,
    finish,
    hatched_sign,
    horizontal_axis,
    identity,
    label,
    legend,
    marker,
    same_length,
    table_of,
    tag,
)
from shoal.show.charts.scales import Scale, scale
from shoal.show.charts.words import escape, format_number, width

_MOST = 0.34  # of the paper for the labels


def bars(
    title: str,
    labels: Sequence[str],
    values: Sequence[float],
    *,
    before: Sequence[float] | None = None,
    text: str = "",
    form: str = "plain",
    name: str = "value",
    of: str = "label",
    names: tuple[str, str] = ("before", "after"),
    top: float | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw a horizontal bar per label with its number at the end, above it the hatched one before.

    Parameters
    ----------
    title, labels, values, before
        What to show.
    text
        The alternative in words; the extremes, or the largest change, by default.
    form
        How numbers are said: ``count``, ``share``, ``plain`` or ``seconds``.
    name, of, names
        What the numbers and the labels are, and what before and after are called.
    top
        The end of the axis, when it should be further than the largest value.
    wide
        Width of the paper: letters keep their size, whatever it is.
    """
    same_length(labels=labels, values=values, before=before)
    owner = identity("bars", wide, title, labels, values, before, form, name, names, top)
    series = [("after", values)] if before is None else [("before", before), ("after", values)]
    heads = (name,) if before is None else names
    numbers = {head: own for head, (_, own) in zip(heads, series, strict=True)}
    said = [[format_number(value, form) for value in own] for own in numbers.values()]
    ends = [*(value for own in numbers.values() for value in own), *([] if top is None else [top])]
    left, axis = _sheet(labels, [word for own in said for word in own], ends, wide)
    step, thick = (25.0, 15.0) if before is None else (37.0, 13.0)
    fills = {"before": f"url(#{owner}-hatch)", "after": ""}
    signs = [
        (hatched_sign(owner), names[0]),
        (tag("rect", x=-9, y=-6, width=18, height=11, cls="after"), names[1]),
    ]
    key, tall = legend(signs if before is not None else [], TOP + 6, wide)
    start = TOP + tall + (4 if before is None else 6)
    bottom, shown = start + step * len(labels), name if name != "value" else ""
    parts = [key, horizontal_axis(axis, start - 2, bottom, form, shown, paper=wide)]
    high = len(series) * (thick + 1) - 1  # of the bars of a label together
    for i, row in enumerate(labels):
        y = start + step * i + (step - high) / 2
        parts.append(_name(row, left, y + high / 2))
        for which, (cls, own) in enumerate(series):
            at, told = y + which * (thick + 1), said[which][i]
            hint = f"{row}: {told}" if before is None else f"{row}, {names[which]}: {told}"
            parts.append(_bar(axis, own[i], at, thick, cls, hint, fills[cls]))
            end = max(axis(own[i]), axis(0.0))
            parts.append(label(end + 6, at + thick / 2 + 4, told, cls="halo"))
    text = text or changed(list(map(str, labels)), values, before, names, form, "change")
    table, tall = table_of(of, labels, numbers), bottom + (40 if shown else 24)
    hatched = before is not None
    return finish(owner, title, text, table, tall, parts, hatched=hatched, paper=wide)


def intervals(
    title: str,
    labels: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    form: str = "plain",
    name: str = "value",
    of: str = "label",
    others: Mapping[str, Sequence[float | None]] | None = None,
    top: float | None = None,
    wide: float = WIDTH,
) -> Chart:
    """Draw a point with its interval per label, and other points to compare it with.

    ``others``: up to two series of points, for instance a baseline and a control, None where there
    is none.
    """
    others = dict(others or {})
    same_length(labels=labels, values=values, low=low, high=high, **others)
    owner = identity("intervals", wide, title, labels, values, low, high, form, name, others)
    table = table_of(of, labels, {name: values, "low": low, "high": high, **others})
    said = [format_number(value, form) for value in values]
    compared = [v for series in others.values() for v in series if v is not None]
    ends = [*values, *low, *high, *compared, *([top] if top is not None else [])]
    left, axis = _sheet(labels, said, ends, wide)
    shapes = dict(zip(others, ("diamond", "square", "triangle"), strict=False))
    whisker = tag("line", x1=-10, y1=0, x2=10, y2=0, cls="whisker")
    signs = [(whisker + marker("circle", 0, 0, "after"), f"{name}, with interval")]
    signs += [(marker(shape, 0, 0, "hollow"), key) for key, shape in shapes.items()]
    key, tall = legend(signs, TOP + 6, wide)
    step, start = 30.0, TOP + tall + 6
    bottom = start + step * len(labels)
    parts = [key, horizontal_axis(axis, start - 2, bottom, form, paper=wide)]
    for i, row in enumerate(labels):
        y = start + step * (i + 0.5)
        parts.append(_name(row, left, y))
        a, b = axis(low[i]), axis(high[i])
        parts.append(tag("line", x1=a, y1=y, x2=b, y2=y, cls="whisker"))
        parts += [tag("line", x1=end, y1=y - 4, x2=end, y2=y + 4, cls="whisker") for end in (a, b)]
        for other, shape in shapes.items():
            if (value := others[other][i]) is not None:
                hint = f"{row}, {other}: {format_number(value, form)}"
                parts.append(marker(shape, axis(value), y, "hollow", hint=hint))
        hint = f"{row}: {said[i]} ({format_number(low[i], form)} to {format_number(high[i], form)})"
        parts.append(marker("circle", axis(values[i]), y, "after", 5, hint))
        parts.append(label(wide, y + 4, said[i], anchor="end"))
    text = extremes(list(map(str, labels)), values, form)
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


def _bar(axis: Scale, value: float, y: float, thick: float, cls: str, hint: str, fill: str) -> str:
    zero, end = axis(0.0), axis(value)
    wide = abs(end - zero)
    if value != 0:
        wide = max(wide, 1.0)  # little is not nothing
    spoken = tag("title", escape(hint))
    return tag("rect", spoken, x=min(zero, end), y=y, width=wide, height=thick, cls=cls, fill=fill)
