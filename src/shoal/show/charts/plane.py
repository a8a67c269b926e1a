"""Charts with two axes: histograms, lines, points with a frontier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from shoal.base.errors import ParameterError
from shoal.show.charts.paper import (
    DASHES,
    MARKERS,
    TEXT,
    TICK,
    TOP,
    WIDTH,
    Chart,
    across,
    data_attributes,
    finish,
    identity,
    label,
    legend,
    margin,
    marker,
    number,
    same_length,
    tag,
    upright,
)
from shoal.show.charts.scales import Scale, scale
from shoal.show.charts.words import fit, say, width

_HEIGHT = 260.0  # of the plane itself


@dataclass(frozen=True)
class Line:
    """A series of points with an optional band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Point:
    """One point of a scatter chart.

    ``group`` chooses its colour and shape, ``strong`` rings it, ``href`` makes it a link, and
    ``data`` becomes ``data-`` attributes for pages that answer to a click.
    """

    x: float
    y: float
    label: str
    group: str = ""
    strong: bool = False
    href: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


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
    reference: tuple[float, str] | None = None,
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
    reference
        A height to compare with, and its name.
    """
    for line in series:
        same_length(x=line.x, y=line.y, low=line.low, high=line.high)
    owner = identity(
        "lines", wide, title, series, x, y, x_form, y_form, log_x, log_y, zero, reference
    )
    table = _lines_table(series, x, y)
    heights = [v for line in series for v in (*line.y, *(line.low or ()), *(line.high or ()))]
    heights += [reference[0]] if reference else []
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
        upright(rise, left, wide - 14, y_form, y),
        across(run, top, bottom, x_form, x, paper=wide),
    ]
    for i, line in enumerate(series):
        parts.append(_line(i, line, run, rise, x_form, y_form))
    if reference:
        parts.append(_level(run, rise, reference))
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
        parts.append(tag("polygon", points=_points(under + over), cls=f"band {cls}"))
    parts.append(
        tag("polyline", points=_points(at), cls=f"line {cls}", stroke_dasharray=DASHES[i % 6])
    )
    for j, (px, py) in zip(order, at, strict=True):
        hint = f"{line.name}: {say(line.x[j], x_form)}, {say(line.y[j], y_form)}"
        parts.append(marker(MARKERS[i % 6], px, py, cls, 4, hint))
    return tag("g", *parts)


def _line_sign(i: int) -> str:
    cls = f"s{i % 6 + 1}"
    stroke = tag("polyline", points="-11,0 11,0", cls=f"line {cls}", stroke_dasharray=DASHES[i % 6])
    return stroke + marker(MARKERS[i % 6], 0, 0, cls, 4)


def _lines_table(series: Sequence[Line], x: str, y: str) -> pl.DataFrame:
    names = _distinct("series", x, y, "low", "high")
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


def _distinct(*names: str) -> list[str]:
    """Return column names that differ, whatever the axes are called."""
    names_so_far: list[str] = []
    for name in names:
        while name in names_so_far:
            name += " "  # noqa: PLW2901
        names_so_far.append(name)
    return names_so_far


def _trends(series: Sequence[Line], x: str, y: str, form: str) -> str:
    told = []
    for line in series[:6]:
        pairs = sorted((a, b) for a, b in zip(line.x, line.y, strict=True) if math.isfinite(b))
        if pairs:
            told.append(f"{line.name} from {say(pairs[0][1], form)} to {say(pairs[-1][1], form)}")
    return f"{y} by {x}: {'; '.join(told) or 'nothing to show'}."


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    text: str = "",
    x_form: str = "plain",
    y_form: str = "plain",
    log_x: bool = False,
    log_y: bool = False,
    frontier: bool = False,
    wide: float = WIDTH,
) -> Chart:
    """Draw labelled points; labels that would touch another are left to the tooltip and table.

    ``frontier``: join the points that no other one beats, where less is better on both axes.
    """
    owner = identity("scatter", wide, title, points, x, y, x_form, y_form, log_x, log_y, frontier)
    names = _distinct("label", "group", x, y, "on the frontier")
    best = best_of(points)
    table = pl.DataFrame(
        {
            names[0]: [p.label for p in points],
            names[1]: [p.group for p in points],
            names[2]: [float(p.x) for p in points],
            names[3]: [float(p.y) for p in points],
            names[4]: ["yes" if i in best else "" for i in range(len(points))],
        },
        dict(zip(names, [pl.String] * 2 + [pl.Float64] * 2 + [pl.String], strict=True)),
    )
    table = table.drop(names[4]) if not frontier else table
    table = table if any(p.group for p in points) else table.drop(names[1])
    groups = list(dict.fromkeys(p.group for p in points))
    signs = [(marker(MARKERS[i % 6], 0, 0, f"s{i % 6 + 1}"), g) for i, g in enumerate(groups) if g]
    if frontier:
        signs.append((tag("line", x1=-10, y1=0, x2=10, y2=0, cls="frontier"), "frontier"))
    if any(p.strong for p in points):
        signs.append((tag("circle", cx=0, cy=0, r=7, cls="ring"), "recommended"))
    key, tall = legend(signs, TOP + 6, wide)
    top = TOP + tall + 24
    bottom = top + _HEIGHT + 30
    rise = scale([p.y for p in points], bottom, top, log=log_y, name=y)
    left = margin(rise, y_form)
    run = scale([p.x for p in points], left, wide - 14, log=log_x, most=8, name=x)
    parts = [
        key,
        upright(rise, left, wide - 14, y_form, y),
        across(run, top, bottom, x_form, x, paper=wide),
    ]
    if frontier and len(best) > 1:
        line = sorted((points[i].x, points[i].y) for i in best)
        parts.append(
            tag("polyline", points=_points([(run(a), rise(b)) for a, b in line]), cls="frontier")
        )
    at = [(run(p.x), rise(p.y)) for p in points]
    for point, spot in zip(points, at, strict=True):
        look = groups.index(point.group) % 6
        parts.append(_dot(point, spot, look, f"{say(point.x, x_form)}, {say(point.y, y_form)}"))
    parts += _names(points, at, (left, wide, top - 6, bottom - 2), first=best)
    return finish(
        owner, title, text or _frontier_text(points, best, x, y), table, bottom + 40, parts
    )


def best_of(points: Sequence[Point]) -> set[int]:
    """Return the points that no other one beats, less being better on both axes."""
    order = sorted(range(len(points)), key=lambda i: (points[i].x, points[i].y, i))
    best, lowest = set(), math.inf
    for i in order:
        if points[i].y < lowest:
            best.add(i)
            lowest = points[i].y
    return best


def _dot(point: Point, at: tuple[float, float], look: int, told: str) -> str:
    hint = f"{point.label}{f' ({point.group})' if point.group else ''}: {told}"
    drawn = marker(MARKERS[look], *at, f"s{look + 1}", 5, hint)
    if point.strong:
        drawn += tag("circle", cx=at[0], cy=at[1], r=10, cls="ring")
    attributes = data_attributes(point.data)
    if point.href is not None:
        if not point.href.startswith(("#", "/", "./", "http://", "https://")):
            raise ParameterError(
                f"The link {point.href!r} of a point cannot be used. Allowed are #place, /path, "
                "./path, http:// and https://."
            )
        return tag("a", drawn, href=point.href, aria_label=hint, **attributes)
    return tag("g", drawn, **attributes) if attributes else drawn


def _names(
    points: Sequence[Point],
    at: Sequence[tuple[float, float]],
    room: tuple[float, float, float, float],
    first: set[int],
) -> list[str]:
    """Write labels beside their points where they touch nothing: the important ones first."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in at]
    left, right, top, bottom = room
    written = []
    order = sorted(range(len(points)), key=lambda i: (not points[i].strong, i not in first, i))
    for i in order:
        shown = fit(points[i].label, 190, TEXT)
        wide, (x, y) = width(shown, TEXT), at[i]
        gap = 13.0 if points[i].strong else 9.0
        for dx, dy in ((gap, 4), (-gap - wide, 4), (-wide / 2, -gap - 1), (-wide / 2, gap + 10)):
            box = (x + dx - 1, y + dy - 10, x + dx + wide + 1, y + dy + 3)
            inside = box[0] >= left and box[2] <= right and box[1] >= top and box[3] <= bottom
            if inside and not any(_touch(box, t) for j, t in enumerate(taken) if j != i):
                taken.append(box)
                written.append(label(x + dx, y + dy, points[i].label, room=190.5, cls="halo"))
                break
    return written


def _touch(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _frontier_text(points: Sequence[Point], best: set[int], x: str, y: str) -> str:
    named = [points[i].label for i in sorted(best, key=lambda i: points[i].x)]
    chosen = [p.label for p in points if p.strong]
    told = f" Recommended: {', '.join(chosen)}." if chosen else ""
    return (
        f"{len(points)} points, {x} against {y}; not beaten by any other: "
        f"{', '.join(named) or 'none'}.{told}"
    )


def _level(run: Scale, rise: Scale, reference: tuple[float, str]) -> str:
    at = rise(reference[0])
    said = label(run.end, at - 5, reference[1], room=250, size=TICK, cls="mark-label", anchor="end")
    return tag("line", x1=run.start, y1=at, x2=run.end, y2=at, cls="mark") + said


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)
