"""The class Chart, and SVG tags, axes and legends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.atomic import atomic_file
from shoal.base.errors import OutputError, ParameterError
from shoal.show.charts.scales import Scale
from shoal.show.charts.style import CSS, FIGURE_CSS
from shoal.show.charts.words import escape, fit, format_number, width

WIDTH = 720.0
TEXT, TICK, HEAD = 12.5, 11.5, 15.0
TOP = 34.0  # below the title

# Told apart without any colour.
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "plus")


@dataclass(frozen=True, eq=False)
class Chart:
    """A picture with its words and numbers.

    Parameters
    ----------
    title
        What it shows.
    svg
        The picture, a piece of SVG that takes its colours from :data:`shoal.show.charts.style.CSS`.
    text
        The same in a sentence, for who cannot see it.
    table
        The numbers in it.
    """

    title: str
    svg: str = field(repr=False)
    text: str
    table: pl.DataFrame = field(repr=False)

    @property
    def id(self) -> str:
        """The name by which the picture's parts are called, made from what it shows."""
        return self.svg.split('id="', 1)[1].split('"', 1)[0]

    def html(self, key: str = "") -> str:
        """Return picture, sentence and numbers as HTML, without the style.

        ``key`` keeps apart two charts of one page that show the very same.
        """
        svg = self.svg.replace(self.id, f"{self.id}-{escape(key)}") if key else self.svg
        return (
            f'<figure class="shoal-figure">{svg}<figcaption>{escape(self.text)}</figcaption>'
            '<details><summary>The numbers</summary><div class="numbers" tabindex="0">'
            f"{_table(self.table)}</div></details></figure>"
        )

    def __html__(self) -> str:
        """Return :meth:`html`, for templates."""
        return self.html()

    def _repr_html_(self) -> str:
        """Show the chart in a notebook."""
        return f"<style>{CSS}{FIGURE_CSS}</style>{self.html()}"

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a file: the picture (``.svg``), or with its words and numbers (``.html``)."""
        form = check_picture(path)
        with atomic_file(Path(path), force=force) as stream:
            stream.write((self._page() if form == "html" else self._drawing()).encode())

    def _drawing(self) -> str:
        start, rest = self.svg.split(">", 1)
        start = start.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{start}><style>{CSS}</style>{rest}\n'

    def _page(self) -> str:
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title><style>{CSS}{FIGURE_CSS}</style></head>"
            f"<body>{self.html()}</body></html>\n"
        )


def check_picture(path: Path | str) -> str:
    """Return the form that a file's name asks for, or say which there are."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in ("svg", "html"):
        named = f"A chart is saved as SVG or HTML, and {str(path)!r} does not end in .svg or .html."
        if form in ("png", "pdf"):
            raise OutputError(
                f"{named} For {form.upper()}, write FILE.html, open it in a browser and print it "
                "to a file."
            )
        raise OutputError(f"{named} Give it one of the two endings.")
    return form


