"""What a reader gets: a page per paper with figures and verdicts, the numbers, and a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.atomic import atomic_file
from shoal.charts import Chart, Line, bars, lines
from shoal.errors import InputError, OutputError
from shoal.experiments import PAPERS
from shoal.experiments.judging import VERDICTS, Dot, number
from shoal.experiments.plans import NAMES, Figure
from shoal.experiments.running import Reproduction

MARK = "verdicts.json"
"""The file by which a folder of ours is known."""


def check_folder(folder: Path, papers: Sequence[str]) -> None:
    """Say before long work why nothing may be written here."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"Cannot write to {folder}: it is a file. Give a folder with --out.")
    for name in papers:
        place = folder / name
        if place.exists() and not (place / MARK).is_file() and any(place.iterdir()):
            raise OutputError(
                f"The folder {place} exists and holds something that is not ours (it has no "
                f"{MARK}). Give another folder with --out."
            )


def write_paper(found: Reproduction, folder: Path) -> Path:
    """Write page, figures and numbers of a paper; what an earlier run wrote there is replaced."""
    place = folder / found.study.name
    place.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, list[tuple[str, Chart]]] = {}
    for figure in found.study.figures:
        pictures[figure.id] = list(_charts(found, figure))
    kept = set()
    for charts in pictures.values():
        for name, chart in charts:
            chart.save(place / name, force=True)
            kept.add(name)
    for name, table in _tables(found):
        _write(place / name, table.write_csv())
        kept.add(name)
    _write(place / MARK, json.dumps(_record(found), indent=1, ensure_ascii=False) + "\n")
    page = place / "index.md"
    _write(page, _page(found, pictures))
    for old in [*place.glob("*.svg"), *place.glob("*.csv")]:
        if old.name not in kept:
            old.unlink()
    return page


def write_summary(folder: Path) -> Path:
    """Write the table of all claims, of every paper whose verdicts lie in the folder."""
    lines_ = [
        "# The papers, reproduced",
        "",
        "Every claim of the four papers that our methods come from, asked of our own figures.",
        "Renew all of it with `shoal reproduce all --out experiments`; the plans and claims are in",
        "`src/shoal/experiments`. A verdict is computed, never written by hand.",
        "",
    ]
    counts: dict[str, int] = {}
    for name in PAPERS:
        mark = folder / name / MARK
        if not mark.is_file():
            continue
        try:
            record = json.loads(mark.read_text("utf-8"))
        except ValueError as fault:
            raise InputError(
                f"{mark} is not the file that was written there ({fault}). Delete it and "
                f"run: shoal reproduce {name}"
            ) from None
        quick = " (quick: fewer rows, points and repeats)" if record["quick"] else ""
        lines_ += [
            f"## [{record['title']}]({name}/index.md)",
            "",
            f"{record['citation']}{quick}",
            "",
        ]
        lines_ += _verdict_table(record["verdicts"])
        lines_ += [""]
        for each in record["verdicts"]:
            counts[each["verdict"]] = counts.get(each["verdict"], 0) + 1
    told = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if word in counts)
    lines_[6:6] = [f"Of {sum(counts.values())} claims: {told}.", ""]
    path = folder / "README.md"
    _write(path, "\n".join(lines_))
    return path


def _record(found: Reproduction) -> dict[str, Any]:
    study = found.study
    return {
        "paper": study.name,
        "title": study.title,
        "citation": study.citation,
        "quick": study.quick,
        "rows": dict(found.rows),
        "verdicts": [verdict.to_dict() for verdict in found.verdicts],
        "confirmed": [
            {
                "point": dict(each.point),
                "loss": each.loss,
                "again": each.again,
                "agrees": each.agrees,
            }
            for each in found.confirmations
        ],
    }


def _charts(found: Reproduction, figure: Figure) -> Iterator[tuple[str, Chart]]:
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


def _tables(found: Reproduction) -> Iterator[tuple[str, pl.DataFrame]]:
    for figure in found.study.figures:
        yield f"{figure.id}.csv", _frame(found, figure, found.dots)
        if figure.pool:
            yield f"{figure.id}-each.csv", _frame(found, figure, found.behind)
    if found.counts:
        ids = [figure.id for figure in found.study.figures if figure.x == "by"]
        yield f"{ids[0]}-counts.csv", pl.DataFrame(found.counts)


