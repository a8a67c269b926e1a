"""Collect the columns, example classes and figures of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.roles import Role
from shoal.catalog import DEFAULT_LOSS, LOSSES, RULES
from shoal.measures.losses.ncp import Loss
from shoal.privacy.base import format_figures
from shoal.releases.ends import cell_texts
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.report.words import role_words
from shoal.show.charts.paper import Chart
from shoal.show.figures.column_values import extents, read_column
from shoal.show.figures.plots import Plots
from shoal.show.figures.subject import Subject
from shoal.tables.cells import as_text

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
        Tile(entry.title, entry.written(loss.by_name[name]), entry.story)
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
            format_figures(rule.achieved),
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
    for column in subject.opened.columns:
        told = column.role.published
        reading = read_column(subject.opened, column.name) if told else None
        rows.append(
            ColumnRow(
                column.name,
                role_words(column.role),
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
    """A class as it is published: its size, per column the cell and how wide it is, its values.

    ``size``: in rows, and in people where they are counted and may be told.
    """

    size: str
    cells: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]


def example_groups(subject: Subject) -> list[ExampleGroup]:
    """Choose some classes from the smallest to the largest, told by published cells alone."""
    opened = subject.opened
    published = opened.published
    if subject.exact or not published.sizes.size:
        return []
    texts = {name: _cell_texts(opened, name) for name in opened.quasi}
    people = published.people
    order = np.lexsort((np.arange(published.sizes.size), published.sizes))
    places = np.unique(np.linspace(0, order.size - 1, _GROUPS).astype(np.int64))
    chosen = order[places]
    widths = {name: extents(opened, name) for name in opened.quasi}
    exact = {name: "as written" if name in unread(subject) else "exact" for name in opened.quasi}
    return [
        ExampleGroup(
            _size(int(published.sizes[group]), None if people is None else int(people[group])),
            tuple(
                (str(texts[name][group]), _width(widths[name], group, exact[name]))
                for name in opened.quasi
            ),
            tuple((name, _values(opened, name, group)) for name in opened.sensitive),
        )
        for group in chosen.tolist()
    ]


def _size(rows: int, people: int | None) -> str:
    told = "1 row" if rows == 1 else f"{rows:,} rows"
    if people is None:
        return f"{told} look alike" if rows > 1 else f"{told} only"
    return f"{told} of {people:,} {'person' if people == 1 else 'different people'}"


def _cell_texts(opened: Opened, name: str) -> pl.Series:
    return cell_texts(opened.published.cells, name, between="{} to {}")


def unread(subject: Subject) -> list[str]:
    """Return the columns of texts that may be labels: nobody gave a hierarchy, nor the original."""
    if subject.source is not None or subject.exact:
        return []
    opened = subject.opened
    kinds = {column.name: column.kind for column in opened.columns}
    return [
        name
        for name in opened.quasi
        if name not in opened.taxonomies
        and kinds.get(name) is None
        and name in opened.frame.columns
        and opened.frame[name].dtype == pl.String
        and not _in_notation(extents(opened, name))
    ]


def _in_notation(widths: tuple[Any, int] | None) -> bool:
    """Tell whether some cells of a column are intervals or sets, so that the others are values."""
    return widths is not None and bool(((widths[0] > 1) & (widths[0] < widths[1])).any())


def _width(interval: tuple[Any, int] | None, group: int, exact: str) -> str:
    if interval is None:
        return ""
    count, total = int(interval[0][group]), interval[1]
    if count == 1 and total > 1:
        return exact
    return "no information" if count >= total else f"covers {count:,} of {total:,} values"


def _values(opened: Opened, name: str, group: int) -> str:
    """Say which values the rows of a class have, all of which are published next to them."""
    mine = opened.frame[name].filter(pl.Series(opened.published.labels == group))
    counts = as_text(mine).fill_null("(empty)").alias("value").value_counts(name="rows")
    counts = counts.sort("rows", "value", descending=[True, False])
    told = [f"{value} ({rows})" for value, rows in counts.head(_VALUES).iter_rows()]
    more = counts.height - len(told)
    return ", ".join(told) + (f", {more} more" if more > 0 else "")


def example_rows(subject: Subject) -> dict[str, Any] | None:
    """Return some published rows of a release that keeps its quasi-identifiers."""
    opened = subject.opened
    if not subject.exact:
        return None
    frame, values = opened.shape.view.examples(opened)
    told = opened.names(Role.QUASI, Role.SENSITIVE)
    declared = [column.name for column in opened.columns]
    # What nobody declared is the shape's own: the group of Anatomy.
    shown = [name for name in frame.columns if name in told or name not in declared]
    rows = [[_said(cell) for cell in row] for row in frame.select(shown).head(_ROWS).iter_rows()]
    return {"columns": shown, "rows": rows, "values": values}


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
    names = [*plots.subject.opened.quasi, *plots.subject.opened.sensitive]
    return [plots.distribution(name) for name in names[:_COLUMNS]]
