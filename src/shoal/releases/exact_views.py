"""Dummy values and Anatomy, read from their published tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import InputError
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.base import By, Counts, Floats, Ints, Query
from shoal.releases.categories import Field, Sorted, chosen, combine, sort
from shoal.releases.estimates import Observed, estimate, iterative, set_interval, tally
from shoal.releases.estimates.intervals import normal_interval
from shoal.releases.posterior import Posterior
from shoal.releases.published import read
from shoal.tables.cells import as_text, natural


@dataclass(frozen=True, eq=False)
class Exact:
    """Quasi-identifiers published as they were: every row is in one category."""

    frame: pl.DataFrame
    quasi: tuple[str, ...]

    @cached_property
    def classes(self) -> Ints:
        """The class of every row: equal quasi-identifiers."""
        return read(self.frame, self.quasi).labels

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The quasi-identifiers as positions."""
        return {name: Field.of(self.frame[name]) for name in self.quasi}

    def matching(self, query: Query) -> npt.NDArray[np.bool_]:
        """Say which rows a query asks for."""
        inside = np.ones(self.frame.height, np.bool_)
        for name, wanted in query.where.items():
            field = self.fields[name]
            inside &= chosen(field.values, wanted)[field.codes]
        return inside

    def sorted(self, by: Sequence[By]) -> tuple[tuple[tuple[str, ...], ...], Ints]:
        """Return the labels of all combinations and the combination of every row, or -1."""
        parts: list[Sorted] = []
        labels = np.zeros(self.frame.height, np.int64)
        for each in by:
            field = self.fields[each.column]
            gaps = bool((field.codes == len(field.values)).any())
            part = sort(each.column, field.values, each, gaps=gaps)
            category = part.category[field.codes]
            # Once outside, always outside.
            inside = (labels >= 0) & (category >= 0)
            labels = np.where(inside, labels * len(part.labels) + category, -1)
            parts.append(part)
        return combine(parts), labels


@dataclass(frozen=True, eq=False)
class _Column:
    """The sets of one column: values, codes ``[rows, l]``, and which rows have a set."""

    values: tuple[str, ...]
    codes: npt.NDArray[np.int64]
    kept: Ints


@dataclass(frozen=True, eq=False)
class DummiesView(Exact):
    """A table with dummy values; ``sets`` are its sensitive columns as lists."""

    sets: dict[str, pl.Series]
    shape = "dummies"

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return what is published, by name."""
        return {"release": self.frame}

    @cached_property
    def columns(self) -> dict[str, _Column]:
        """The sets as codes."""
        return {name: _coded(name, lists) for name, lists in self.sets.items()}

    def values(self, of: str) -> tuple[str, ...]:
        """Return all values that occur in the sets of a column."""
        return self.columns[of].values

    def observed(self, of: str, labels: Ints, groups: int) -> Observed:
        """Count the sets by category of their row."""
        column = self.columns[of]
        if column.kept.size < labels.size:
            labels = labels[column.kept]
        return Observed.of(column.codes, labels, len(column.values), groups)

    def expect(self, query: Query, method: str = "iterative", **options: float) -> Floats:
        """Return the estimated count of every value."""
        labels = np.where(self.matching(query), 0, -1)
        seen = self.observed(query.of, labels, 1)
        found: Floats = seen.dense(estimate(seen, method, **options))[0]
        return found

    def counts(
        self, of: str, by: Sequence[By], *, method: str = "iterative", level: float = 0.95
    ) -> Counts:
        """Estimate all combinations at once; intervals follow from the draw of the dummies."""
        combined, labels = self.sorted(by)
        seen = self.observed(of, labels, len(combined))
        count = seen.dense(estimate(seen, method))
        rows = seen.rows.astype(np.float64)
        low, high = set_interval(seen.dense(seen.seen), rows[:, None], seen.q, level)
        low, high = np.minimum(low, count), np.maximum(high, count)
        names = tuple(each.column for each in by)
        return Counts(of, names, combined, self.values(of), rows, count, low, high)

    def posterior(self, of: str) -> Posterior:
        """Weigh the values of every set by how frequent they are in the table.

        Every value of a set explains it equally well, so by Bayes' rule frequent values are the
        likelier ones: a set of l values is not always 1/l.
        """
        column = self.columns[of]
        seen = self.observed(of, np.zeros(self.frame.height, np.int64), 1)
        prior = seen.dense(iterative(seen))[0]
        share = np.maximum(prior[column.codes], 1e-12)
        share /= share.sum(axis=1, keepdims=True)
        rows = np.repeat(column.kept, column.codes.shape[1])
        size = len(column.values)
        return Posterior.of(self.classes, rows, column.codes.ravel(), share.ravel(), size)

    def beliefs(self, of: str, rows: npt.NDArray[np.integer]) -> Floats:
        """Return the attacker's probability of every value, for some released rows."""
        return self.posterior(of).beliefs(rows)

    def risk(self, of: str) -> dict[str, float]:
        """Return the worst and the mean posterior."""
        return self.posterior(of).risk()


