"""Read a release of Anatomy as analysts and attackers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import InputError, SchemaError, format_names, suggest_nearest
from shoal.base.partition import Floats, Ints, ragged_positions
from shoal.releases.anatomy import COUNT, GROUP
from shoal.releases.base import By, Counts, Query
from shoal.releases.categories import Coded
from shoal.releases.estimates.bayes import tally
from shoal.releases.estimates.intervals import normal_interval
from shoal.releases.exact import view as exact
from shoal.releases.exact.view import Exact
from shoal.releases.opened import Opened
from shoal.releases.posterior import Posterior
from shoal.tables.cells import as_text, find_positions, missing_to_null, sorted_values
from shoal.tables.domain import STAR


@dataclass(frozen=True, eq=False)
class AnatomyView(Exact):
    """Anatomy's two tables."""

    table: pl.DataFrame
    of: str
    estimators = ("uniform",)

    @cached_property
    def _groups(self) -> tuple[Ints, Ints, Ints, Ints, Ints, tuple[str, ...]]:
        """Per row its group; per group its size; runs: group starts, values, counts; names."""
        ids = self.table[GROUP].unique().sort()
        own = find_positions(self.frame[GROUP], ids)
        if lost := int((own < 0).sum()):
            raise InputError(
                f"{lost:,} rows of the release have a {GROUP} that the second table "
                "does not list. Give the two tables of one release."
            )
        names = as_text(sorted_values(self.table[self.of]))
        runs = self.table.select(
            group=find_positions(self.table[GROUP], ids),
            value=Coded.encode(as_text(self.table[self.of])).codes,
            count=pl.col(COUNT).cast(pl.Int64),
        ).sort("group", "value")
        size = np.bincount(runs["group"], runs["count"], len(ids)).astype(np.int64)
        texts = Coded.encode(as_text(self.table[self.of])).texts
        known = runs.filter(pl.col("value") < len(texts))
        starts = np.searchsorted(known["group"].to_numpy(), np.arange(len(ids) + 1))
        assert len(names) == len(texts)
        return (
            own,
            size,
            starts.astype(np.int64),
            known["value"].to_numpy(),
            known["count"].to_numpy(),
            tuple(texts.to_list()),
        )

    def values(self, of: str) -> tuple[str, ...]:
        """Return the known values of the sensitive column."""
        return self._groups[5]

    def expect(self, query: Query) -> Floats:
        """Share out the rows of every group by the group's values."""
        own, size, starts, values, counts, names = self._groups
        inside = np.bincount(own[self.matching(query)], minlength=size.size)
        weight = np.repeat(inside / np.maximum(size, 1), np.diff(starts))
        return tally(values, weight * counts, len(names))

    def counts(self, of: str, by: Sequence[By], *, level: float = 0.95, **how: Any) -> Counts:
        """Estimate all combinations at once.

        The interval is that of a hypergeometric draw: which rows of a group have which of its
        values is left open. It does not know of any tie between quasi-identifiers and values.
        """
        own, size, starts, values, counts, names = self._groups
        combined, labels = self.sorted(by)
        kept = labels >= 0
        cells, many = np.unique(labels[kept] * size.size + own[kept], return_counts=True)
        group, category = cells % size.size, cells // size.size
        runs = np.diff(starts)[group]
        at = ragged_positions(starts[:-1][group], runs)
        m = np.repeat(many, runs).astype(np.float64)
        n = np.repeat(size[group], runs).astype(np.float64)
        h = counts[at].astype(np.float64)
        keys = np.repeat(category, runs) * len(names) + values[at]
        share = h / n
        spread = m * share * (1 - share) * (n - m) / np.maximum(n - 1, 1)
        form = (len(combined), len(names))
        count, variance, least, most = (
            tally(keys, figures, form[0] * form[1]).reshape(form)
            for figures in (m * share, spread, np.maximum(m - (n - h), 0), np.minimum(m, h))
        )
        low, high = normal_interval(count, variance, least, most, level)
        rows = np.bincount(labels[kept], minlength=form[0]).astype(np.float64)
        by_names = tuple(wanted.column for wanted in by)
        return Counts(of, by_names, combined, names, rows, count, low, high)

    def posterior(self, of: str) -> Posterior:
        """Every row of a group is as likely to have any of its values."""
        own, _, starts, values, counts, names = self._groups
        runs = np.diff(starts)
        known = np.bincount(np.repeat(np.arange(runs.size), runs), counts, runs.size)
        share = counts / np.repeat(known, runs)
        many = runs[own]
        at = ragged_positions(starts[:-1][own], many)
        rows = np.repeat(np.arange(own.size), many)
        return Posterior.from_rows(self.classes, rows, values[at], share[at], len(names))


def marked(tables: Mapping[str, pl.DataFrame], _sensitive: Sequence[str]) -> bool:
    """Tell whether there is a second table."""
    return "st" in tables


def hidden(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the sensitive columns that the tables tell by themselves: those of the second."""
    return [name for name in tables["st"].columns if name not in (GROUP, COUNT)]


def candidates(tables: Mapping[str, pl.DataFrame], _of: str) -> list[str]:
    """Return the columns that may be quasi-identifiers."""
    return [name for name in tables["release"].columns if name != GROUP]


def open_view(opened: Opened, of: str) -> AnatomyView:
    """Return the two tables, ready to be asked about the sensitive column."""
    frame, table = opened.frame, opened.tables["st"]
    if GROUP not in frame.columns or not {GROUP, COUNT} <= set(table.columns):
        raise InputError(
            f"This is not a release of Anatomy: the first table needs a column {GROUP!r}, the "
            f"second {GROUP!r}, a sensitive column and {COUNT!r}. Got "
            f"{format_names(frame.columns)} and "
            f"{format_names(table.columns)}."
        )
    held = hidden(opened.tables)
    if of not in held:
        raise SchemaError(
            f"The second table has no sensitive column {of!r}.{suggest_nearest(of, held)} It has: "
            f"{format_names(held)}."
        )
    table = table.with_columns(missing_to_null(table[of], (STAR, *opened.column(of).missing)))
    return AnatomyView(frame, tuple(opened.quasi), table, of)


def estimated(opened: Opened, name: str) -> bool:
    """Tell whether a column can only be estimated."""
    return not opened.has(name)


def silent(opened: Opened, name: str) -> float:
    """Return the share of cells of a column that say nothing."""
    if opened.has(name):
        return exact.silent(opened, name)
    table = opened.tables["st"]
    rows = table[COUNT].to_numpy()
    gone = table[name].is_null().to_numpy()
    return float(rows[gone].sum() / max(rows.sum(), 1))


def sizes(opened: Opened) -> Ints:
    """Return the size of every group."""
    table = opened.tables["st"]
    return table.group_by(GROUP).agg(pl.col(COUNT).sum())[COUNT].to_numpy()


def examples(opened: Opened) -> tuple[pl.DataFrame, list[tuple[str, int]] | None]:
    """Return the published rows of a group, and its values with their counts."""
    frame = opened.frame
    if not frame.height:
        return frame, None
    first = frame[GROUP][0]
    table = opened.tables["st"].filter(pl.col(GROUP) == first)
    values = [
        (str(value if value is not None else "(empty)"), int(count))
        for value, count in table.select(hidden(opened.tables)[0], COUNT).iter_rows()
    ]
    return frame.filter(pl.col(GROUP) == first), values