def _frame(found: Reproduction, figure: Figure, dots: Sequence[Dot]) -> pl.DataFrame:
    mine = [dot for dot in dots if dot.figure == figure.id]
    columns: dict[str, list[Any]] = {}
    if any(dot.panel is not None for dot in mine):
        columns[figure.panel] = [dot.panel for dot in mine]
    columns[figure.x] = [dot.x for dot in mine]
    columns["method"] = [found.study.label(dot.series) for dot in mine]
    columns[figure.y] = [_round(dot.mean) for dot in mine]
    columns["least"] = [_round(dot.low) for dot in mine]
    columns["greatest"] = [_round(dot.high) for dot in mine]
    columns["repeats"] = [dot.repeats for dot in mine]
    columns["reason"] = [dot.reason for dot in mine]
    return pl.DataFrame(columns, strict=False)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _page(found: Reproduction, pictures: Mapping[str, Sequence[tuple[str, Chart]]]) -> str:
    study = found.study
    rows = ", ".join(f"{name} {count:,} rows" for name, count in found.rows.items())
    trees = "the folder beside the table" if found.sources.hierarchies else "the built-in ones"
    out = [f"# {study.title}", "", f"{study.citation}. {study.about}", ""]
    if study.quick:
        out += [
            "**A quick run: fewer rows, points and repeats. Its verdicts are a first look.**",
            "",
        ]
    out += [f"Data: {rows or 'none'}. Hierarchies of Adult: {trees}.", "", "## Claims", ""]
    out += [
        *_verdict_table([verdict.to_dict() for verdict in found.verdicts]),
        "",
        "## Figures",
        "",
    ]
    for figure in study.figures:
        out += [f"### {figure.title}", ""]
        if figure.note:
            out += [figure.note, ""]
        for name, chart in pictures[figure.id]:
            out += [f"![{chart.title}]({name})", "", chart.text, ""]
        out += [f"Numbers: [{figure.id}.csv]({figure.id}.csv)", *_unmeasured(found, figure), ""]
    out += _confirmed(found)
    return "\n".join(out).rstrip() + "\n"


def _unmeasured(found: Reproduction, figure: Figure) -> Iterator[str]:
    lost = [dot for dot in found.dots if dot.figure == figure.id and dot.mean is None]
    reasons: dict[tuple[str, str], int] = {}
    for dot in lost:
        key = (found.study.label(dot.series), dot.reason)
        reasons[key] = reasons.get(key, 0) + 1
    for (name, reason), count in reasons.items():
        yield f"\nNot measured: {name} at {count} points ({reason})."


def _confirmed(found: Reproduction) -> Iterator[str]:
    if not found.confirmations:
        yield "Every release behind these figures was made and verified by a whole run."
        return
    good = sum(each.agrees for each in found.confirmations)
    yield "## Checked by whole runs"
    yield ""
    yield (
        f"The points are measured on the groups alone. {len(found.confirmations)} of them were "
        f"made again as whole runs, published and verified from the published cells: {good} of "
        f"{len(found.confirmations)} were verified and lost exactly what the figure says."
    )
    yield ""
    yield "| method | rule | |QI| | loss | loss of the run | verified |".replace("|QI|", "QIs")
    yield "|---|---|---|---|---|---|"
    for each in found.confirmations:
        point = each.point
        rule = ", ".join(f"{key} = {point[key]}" for key in _parts(point["rule"]))
        yield (
            f"| {point['method']} | {rule} | {len(point['quasi'])} | {number(each.loss)} | "
            f"{number(each.again)} | {'yes' if each.verified else 'no'} |"
        )


def _parts(rule: str) -> tuple[str, ...]:
    return {"k": ("k",), "l": ("l",)}.get(rule, ("alpha", "k"))


def _verdict_table(verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    out = ["| claim | the paper | verdict | measured |", "|---|---|---|---|"]
    for each in verdicts:
        cells = (each["claim"], each["reported"], f"**{each['verdict']}**", each["reason"])
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return out


def _write(path: Path, text: str) -> None:
    with atomic_file(path, force=True) as stream:
        stream.write(text.encode())
