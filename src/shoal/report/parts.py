"""What a report shows, as plain data: columns, example groups, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.catalog import DEFAULT_LOSS, LOSSES, RULES
from shoal.measures.losses import Loss
from shoal.measures.risks import Risk
from shoal.privacy.base import reached
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.generalized.check import Verdict
from shoal.report.words import ROLES
from shoal.show.charts import Chart
from shoal.show.charts.words import say
from shoal.show.figures import Plots, Subject, read_column
from shoal.show.figures.reading import extents
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR

_GROUPS = 4
_ROWS = 6
_VALUES = 5
_COLUMNS = 40  # whose distribution is drawn; a page is for reading


@dataclass(frozen=True)
class Promise:
    """One rule: what it says, what it means, whether it holds, what was reached."""

    text: str
    meaning: str
    holds: bool
    reached: str
    failing: int


def losses_shown(loss: Loss) -> list[Tile]:
    """Return the losses of the catalog that tables for people have, beside the usual one."""
    return [
        Tile(entry.title, f"{loss.by_name[name]:{entry.form}}", entry.story)
        for name, entry in LOSSES.items()
        if entry.shown and name != DEFAULT_LOSS and name in loss.by_name
    ]


def promises(verdict: Verdict) -> list[Promise]:
    """Return the rules in words."""
    return [
        Promise(
            rule.promise[:1].upper() + rule.promise[1:] + ".",
            RULES[rule.name].plain if rule.name in RULES else "",
            rule.holds,
            reached(rule.achieved),
            rule.failing,
        )
        for rule in verdict.rules
    ]


@dataclass(frozen=True)
class ColumnRow:
    """One declared column: its part, and what its cells say."""

    name: str
    role: str
    kind: str
    exact: float | None
    wide: float | None
    silent: float | None
    loss: float | None


def column_rows(subject: Subject) -> list[ColumnRow]:
    """Return every declared column; identifiers are named, nothing of them is told."""
    rows = []
    lost = subject.loss.by_column if subject.loss is not None else {}
    for column in subject.columns:
        told = column.role.published
        reading = read_column(subject, column.name) if told else None
        rows.append(
            ColumnRow(
                column.name,
                ROLES[column.role.value],
                column.kind.value if column.kind else "",
                reading.exact if reading else None,
                reading.wide if reading else None,
                reading.silent if reading else None,
                lost.get(column.name),
            )
        )
    return rows


@dataclass(frozen=True)
class ExampleGroup:
    """A class as it is published: its size, per column the cell and how wide it is, its values."""

    size: int
    cells: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]


def example_groups(subject: Subject) -> list[ExampleGroup]:
    """Choose some classes from the smallest to the largest, told by published cells alone."""
    published = subject.published
    if subject.shape != "generalized" or not published.sizes.size:
        return []
    texts = {name: _cell_texts(subject, name) for name in subject.quasi}
    order = np.lexsort((np.arange(published.sizes.size), published.sizes))
    places = np.unique(np.linspace(0, order.size - 1, _GROUPS).astype(np.int64))
    chosen = order[places]
    widths = {name: extents(subject, name) for name in subject.quasi}
    return [
        ExampleGroup(
            int(published.sizes[group]),
            tuple((str(texts[name][group]), _width(widths[name], group)) for name in subject.quasi),
            tuple((name, _values(subject, name, group)) for name in subject.sensitive),
        )
        for group in chosen.tolist()
    ]


def _cell_texts(subject: Subject, name: str) -> pl.Series:
    cells = subject.published.cells
    if name in cells.columns:
        return as_text(cells[name]).fill_null(STAR)
    low, high = (as_text(cells[name + end]).fill_null(STAR) for end in ("_lo", "_hi"))
    ends = pl.DataFrame({"low": low, "high": high})
    same = pl.col("low") == pl.col("high")
    joined = pl.when(same).then("low").otherwise(pl.format("{} to {}", "low", "high"))
    return ends.select(joined.alias("cell")).to_series()


def _width(found: tuple[Any, int] | None, group: int) -> str:
    if found is None:
        return ""
    count, total = int(found[0][group]), found[1]
    if count == 1 and total > 1:
        return "exact"
    return "says nothing" if count >= total else f"stands for {count:,} of {total:,} values"


def _values(subject: Subject, name: str, group: int) -> str:
    """Say which values the rows of a class have, all of which are published next to them."""
    mine = subject.frame[name].filter(pl.Series(subject.published.labels == group))
    counts = as_text(mine).fill_null("(empty)").alias("value").value_counts(name="rows")
    counts = counts.sort("rows", "value", descending=[True, False])
    told = [f"{value} ({rows})" for value, rows in counts.head(_VALUES).iter_rows()]
    more = counts.height - len(told)
    return ", ".join(told) + (f", {more} more" if more > 0 else "")


def example_rows(subject: Subject) -> dict[str, Any] | None:
    """Return some published rows of a release that keeps its quasi-identifiers."""
    if subject.shape == "generalized":
        return None
    frame = subject.frame
    values = None
    if subject.shape == "anatomized" and frame.height:
        first = frame[GROUP][0]
        frame = frame.filter(pl.col(GROUP) == first)
        table = subject.tables["st"].filter(pl.col(GROUP) == first)
        named = [name for name in table.columns if name not in (GROUP, COUNT)]
        values = [
            (str(value if value is not None else "(empty)"), int(count))
            for value, count in table.select(named[0], COUNT).iter_rows()
        ]
    shown = [name for name in frame.columns if _told(subject, name)]
    rows = [[_said(cell) for cell in row] for row in frame.select(shown).head(_ROWS).iter_rows()]
    return {"columns": shown, "rows": rows, "values": values}


def _told(subject: Subject, name: str) -> bool:
    return name == GROUP or name in (*subject.quasi, *subject.sensitive)


def _said(cell: Any) -> str:
    if isinstance(cell, (list, pl.Series)):
        return "one of: " + ", ".join(map(str, cell))
    return "" if cell is None else str(cell)


@dataclass(frozen=True)
class Tile:
    """A figure worth its own place at the top."""

    name: str
    value: str
    hint: str = ""


def distributions(plots: Plots) -> list[Chart]:
    """Draw every quasi-identifier and sensitive column."""
    names = [*plots.subject.quasi, *plots.subject.sensitive]
    return [plots.distribution(name) for name in names[:_COLUMNS]]


def risk_rows(before: Risk | None, after: Risk) -> list[dict[str, Any]]:
    """Return the figures of risk in words, with their meaning."""
    told: Sequence[tuple[str, str, str]] = (
        ("prosecutor_highest", "highest risk", "the row that is easiest to find"),
        ("prosecutor_mean", "mean risk", "a row picked at random"),
        ("unique", "unique rows", "rows that nobody else equals"),
        ("above", f"rows above {say(after.threshold, 'share')}", "rows with a higher risk"),
    )
    return [
        {
            "name": name,
            "meaning": meaning,
            "before": None if before is None else getattr(before, key),
            "after": getattr(after, key),
        }
        for key, name, meaning in told
    ]
