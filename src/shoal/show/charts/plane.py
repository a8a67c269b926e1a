"""Scatter charts with a frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from shoal.base.errors import ParameterError
from shoal.show.charts.paper import (
    MARKERS,
    TEXT,
    TOP,
    WIDTH,
    Chart,
    distinct_names,
    finish,
    horizontal_axis,
    identity,
    label,
    legend,
    margin,
    marker,
    points_of,
    tag,
    vertical_axis,
)
from shoal.show.charts.scales import scale
from shoal.show.charts.words import fit, format_number, width

_HEIGHT = 260.0  # of the plane itself


@dataclass(frozen=True)
class Point:
    """One point of a scatter chart.

    ``group`` chooses its colour and shape, ``strong`` rings it, ``href`` makes it a link.
    """

    x: float
    y: float
    label: str
    group: str = ""
    strong: bool = False
    href: str | None = None


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    x_form: str = "plain",
    y_form: str = "plain",
    log_x: bool = False,
) -> Chart:
    """Draw labelled points and join those that no other one beats, less being better on both axes.

    Labels that would touch another are left to the tooltip and the table.
    """
    owner = identity("scatter", title, points, x, y, x_form, y_form, log_x)
    names = distinct_names("label", "group", x, y, "on the frontier")
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
    table = table if any(p.group for p in points) else table.drop(names[1])
    groups = list(dict.fromkeys(p.group for p in points))
    signs = [(marker(MARKERS[i % 6], 0, 0, f"s{i % 6 + 1}"), g) for i, g in enumerate(groups) if g]
    signs.append((tag("line", x1=-10, y1=0, x2=10, y2=0, cls="frontier"), "frontier"))
    if any(p.strong for p in points):
        signs.append((tag("circle", cx=0, cy=0, r=7, cls="ring"), "recommended"))
    key, tall = legend(signs, TOP + 6, WIDTH)
    top = TOP + tall + 24
    bottom = top + _HEIGHT + 30
    rise = scale([p.y for p in points], bottom, top, name=y)
    left = margin(rise, y_form)
    run = scale([p.x for p in points], left, WIDTH - 14, log=log_x, most=8, name=x)
    parts = [
        key,
        vertical_axis(rise, left, WIDTH - 14, y_form, y),
        horizontal_axis(run, top, bottom, x_form, x, paper=WIDTH),
    ]
    if len(best) > 1:
        line = sorted((points[i].x, points[i].y) for i in best)
        parts.append(
            tag("polyline", points=points_of([(run(a), rise(b)) for a, b in line]), cls="frontier")
        )
    at = [(run(p.x), rise(p.y)) for p in points]
    for point, spot in zip(points, at, strict=True):
        look = groups.index(point.group) % 6
        parts.append(
            _dot(
                point,
                spot,
                look,
                f"{format_number(point.x, x_form)}, {format_number(point.y, y_form)}",
            )
        )
    parts += _names(points, at, (left, WIDTH, top - 6, bottom - 2), first=best)
    text = _frontier_text(points, best, x, y)
    return finish(owner, title, text, table, bottom + 40, parts)


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
    if point.href is None:
        return drawn
    if not point.href.startswith(("#", "/", "./", "http://", "https://")):
        raise ParameterError(
            f"The link {point.href!r} of a point cannot be used. Allowed are #place, /path, "
            "./path, http:// and https://."
        )
    return tag("a", drawn, href=point.href, aria_label=hint)


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
            apart = (
                box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
                for j, other in enumerate(taken)
                if j != i
            )
            if inside and all(apart):
                taken.append(box)
                written.append(label(x + dx, y + dy, points[i].label, room=190.5, cls="halo"))
                break
    return written


def _frontier_text(points: Sequence[Point], best: set[int], x: str, y: str) -> str:
    named = [points[i].label for i in sorted(best, key=lambda i: points[i].x)]
    chosen = [p.label for p in points if p.strong]
    told = f" Recommended: {', '.join(chosen)}." if chosen else ""
    return (
        f"{len(points)} points, {x} against {y}; not beaten by any other: "
        f"{', '.join(named) or 'none'}.{told}"
    )
