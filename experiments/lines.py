"""Series as lines, for the papers' figures and the benchmarks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from shoal.show.charts.paper import (
    MARKERS,
    TOP,
    WIDTH,
    Chart,
    distinct_names,
    finish,
    horizontal_axis,
    identity,
    legend,
    margin,
    marker,
    points_of,
    same_length,
    tag,
    vertical_axis,
)
from shoal.show.charts.scales import Scale, scale
from shoal.show.charts.words import format_number

_HEIGHT = 260.0  # of the plane itself
# Told apart without any colour.
DASHES = ("", "7 4", "2 3", "10 3 2 3", "5 2", "1 4")


@dataclass(frozen=True)
class Line:
    """A series of points with an optional band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def lines(
    title: str,
    series: Sequence[Line],
    *,
    x: str,
    y: str,
    text: str = "",
    x_form: str = "plain",
    y_form: str = "plain",
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    wide: float = WIDTH,
) -> Chart:
    """Draw series as lines, told apart by colour, dash and marker.

    Parameters
    ----------
    title, series
        What to show.
    x, y
        Names of the axes.
    x_form, y_form
        How their numbers are said.
    log_x, log_y
        Logarithmic axes; every number must then be above 0.
    zero
        Start the upright axis at 0.
    """
    for line in series:
        same_length(x=line.x, y=line.y, low=line.low, high=line.high)
    owner = identity("lines", wide, title, series, x, y, x_form, y_form, log_x, log_y, zero)
    table = _lines_table(series, x, y)
    heights = [v for line in series for v in (*line.y, *(line.low or ()), *(line.high or ()))]
    signs = [(_line_sign(i), line.name) for i, line in enumerate(series)]
    key, tall = legend(signs, TOP + 6, wide)
    top = TOP + tall + 24
    bottom = top + _HEIGHT
    rise = scale(heights, bottom, top, log=log_y, zero=zero and not log_y, name=y)
    left = margin(rise, y_form)
    places = [v for line in series for v in line.x]
    run = scale(places, left, wide - 14, log=log_x, most=8, name=x)
    parts = [
        key,
        vertical_axis(rise, left, wide - 14, y_form, y),
        horizontal_axis(run, top, bottom, x_form, x, paper=wide),
    ]
    for i, line in enumerate(series):
        parts.append(_line(i, line, run, rise, x_form, y_form))
    text = text or _trends(series, x, y, y_form)
    return finish(owner, title, text, table, bottom + (40 if x else 24), parts, paper=wide)


def _line(i: int, line: Line, run: Scale, rise: Scale, x_form: str, y_form: str) -> str:
    cls = f"s{i % 6 + 1}"
    order = sorted(
        (j for j in range(len(line.x)) if math.isfinite(line.x[j]) and math.isfinite(line.y[j])),
        key=lambda j: line.x[j],
    )
    at = [(run(line.x[j]), rise(line.y[j])) for j in order]
    parts = []
    if line.low is not None and line.high is not None and order:
        under = [(run(line.x[j]), rise(line.low[j])) for j in order]
        over = [(run(line.x[j]), rise(line.high[j])) for j in reversed(order)]
        parts.append(tag("polygon", points=points_of(under + over), cls=f"band {cls}"))
    parts.append(
        tag("polyline", points=points_of(at), cls=f"line {cls}", stroke_dasharray=DASHES[i % 6])
    )
    for j, (px, py) in zip(order, at, strict=True):
        hint = (
            f"{line.name}: {format_number(line.x[j], x_form)}, {format_number(line.y[j], y_form)}"
        )
        parts.append(marker(MARKERS[i % 6], px, py, cls, 4, hint))
    return tag("g", *parts)


def _line_sign(i: int) -> str:
    cls = f"s{i % 6 + 1}"
    stroke = tag("polyline", points="-11,0 11,0", cls=f"line {cls}", stroke_dasharray=DASHES[i % 6])
    return stroke + marker(MARKERS[i % 6], 0, 0, cls, 4)


def _lines_table(series: Sequence[Line], x: str, y: str) -> pl.DataFrame:
    names = distinct_names("series", x, y, "low", "high")
    columns: list[list[object]] = [[], [], [], [], []]
    for line in series:
        blank = [None] * len(line.x)
        columns[0] += [line.name] * len(line.x)
        columns[1] += map(float, line.x)
        columns[2] += map(float, line.y)
        columns[3] += blank if line.low is None else list(map(float, line.low))
        columns[4] += blank if line.high is None else list(map(float, line.high))
    types = [pl.String, *[pl.Float64] * 4]
    frame = pl.DataFrame(
        dict(zip(names, columns, strict=True)), dict(zip(names, types, strict=True))
    )
    return frame if any(line.low is not None for line in series) else frame[:, :3]


def _trends(series: Sequence[Line], x: str, y: str, form: str) -> str:
    told = []
    for line in series[:6]:
        pairs = sorted((a, b) for a, b in zip(line.x, line.y, strict=True) if math.isfinite(b))
        if pairs:
            told.append(
                f"{line.name} from {format_number(pairs[0][1], form)} to "
                f"{format_number(pairs[-1][1], form)}"
            )
    return f"{y} by {x}: {'; '.join(told) or 'nothing to show'}."