def _table(frame: pl.DataFrame) -> str:
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    kinds = [' class="num"' if is_number else "" for is_number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(frame.columns, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}><bdi>{escape(_cell(cell))}</bdi></td>"
            for cell, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in frame.iter_rows()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def tag(name: str, *inside: str, **attributes: Any) -> str:
    """Write a tag; ``cls`` is the class, ``_`` in a name means ``-``; ``inside`` is SVG already."""
    said = "".join(
        f' {"class" if key == "cls" else key.replace("_", "-")}="'
        f'{number(value) if isinstance(value, (int, float)) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{name}{said}>{''.join(inside)}</{name}>" if inside else f"<{name}{said}/>"


def number(value: float) -> str:
    """Write a place on the paper, always in the same way."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def label(
    x: float,
    y: float,
    text: object,
    *,
    room: float | None = None,
    size: float = TEXT,
    cls: str = "",
    anchor: str = "",
) -> str:
    """Write a text, cut to ``room``; the whole of it is then told as a tooltip."""
    shown = str(text) if room is None else fit(text, room, size)
    hint = tag("title", escape(text)) if room is not None and shown.endswith("…") else ""
    return tag("text", hint + escape(shown), x=x, y=y, cls=cls, text_anchor=anchor)


def marker(shape: str, x: float, y: float, cls: str, size: float = 4.5, hint: str = "") -> str:
    """Draw one point."""
    inside = [tag("title", escape(hint))] if hint else []
    if shape == "circle":
        return tag("circle", *inside, cx=x, cy=y, r=size, cls=cls)
    near = 0.9 * size
    if shape in ("cross", "plus"):
        if shape == "cross":
            arms = (
                (x - near, y - near, x + near, y + near),
                (x - near, y + near, x + near, y - near),
            )
        else:
            arms = ((x - size, y, x + size, y), (x, y - size, x, y + size))
        path = "".join(f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for a, b, c, d in arms)
        return tag("path", *inside, d=path, cls=cls, stroke_width=2.25)
    corners = {
        "square": ((-near, -near), (near, -near), (near, near), (-near, near)),
        "triangle": ((0, -1.2 * size), (1.1 * size, 0.8 * size), (-1.1 * size, 0.8 * size)),
        "diamond": ((0, -1.25 * size), (1.25 * size, 0), (0, 1.25 * size), (-1.25 * size, 0)),
    }[shape]
    points = points_of([(x + dx, y + dy) for dx, dy in corners])
    return tag("polygon", *inside, points=points, cls=cls)


def legend(entries: Sequence[tuple[str, str]], y: float, paper: float) -> tuple[str, float]:
    """Write signs with their names in as many lines as it takes; return it and its height.

    An entry is a drawing around the origin (20 wide), and its name.
    """
    x, row, parts = 0.0, 0, []
    for sign, name in entries:
        shown = fit(name, 200, TICK)
        wide = 26 + width(shown, TICK) + 14
        if x + wide > paper and x > 0:
            x, row = 0.0, row + 1
        at = y + 18 * row
        parts.append(tag("g", sign, transform=f"translate({number(x + 10)} {number(at)})"))
        parts.append(label(x + 26, at + 4, name, room=200, size=TICK, cls="small"))
        x += wide
    return "".join(parts), 18.0 * (row + 1) if entries else 0.0


def hatch(owner: str) -> str:
    """Return the pattern that fills what was before."""
    ground = tag("rect", width=6, height=6, cls="hatch-ground")
    line = tag("line", x1=0, y1=0, x2=0, y2=6, cls="hatch-line")
    return tag(
        "pattern",
        ground,
        line,
        id=f"{owner}-hatch",
        width=6,
        height=6,
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    )


def hatched_sign(owner: str) -> str:
    """Return the sign of what was before, for a legend."""
    fill = f"url(#{owner}-hatch)"
    return tag("rect", x=-9, y=-6, width=18, height=11, cls="before", fill=fill)


def horizontal_axis(
    scale: Scale, top: float, bottom: float, form: str, name: str = "", *, paper: float
) -> str:
    """Draw a horizontal axis with its grid; ticks that would touch are left out."""
    parts = [_grid(scale(value), top, scale(value), bottom) for value in scale.ticks]
    parts.append(tag("line", x1=scale.start, y1=bottom, x2=scale.end, y2=bottom, cls="axis"))
    free = -1e9
    for value in scale.ticks:
        said = scale.label(value, form)
        half = width(said, TICK) / 2
        at = min(max(scale(value), half), paper - half)
        if at - half > free:
            parts.append(label(at, bottom + 16, said, cls="tick", anchor="middle"))
            free = at + half + 6
    if name:
        room = scale.end
        parts.append(
            label(scale.end, bottom + 33, name, room=room, size=TICK, cls="small", anchor="end")
        )
    return "".join(parts)


def vertical_axis(scale: Scale, left: float, right: float, form: str, name: str = "") -> str:
    """Draw a vertical axis with its grid; its name stands above it, to be read without turning."""
    parts = [_grid(left, scale(value), right, scale(value)) for value in scale.ticks]
    parts.extend(
        label(left - 7, scale(value) + 4, scale.label(value, form), cls="tick", anchor="end")
        for value in scale.ticks
    )
    if name:
        parts.append(label(0, scale.end - 12, name, room=right, size=TICK, cls="small"))
    return "".join(parts)


def margin(scale: Scale, form: str) -> float:
    """Return the room that the ticks of a vertical axis need."""
    return max((width(scale.label(value, form), TICK) for value in scale.ticks), default=0) + 14


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, cls="grid")


def identity(kind: str, *parts: object) -> str:
    """Return a name for a chart that is the same whenever it shows the same."""
    told = "\x00".join(map(str, (kind, *parts)))
    return f"shoal-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:12]}"


def finish(
    owner: str,
    title: str,
    text: str,
    table: pl.DataFrame,
    height: float,
    parts: Iterable[str],
    *,
    hatched: bool = False,
    paper: float = WIDTH,
) -> Chart:
    """Put a chart together: title, alternative text, picture.

    A picture is one thing to a screen reader; one that holds links is a group of them.
    """
    parts = list(parts)
    spoken = tag("title", escape(title), id=f"{owner}-title")
    told = tag("desc", escape(text), id=f"{owner}-desc")
    defs = tag("defs", hatch(owner)) if hatched else ""
    head = label(0, 18, title, room=paper, size=HEAD * 1.06, cls="head")
    svg = tag(
        "svg",
        spoken + told + defs + head + "".join(parts),
        id=owner,
        cls="shoal-chart",
        role="group" if any(part.startswith("<a ") for part in parts) else "img",
        aria_labelledby=f"{owner}-title {owner}-desc",
        viewBox=f"0 0 {number(paper)} {number(height)}",
        width=number(paper * 1.06),  # no style attribute: a strict page would refuse it
    )
    return Chart(title, svg, text, table)


def same_length(**columns: Sequence[Any] | None) -> int:
    """Return the common length of what a chart is given, or say what does not fit."""
    lengths = {name: len(values) for name, values in columns.items() if values is not None}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ParameterError(
            f"A chart needs as many numbers as labels. Got {told}: give each the same number."
        )
    return next(iter(lengths.values()), 0)


def extremes(labels: Sequence[str], values: Sequence[float], form: str) -> str:
    """Say which of some values is the highest and which the lowest."""
    if not labels:
        return "There is nothing to show."
    places = range(len(labels))
    top, low = max(places, key=lambda i: (values[i], -i)), min(places, key=lambda i: (values[i], i))
    if values[top] == values[low]:
        who = labels[0] if len(labels) == 1 else f"Each of {len(labels)}"
        return f"{who}: {format_number(values[top], form)}."
    return (
        f"The highest is {labels[top]} ({format_number(values[top], form)}), the lowest "
        f"{labels[low]} "
        f"({format_number(values[low], form)}), of {len(labels)}."
    )


def changed(
    labels: Sequence[str],
    values: Sequence[float],
    before: Sequence[float] | None,
    names: tuple[str, str],
    form: str,
    what: str,
) -> str:
    """Say where the largest change (``what``) is; without a before, the extremes."""
    if before is None or not labels:
        return extremes(labels, values, form)
    far = max(range(len(labels)), key=lambda i: (abs(values[i] - before[i]), -i))
    return (
        f"The largest {what} is at {labels[far]}: {names[0]} "
        f"{format_number(before[far], form)}, {names[1]} "
        f"{format_number(values[far], form)}."
    )


def table_of(
    of: str, labels: Sequence[str], numbers: Mapping[str, Sequence[float | None]]
) -> pl.DataFrame:
    """Return the numbers of a chart beside their labels, under names that differ."""
    columns = {of: pl.Series(list(map(str, labels)), dtype=pl.String)}
    for name, values in numbers.items():
        columns[name if name != of else f"{name} "] = pl.Series(list(values), dtype=pl.Float64)
    return pl.DataFrame(columns)


def distinct_names(*names: str) -> list[str]:
    """Return column names that differ, whatever the axes are called."""
    names_so_far: list[str] = []
    for name in names:
        while name in names_so_far:
            name += " "  # noqa: PLW2901
        names_so_far.append(name)
    return names_so_far


def points_of(places: Sequence[tuple[float, float]]) -> str:
    """Write places on the paper as a polyline takes them."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)
