"""Read a release with dummy values as analysts and attackers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import InputError, format_names
from shoal.base.partition import Floats, Ints
from shoal.catalog import ESTIMATORS
from shoal.releases.base import By, Counts, Query
from shoal.releases.dummies.domain import declared_domain
from shoal.releases.estimates.bayes import Observed, estimate, iterative
from shoal.releases.estimates.intervals import set_interval
from shoal.releases.exact import view as exact
from shoal.releases.exact.view import Exact
from shoal.releases.opened import Opened
from shoal.releases.posterior import Posterior
from shoal.tables.cells import sorted_values
from shoal.tables.set_cells import read_sets


@dataclass(frozen=True, eq=False)
class _Column:
    """The sets of one column: values, codes ``[rows, l]``, and which rows have a set."""

    values: tuple[str, ...]
    codes: Ints
    kept: Ints


@dataclass(frozen=True, eq=False)
class DummiesView(Exact):
    """A table with dummy values; ``sets`` are its sensitive columns as lists.

    ``domains``: the values from which they were drawn, where somebody says.
    """

    sets: dict[str, pl.Series]
    domains: dict[str, pl.Series]
    estimators = tuple(ESTIMATORS)

    @cached_property
    def columns(self) -> dict[str, _Column]:
        """The sets as codes."""
        return {
            name: _coded(name, lists, self.domains.get(name)) for name, lists in self.sets.items()
        }

    def values(self, of: str) -> tuple[str, ...]:
        """Return the domain of a column: what was declared, or all values in its sets."""
        return self.columns[of].values

    def observed(self, of: str, labels: Ints, groups: int) -> Observed:
        """Count the sets by category of their row."""
        column = self.columns[of]
        if column.kept.size < labels.size:
            labels = labels[column.kept]
        return Observed.count_sets(column.codes, labels, len(column.values), groups)

    def expect(self, query: Query, estimator: str = "iterative", **options: float) -> Floats:
        """Return the estimated count of every value."""
        labels = np.where(self.matching(query), 0, -1)
        seen = self.observed(query.of, labels, 1)
        expected: Floats = seen.dense(estimate(seen, estimator, **options))[0]
        return expected

    def counts(self, of: str, by: Sequence[By], *, level: float = 0.95, **how: Any) -> Counts:
        """Estimate all combinations at once; intervals follow from the draw of the dummies."""
        known = set(self.domains.get(of, self.values(of)))
        if strange := [value for value in self.values(of) if value not in known]:
            raise InputError(
                f"The sets of column {of!r} hold {len(strange):,} values that its domain lacks: "
                f"{format_names(strange)}. Give the domain from which they were drawn."
            )
        combined, labels = self.sorted(by)
        seen = self.observed(of, labels, len(combined))
        count = seen.dense(estimate(seen, **how))
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
        return Posterior.from_rows(self.classes, rows, column.codes.ravel(), share.ravel(), size)


def _coded(name: str, lists: pl.Series, domain: pl.Series | None) -> _Column:
    kept = np.flatnonzero(lists.is_not_null().to_numpy())
    lengths = lists.drop_nulls().list.len().unique().sort()
    if len(lengths) != 1:
        raise InputError(
            f"The sets of column {name!r} have {len(lengths)} different lengths "
            f"({lengths.head(5).to_list()}), but dummy values make sets of one length. Check that "
            "the file is a release as it was published."
        )
    elements = lists.drop_nulls().explode()
    values = sorted_values(
        elements if domain is None else pl.concat([domain.rename(name), elements])
    )
    places = pl.Series(np.arange(len(values), dtype=np.int64))
    codes = elements.replace_strict(values, places, return_dtype=pl.Int64).to_numpy()
    return _Column(tuple(values), codes.reshape(-1, int(lengths[0])), kept)


def marked(tables: Mapping[str, pl.DataFrame], sensitive: Sequence[str]) -> bool:
    """Tell whether a column that was declared sensitive holds sets of values."""
    frame = tables["release"]
    return any(
        name in frame.columns and read_sets(frame[name].head(1000)) is not None
        for name in sensitive
    )


def hidden(_tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the sensitive columns that the tables tell by themselves: a list proves nothing."""
    return []


def candidates(tables: Mapping[str, pl.DataFrame], _of: str) -> list[str]:
    """Return the columns that may be quasi-identifiers."""
    return [column.name for column in tables["release"] if read_sets(column) is None]


def open_view(opened: Opened, of: str) -> DummiesView:
    """Return the release, ready to be asked about a column of sets."""
    sets = {
        name: lists
        for name in (of, *opened.sensitive)
        if (lists := _sets(opened, name)) is not None
    }
    if of not in sets:
        raise InputError(
            f"Column {of!r} holds no sets of values, although other sensitive columns do: it is "
            "published as it is. Give it another role, or leave it out."
        )
    domains = {
        name: values for name in sets if (values := declared_domain(opened, name)) is not None
    }
    return DummiesView(opened.frame, tuple(opened.quasi), sets, domains)


def _sets(opened: Opened, name: str) -> pl.Series | None:
    return read_sets(opened.frame[name]) if opened.has(name) else None


def estimated(opened: Opened, name: str) -> bool:
    """Tell whether a column can only be estimated."""
    return name in opened.sensitive and _sets(opened, name) is not None


silent, sizes = exact.silent, exact.sizes


def examples(opened: Opened) -> tuple[pl.DataFrame, list[tuple[str, int]] | None]:
    """Return some published rows."""
    return opened.frame, None
