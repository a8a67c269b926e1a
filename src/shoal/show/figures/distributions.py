"""Compare the distribution of a column in the original and in the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import Bools, Floats, Ints
from shoal.show.charts.columns import histogram
from shoal.show.charts.paper import WIDTH, Chart
from shoal.show.charts.rows import bars
from shoal.show.charts.words import format_number
from shoal.show.figures.bins import as_points, make_bins
from shoal.show.figures.column_values import ColumnReading, numbers, read_column
from shoal.show.figures.subject import Subject
from shoal.tables.cells import as_text
from shoal.tables.domain import STAR, Taxonomy

_MOST = 12  # names shown; the rest is one bar
_LEAST = 13  # different numbers from which on they are put into bins
REST = "all others"
NAMES = ("original", "release")


@dataclass(frozen=True, eq=False)
class Distribution:
    """Shares of the rows by bin or name; ``before`` is None when the original may not be told."""

    column: str
    labels: tuple[str, ...]
    after: Floats
    before: Floats | None
    binned: bool
    notes: tuple[str, ...]

    @property
    def distance(self) -> float | None:
        """How far apart the two are: half the sum of the differences, from 0 to 1."""
        if self.before is None:
            return None
        return float(np.abs(self.before - self.after).sum() / 2)

    def chart(self, wide: float = WIDTH) -> Chart:
        """Draw it, on paper as wide as asked for."""
        before = None if self.before is None else list(self.before)
        shares, labels = list(self.after), list(self.labels)
        words: dict[str, Any] = {"form": "share", "names": NAMES, "text": self._text()}
        if self.binned:
            words |= {"y": "share of rows"}
            return histogram(self.column, shares, labels, before=before, wide=wide, **words)
        words |= {"name": "share of rows", "of": "value" if before else self.column}
        return bars(self.column, labels, shares, before=before, wide=wide, **words)

    def _text(self) -> str:
        notes = " ".join(self.notes)
        own = [i for i, label in enumerate(self.labels) if label != REST]
        top = max(own, key=lambda i: (self.after[i], -i), default=-1)
        if top < 0:
            return notes or "Nothing is published."
        share = format_number(self.after[top], "share")
        said = f"Most frequent in the release: {self.labels[top]} ({share})."
        if self.distance is not None:
            said = (
                f"{format_number(self.distance, 'share')} of the rows would have to change "
                "their bar to "
                "make the two alike."
            )
            said = "The two are alike." if self.distance < 1e-9 else said
        return f"{said} {notes}".strip()


def distribution(subject: Subject, name: str) -> Distribution:
    """Compare a published column with the original, or tell it alone when there is none.

    Values of the original are named only when the release names them too and at least
    ``subject.crowd`` rows have them; bins hold that many rows or none. A generalized cell counts
    in equal parts for everything that it covers.
    """
    reading = read_column(subject.opened, name)
    source = subject.original(name)
    present = None if source is None else source.drop_nulls()
    notes = _notes(subject, name, reading)
    if reading.silent >= 1.0 or not len(reading.values):
        return Distribution(name, (), np.empty(0), None, False, notes)
    opened = subject.opened
    generalized = name in opened.quasi and not subject.exact
    tree = opened.taxonomies.get(name) if generalized else None
    ranked = numbers(reading.values)
    if ranked is not None and ranked.len() >= _LEAST and not _masked(tree):
        binned = _binned(name, reading, ranked, present, subject.crowd, notes)
        if binned is not None:
            return binned
    return _named(subject, name, reading, present, tree, notes)


def _notes(subject: Subject, name: str, reading: ColumnReading) -> tuple[str, ...]:
    notes = []
    if name in subject.opened.quasi and not subject.exact and reading.silent:
        if reading.silent >= 1:
            return (
                "No cell of this column says anything: all are *, or the top of its hierarchy.",
            )
        notes.append(
            f"{format_number(reading.silent, 'share')} of the cells say nothing (*, the top of the "
            "hierarchy, or empty) and count in equal parts for every value."
        )
    elif reading.silent:
        notes.append(
            f"{format_number(reading.silent, 'share')} of the cells are empty and are not counted."
        )
    if subject.estimated(name) and subject.opened.words.estimated:
        notes.append(subject.opened.words.estimated)
    return tuple(notes)


def _masked(tree: Taxonomy | None) -> bool:
    """Tell whether a hierarchy hides digits one by one: its numbers are codes, not amounts."""
    return tree is not None and any(STAR in label for label in tree.labels[:-1])


def _binned(
    name: str,
    reading: ColumnReading,
    ranked: pl.Series,
    present: pl.Series | None,
    crowd: int,
    notes: tuple[str, ...],
) -> Distribution | None:
    order = np.argsort(as_points(ranked), kind="stable")
    ranked, weight = ranked.gather(order), reading.weight[order]
    before = None
    if present is not None and len(present):
        meant = numbers(present)
        if meant is None or (meant.dtype == pl.Date) != (ranked.dtype == pl.Date):
            return None
        points, counts = np.unique(as_points(meant), return_counts=True)
        before = (points, counts.astype(np.float64))
    bins = make_bins(ranked, before, crowd)
    after = _shares(bins.count(as_points(ranked), weight))
    was = None if before is None else _shares(bins.count(*before))
    return Distribution(name, bins.labels, after, was, True, notes)


def _named(
    subject: Subject,
    name: str,
    reading: ColumnReading,
    present: pl.Series | None,
    tree: Taxonomy | None,
    notes: tuple[str, ...],
) -> Distribution:
    texts = as_text(reading.values)
    if tree is not None and reading.at is not None:
        labels, category, allowed = _level(tree, reading.at, reading.named)
    else:
        labels, category = texts.to_list(), np.arange(len(texts), dtype=np.int64)
        allowed = reading.named if reading.readable else np.ones(len(texts), np.bool_)
    size = len(labels)
    after = np.bincount(category, reading.weight, size).astype(np.float64)
    before, beyond = None, 0.0
    if present is not None and len(present):
        counts = as_text(present).alias("text").value_counts(name="rows")
        at = counts["text"].replace_strict(
            texts, pl.Series(category), default=None, return_dtype=pl.Int64
        )
        rows = counts["rows"].to_numpy().astype(np.float64)
        inside = at.is_not_null().to_numpy()
        before = np.bincount(at.drop_nulls().to_numpy(), rows[inside], size).astype(np.float64)
        beyond = float(rows[~inside].sum())
        if beyond > before.sum():
            # The cells are in a notation that only their hierarchy could explain.
            before, beyond = None, 0.0
            notes = (*notes, "Its cells cannot be compared with the original without a hierarchy.")
    if before is not None:
        allowed = allowed & (before >= subject.crowd)
    ordered = bool(subject.opened.column(name).order) or numbers(reading.values) is not None
    chosen = _chosen(before if before is not None else after, allowed, ordered)
    rest = np.ones(size, np.bool_)
    rest[chosen] = False
    shown = [labels[i] for i in chosen]
    values = [after[chosen], None if before is None else before[chosen]]
    left = [
        float(after[rest].sum()),
        beyond + (0.0 if before is None else float(before[rest].sum())),
    ]
    if max(left) > 1e-9:
        shown.append(REST)
        values = [
            None if counts_of is None else np.append(counts_of, left[i])
            for i, counts_of in enumerate(values)
        ]
    assert values[0] is not None
    was = None if values[1] is None else _shares(values[1])
    return Distribution(name, tuple(shown), _shares(values[0]), was, False, notes)


def _level(tree: Taxonomy, at: Ints, named: Bools) -> tuple[list[str], Ints, Bools]:
    """Choose the finest level with few enough groups; a leaf's label only if it is published."""
    levels = tree.levels[:-1, at]
    level = next((labels for labels in levels if np.unique(labels).size <= _MOST + 2), levels[-1])
    nodes, category = np.unique(level, return_inverse=True)
    published = np.zeros(tree.size, np.bool_)
    published[at] = named
    single = tree.lo[nodes] == tree.hi[nodes]
    allowed = ~single | published[tree.lo[nodes]]
    return [tree.labels[node] for node in nodes], category.reshape(-1).astype(np.int64), allowed


def _chosen(weight: Floats, allowed: Bools, ordered: bool) -> Ints:
    """Return which names to show: the most frequent, in their own order if they have one."""
    order = np.argsort(-np.where(allowed, weight, -1.0), kind="stable")
    order = order[allowed[order]][:_MOST]
    return np.sort(order) if ordered else order


def _shares(weight: Floats) -> Floats:
    total = float(weight.sum())
    return weight / total if total > 0 else weight
