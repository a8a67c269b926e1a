"""What a reader gets: a page per paper with figures and verdicts, the numbers, and a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from experiments import OVER_TIME, PAPERS
from experiments.claims import Dot
from experiments.drawing import charts_of, telling
from experiments.judging import VERDICTS, class_of
from experiments.plans import HERE, Figure
from experiments.published import MARK, read_record
from experiments.running import Reproduction
from shoal.base.atomic import atomic_file
from shoal.base.errors import OutputError
from shoal.report.render import render
from shoal.show.charts.paper import Chart

HEAD = """\
# The papers, reproduced

Every finding of the five papers that our methods come from, asked of our own figures with the
papers' own settings. Renew all of it with `make reproduce`, one paper with `python -m experiments
PAPER`. The plan and the claims of a paper are in its folder. A verdict is computed, never written
by hand, and never an average: *holds* at every point, *holds at* so many of them with the others
named on the paper's page, *does not hold*, or *undecided*, where another seed, another fit or
another reading of the paper turns the answer. A finding is not turned round to fit: where our
figures contradict it, the page says why. Each figure keeps the digest of the code that it depends
on (the grouper, its kernels, the measure); `python -m experiments --check` names those that other
code measured. After a change of the code the first repeat of every point is measured again: where
it comes out the same to the last digit, the others stay. Times are measured again in full.
"""
BEYOND = """\
Gaps that depend on the value, k up to 100, up to 14 quasi-identifiers and a million rows, our own
method and our own variants beside the papers': claims of ours, judged in the same way. For 16 and
20 quasi-identifiers and more rows see the [benchmarks](../benchmarks/README.md).
"""


def check_folder(folder: Path, papers: Sequence[str]) -> None:
    """Say before long work why nothing may be written here."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"Cannot write to {folder}: it is a file. Give a folder with --out.")
    for name in papers:
        place = folder / name
        if place == HERE / name or not place.exists() or (place / MARK).is_file():
            continue
        if any(place.iterdir()):
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
        pictures[figure.id] = list(charts_of(found, figure))
    kept = set()
    for charts in pictures.values():
        for name, chart in charts:
            chart.save(place / name, force=True)
            kept.add(name)
    for name, table in _tables(found):
        _write(place / name, table.write_csv())
        kept.add(name)
    _write(place / MARK, json.dumps(_record(found), indent=1, ensure_ascii=False) + "\n")
    _write(place / "index.md", _page(found, pictures))
    page = place / "index.html"
    shown = {name: [chart for _, chart in charts] for name, charts in pictures.items()}
    _write(page, render(HERE / "paper.html", **telling(found, shown)))
    for old in [*place.glob("*.svg"), *place.glob("*.csv")]:
        if old.name not in kept:
            old.unlink()
    return page


def write_summary(folder: Path) -> Path:
    """Write the table of all claims, of every paper whose verdicts lie in the folder."""
    every = (*PAPERS, OVER_TIME)
    records = {name: record for name in every if (record := read_record(folder / name / MARK))}
    told = [(name, each) for name, record in records.items() for each in record["verdicts"]]
    lines_ = [
        HEAD,
        f"Of {len(told)} claims, {_counted([each for _, each in told])}. Of those that are the "
        f"papers' own, {_counted([each for _, each in told if not each['ours']])}.",
        "",
        "## The main claims of the papers",
        "",
        *_short_table(records, [(name, each) for name, each in told if each["main"]]),
        "",
        "## What the papers could not tell",
        "",
        BEYOND,
        *_short_table(records, [(name, each) for name, each in told if each["ours"]]),
        "",
    ]
    for name, record in records.items():
        quick = " (quick: fewer rows, points and repeats)" if record["quick"] else ""
        lines_ += [
            f"## [{record['title']}]({name}/index.md)",
            "",
            f"{record['citation']}{quick}",
            "",
            *_verdict_table(record["verdicts"], measured=False),
            "",
        ]
    path = folder / "README.md"
    _write(path, "\n".join(lines_))
    return path


def _counted(verdicts: Sequence[Mapping[str, Any]]) -> str:
    many = (
        *("hold", "hold at a part of their points", "do not hold", "are undecided"),
        "were not measured",
    )
    kinds = [class_of(each["verdict"]) for each in verdicts]
    return ", ".join(
        f"{kinds.count(one)} {several}"
        for one, several in zip(VERDICTS, many, strict=True)
        if one in kinds
    )


def _short_table(
    records: Mapping[str, Mapping[str, Any]], chosen: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[str]:
    """Return claims of several papers with where they stand and what became of them."""
    out = ["| paper | claim | where | verdict |", "|---|---|---|---|"]
    for name, each in chosen:
        place = "ours" if each["ours"] else each["place"]
        cells = (each["claim"].replace("|", "\\|"), place, f"**{each['verdict']}**")
        out.append(
            f"| [{records[name]['citation']}]({name}/index.md) | " + " | ".join(cells) + " |"
        )
    return out


def _record(found: Reproduction) -> dict[str, Any]:
    study = found.study
    return {
        "paper": study.name,
        "title": study.title,
        "citation": study.citation,
        "quick": study.quick,
        "code": dict(found.code),
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
    columns["values"] = [" ".join(f"{value:.6g}" for value in dot.values) for dot in mine]
    columns["reason"] = [dot.reason for dot in mine]
    return pl.DataFrame(columns, strict=False)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _page(found: Reproduction, pictures: Mapping[str, Sequence[tuple[str, Chart]]]) -> str:
    """Return the page as Markdown, beside its pictures."""
    told = telling(found, {})
    out = [f"# {told['heading']}", "", f"{told['citation']}. {told['about']}", ""]
    if told["quick"]:
        out += [
            "**A quick run: fewer rows, points and repeats. Its verdicts are a first look.**",
            "",
        ]
    out += [
        told["data"],
        "",
        "## Claims",
        "",
        *_verdict_table(told["verdicts"]),
        "",
        "## Figures",
        "",
    ]
    for part in told["figures"]:
        out += [f"### {part['title']}", "", *([part["note"], ""] if part["note"] else [])]
        for name, chart in pictures[part["id"]]:
            out += [f"![{chart.title}]({name})", "", chart.text, ""]
        out += [f"Numbers: [{part['id']}.csv]({part['id']}.csv)", ""]
        for text in part["lost"]:
            out += [text, ""]
    out += ["## Checked by whole runs", "", told["checked"], ""]
    if told["runs"]:
        out += ["| method | rule | quasi-identifiers | loss | loss of the run | verified |"]
        out += ["|---|---|---|---|---|---|"]
        out += ["| " + " | ".join(map(str, run.values())) + " |" for run in told["runs"]]
    return "\n".join(out).rstrip() + "\n"


def _verdict_table(verdicts: Sequence[Mapping[str, Any]], *, measured: bool = True) -> list[str]:
    heads = ["claim", "the paper", "where", "verdict", *(["measured"] if measured else [])]
    out = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for each in verdicts:
        place = "ours" if each["ours"] else each["place"]
        cells = [each["claim"], each["reported"], place, f"**{each['verdict']}**"]
        cells += [each["reason"]] if measured else []
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return out


def _write(path: Path, text: str) -> None:
    with atomic_file(path, force=True) as stream:
        stream.write(text.encode())
