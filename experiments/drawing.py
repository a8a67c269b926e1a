"""The figures of a reproduced paper as charts, and everything a page tells, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.claims import Dot
from experiments.judging import VERDICTS, class_of
from experiments.lines import Line, lines
from experiments.plans import NAMES, Figure
from experiments.questions import number
from experiments.running import Reproduction
from shoal import __version__
from shoal.show.charts.paper import Chart
from shoal.show.charts.rows import bars


def telling(found: Reproduction, charts: Mapping[str, Sequence[Chart]]) -> dict[str, Any]:
    """Return what a page tells about a paper."""
    study = found.study
    rows = ", ".join(f"{name} {count:,} rows" for name, count in found.rows.items())
    trees = "the folder beside the table" if found.sources.hierarchies else "the built-in ones"
    verdicts = [class_of(verdict.verdict) for verdict in found.verdicts]
    return {
        "kicker": "A paper, reproduced",
        "heading": study.title,
        "version": __version__,
        "glossary": (),
        "citation": study.citation,
        "about": study.about,
        "quick": study.quick,
        "data": f"Data: {rows or 'none'}. Hierarchies of Adult: {trees}.{_stale(found)}",
        "counts": [
            (word.replace("holds at", "holds in part"), verdicts.count(word))
            for word in VERDICTS
            if word in verdicts
        ],
        "verdicts": [verdict.to_dict() for verdict in found.verdicts],
        "figures": [
            {
                "id": figure.id,
                "title": figure.title,
                "note": figure.note,
                "charts": charts.get(figure.id, ()),
                "lost": list(_unmeasured(found, figure)),
            }
            for figure in study.figures
        ],
        "checked": _checked(found),
        "runs": list(_runs(found)),
    }


def charts_of(found: Reproduction, figure: Figure) -> Iterator[tuple[str, Chart]]:
    """Draw a figure, a chart for each panel."""
    panels: tuple[Any, ...] = (None,) if figure.pool or not figure.panels else figure.panels
    for panel in panels:
        dots = [dot for dot in found.dots if dot.figure == figure.id and dot.panel == panel]
        name = figure.id if panel is None else f"{figure.id}-{panel}"
        title = figure.title
        if panel is not None:
            title += f", {NAMES[figure.panel]} = {panel}"
        chart = _chart(found, figure, title, dots)
        if chart is not None:
            yield f"{name}.svg", chart
    if figure.x == "by":
        yield from _distributions(found, figure)


def _distributions(found: Reproduction, figure: Figure) -> Iterator[tuple[str, Chart]]:
    """Draw the shares of a worked example's values, by category: the truth and every method's."""
    by, of = figure.fixed["category"], figure.fixed["sensitive"]
    names = (str(figure.xs[0]), str(figure.xs[1]))
    labels = sorted({row[of] for row in found.counts})
    for series in ("original", *figure.series):
        method = series if series == "original" else found.study.label(series)
        key = "true" if series == "original" else "estimate"
        counts = {
            (row[by], row[of]): row[key]
            for row in found.counts
            if series == "original" or row["method"] == method
        }
        shares = []
        for side in names:
            whole = sum(counts.get((side, label), 0.0) for label in labels) or 1.0
            shares.append([counts.get((side, label), 0.0) / whole for label in labels])
        title = f"{of} by {by}: {method}"
        chart = bars(title, labels, shares[1], before=shares[0], names=names, form="share", top=0.7)
        yield f"{figure.id}-{series}.svg", chart


def _chart(found: Reproduction, figure: Figure, title: str, dots: Sequence[Dot]) -> Chart | None:
    known = [dot for dot in dots if dot.mean is not None]
    if not known:
        return None
    if figure.x == "by":
        labels = [f"{found.study.label(dot.series)}, {dot.x}" for dot in known]
        return bars(title, labels, [dot.mean or 0.0 for dot in known], name=NAMES[figure.y])
    log = figure.log and all((dot.mean or 0) > 0 for dot in known)
    drawn = []
    for series in figure.series:
        mine = [dot for dot in known if dot.series == series]
        if mine:
            wide = not log and any(dot.repeats > 1 for dot in mine) and not figure.pool
            drawn.append(
                Line(
                    found.study.label(series),
                    [float(dot.x) for dot in mine],
                    [dot.mean or 0.0 for dot in mine],
                    [dot.low or 0.0 for dot in mine] if wide else None,
                    [dot.high or 0.0 for dot in mine] if wide else None,
                )
            )
    y = NAMES[figure.y] + (", logarithmic" if log else "")
    return lines(title, drawn, x=NAMES[figure.x], y=y, log_y=log, zero=not log)


def _unmeasured(found: Reproduction, figure: Figure) -> Iterator[str]:
    reasons: dict[tuple[str, str], int] = {}
    for dot in found.dots:
        if dot.figure == figure.id and dot.mean is None:
            key = (found.study.label(dot.series), dot.reason)
            reasons[key] = reasons.get(key, 0) + 1
    for (name, reason), count in reasons.items():
        yield f"Not measured: {name} at {count} points ({reason})."


def _stale(found: Reproduction) -> str:
    """Name the figures that other code than the present measured."""
    old = [
        figure.title
        for figure in found.study.figures
        if found.code[figure.id] != found.present[figure.id]
    ]
    if not old:
        return " Every figure was measured by the present code."
    return f" Measured by earlier code: {'; '.join(old)}."


def _checked(found: Reproduction) -> str:
    many = len(found.confirmations)
    if not many:
        return "Every release behind these figures was made and verified by a whole run."
    good = sum(each.agrees for each in found.confirmations)
    return (
        f"The points are measured on the groups alone. {many} of them were made again as whole "
        f"runs, published and verified from the published cells: {good} of {many} were verified "
        "and lost exactly what the figure says."
    )


def _runs(found: Reproduction) -> Iterator[dict[str, Any]]:
    for each in found.confirmations:
        point = each.point
        parts = {"k": ("k",), "l": ("l",)}.get(point["rule"], ("alpha", "k"))
        yield {
            "method": point["method"],
            "rule": ", ".join(f"{key} = {point[key]}" for key in parts),
            "columns": len(point["quasi"]),
            "loss": number(each.loss),
            "again": number(each.again),
            "verified": "yes" if each.verified else "no",
        }