def _coded(name: str, lists: pl.Series) -> _Column:
    kept = np.flatnonzero(lists.is_not_null().to_numpy())
    lengths = lists.drop_nulls().list.len().unique().sort()
    if len(lengths) != 1:
        raise InputError(
            f"The sets of column {name!r} have {len(lengths)} different lengths "
            f"({lengths.head(5).to_list()}), but dummy values make sets of one length. Check that "
            "the file is a release as it was published."
        )
    elements = lists.drop_nulls().explode()
    field = Field.of(elements)
    values = tuple(as_text(field.values).to_list())
    return _Column(values, field.codes.reshape(-1, int(lengths[0])), kept)


@dataclass(frozen=True, eq=False)
class AnatomyView(Exact):
    """Anatomy's two tables."""

    table: pl.DataFrame
    of: str
    shape = "anatomized"

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return what is published, by name."""
        return {"release": self.frame, "st": self.table}

    @cached_property
    def _groups(self) -> tuple[Ints, Ints, Ints, Ints, Ints, tuple[str, ...]]:
        """Per row its group; per group its size; runs: group starts, values, counts; names."""
        ids = self.table[GROUP].unique().sort()
        place = pl.Series(np.arange(len(ids), dtype=np.int64))
        own = self.frame[GROUP].replace_strict(ids, place, default=None, return_dtype=pl.Int64)
        if own.null_count():
            raise InputError(
                f"{own.null_count():,} rows of the release have a {GROUP} that the second table "
                "does not list. Give the two tables of one release."
            )
        names = as_text(natural(self.table[self.of]))
        runs = self.table.select(
            group=pl.col(GROUP).replace_strict(ids, place, return_dtype=pl.Int64),
            value=Field.of(as_text(self.table[self.of])).codes,
            count=pl.col(COUNT).cast(pl.Int64),
        ).sort("group", "value")
        size = np.bincount(runs["group"], runs["count"], len(ids)).astype(np.int64)
        texts = Field.of(as_text(self.table[self.of])).texts
        known = runs.filter(pl.col("value") < len(texts))
        starts = np.searchsorted(known["group"].to_numpy(), np.arange(len(ids) + 1))
        assert len(names) == len(texts)
        return (
            own.to_numpy(),
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
        each = np.repeat(inside / np.maximum(size, 1), np.diff(starts))
        return tally(values, each * counts, len(names))

    def counts(
        self, of: str, by: Sequence[By], *, method: str = "iterative", level: float = 0.95
    ) -> Counts:
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
        at = np.repeat(starts[:-1][group] - (np.cumsum(runs) - runs), runs) + np.arange(runs.sum())
        m = np.repeat(many, runs).astype(np.float64)
        n = np.repeat(size[group], runs).astype(np.float64)
        h = counts[at].astype(np.float64)
        keys = np.repeat(category, runs) * len(names) + values[at]
        share = h / n
        spread = m * share * (1 - share) * (n - m) / np.maximum(n - 1, 1)
        form = (len(combined), len(names))
        count, variance, least, most = (
            tally(keys, each, form[0] * form[1]).reshape(form)
            for each in (m * share, spread, np.maximum(m - (n - h), 0), np.minimum(m, h))
        )
        low, high = normal_interval(count, variance, least, most, level)
        rows = np.bincount(labels[kept], minlength=form[0]).astype(np.float64)
        by_names = tuple(each.column for each in by)
        return Counts(of, by_names, combined, names, rows, count, low, high)

    def posterior(self, of: str) -> Posterior:
        """Every row of a group is as likely to have any of its values."""
        own, _, starts, values, counts, names = self._groups
        runs = np.diff(starts)
        known = np.bincount(np.repeat(np.arange(runs.size), runs), counts, runs.size)
        share = counts / np.repeat(known, runs)
        each = runs[own]
        at = np.repeat(starts[:-1][own] - (np.cumsum(each) - each), each) + np.arange(each.sum())
        rows = np.repeat(np.arange(own.size), each)
        return Posterior.of(self.classes, rows, values[at], share[at], len(names))

    def beliefs(self, of: str, rows: npt.NDArray[np.integer]) -> Floats:
        """Return the attacker's probability of every value, for some released rows."""
        return self.posterior(of).beliefs(rows)

    def risk(self, of: str) -> dict[str, float]:
        """Return the worst and the mean posterior."""
        return self.posterior(of).risk()
