"""Read a generalized release as analysts do: cells spread evenly over their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names, suggest_nearest
from shoal.base.partition import Floats, Ints
from shoal.base.roles import Role
from shoal.releases.anatomy import GROUP
from shoal.releases.base import By, Counts, Query
from shoal.releases.categories import Coded, chosen, combine, sort
from shoal.releases.ends import ENDS, ends_of
from shoal.releases.estimates.bayes import tally
from shoal.releases.estimates.intervals import normal_interval
from shoal.releases.generalized.spread import spread
from shoal.releases.opened import Opened
from shoal.releases.posterior import Posterior
from shoal.releases.published import Published, read
from shoal.releases.readback import Sides
from shoal.tables.cells import merge_values, missing_to_null
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import plain, unknown_column

_MARKED = r"^\*$|^\[.+-.+\]$|^\{.+\}$"


@dataclass(frozen=True, eq=False)
class GeneralizedView:
    """A generalized table, with the hierarchies it was made with.

    ``domains``: per column the values that it can have, when they are known from elsewhere.
    ``given``: cells that were read before, and need not be understood from their texts alone.
    ``orders``: the texts of ordered columns, lowest first. ``grouped``: its classes, if they were
    found before.
    """

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    domains: Mapping[str, pl.Series] = field(default_factory=dict)
    given: Mapping[str, Sides] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grouped: Published | None = None
    estimators = ("uniform",)

    @cached_property
    def published(self) -> Published:
        """The classes of the table."""
        return self.grouped or read(self.frame, self.quasi)

    @cached_property
    def _spreads(self) -> dict[str, Sides]:
        return dict(self.given)

    def spread(self, name: str) -> Sides:
        """Return the cells of a column, read once."""
        if name not in self._spreads:
            self._spreads[name] = spread(
                self.published,
                name,
                self.taxonomies.get(name),
                self.domains.get(name),
                self.orders.get(name, ()),
            )
        return self._spreads[name]

    @cached_property
    def _sensitive(self) -> dict[str, tuple[tuple[str, ...], Ints, Ints, Floats]]:
        return {}

    def _runs(self, of: str) -> tuple[tuple[str, ...], Ints, Ints, Floats]:
        """Return the values, and per pair of class and value: class, value, count."""
        if of not in self._sensitive:
            column = Coded.encode(self.frame[of])
            size = len(column.values)
            known = column.codes < size
            keys = self.published.labels[known] * max(size, 1) + column.codes[known]
            cells, count = np.unique(keys, return_counts=True)
            names = tuple(column.texts.to_list())
            owner, value = np.divmod(cells, max(size, 1))
            self._sensitive[of] = (names, owner, value, count.astype(np.float64))
        return self._sensitive[of]

    def values(self, of: str) -> tuple[str, ...]:
        """Return the known values of a sensitive column."""
        return self._runs(of)[0]

    def expect(self, query: Query) -> Floats:
        """Take every class for spread evenly over what its cells cover."""
        names, owner, value, count = self._runs(query.of)
        weight = np.ones(self.published.sizes.size)
        for name, wanted in query.where.items():
            cells = self.spread(name)
            inside = np.where(chosen(cells.known, wanted), 0, -1)
            weight *= cells.shares(inside, 1)[:, 0]
        return tally(value, weight[owner] * count, len(names))

    def counts(self, of: str, by: Sequence[By], *, level: float = 0.95, **how: Any) -> Counts:
        """Estimate all combinations; the interval takes each row of a class as its own draw."""
        names, owner, value, count = self._runs(of)
        parts = [
            sort(wanted.column, self.spread(wanted.column).known, wanted, gaps=False)
            for wanted in by
        ]
        combined = combine(parts)
        shares = [
            self.spread(wanted.column).shares(categories.category, len(categories.labels))
            for wanted, categories in zip(by, parts, strict=True)
        ]
        classes = self.published.sizes.size
        form = (len(combined), len(names))
        total, square = np.zeros(form), np.zeros(form)
        rows = np.zeros(form[0])
        edges = np.searchsorted(owner, np.arange(classes + 1))
        step = max(1, 4_000_000 // max(form[0] + form[1], 1))
        for begin in range(0, classes, step):
            end = min(begin + step, classes)
            weight = np.ones((end - begin, 1))
            for share in shares:
                weight = (weight[:, :, None] * share[begin:end, None, :]).reshape(end - begin, -1)
            held = np.zeros((end - begin, form[1]))
            runs = slice(edges[begin], edges[end])
            held[owner[runs] - begin, value[runs]] = count[runs]
            total += weight.T @ held
            square += (weight * weight).T @ held
            rows += weight.T @ self.published.sizes[begin:end]
        most = tally(value, count, form[1])[None, :] + np.zeros(form)
        low, high = normal_interval(total, total - square, np.zeros(form), most, level)
        by_names = tuple(wanted.column for wanted in by)
        return Counts(of, by_names, combined, names, rows, total, low, high)

    def posterior(self, of: str) -> Posterior:
        """Every row of a class is as likely to have any of its values."""
        names, owner, value, count = self._runs(of)
        first = np.full(self.published.sizes.size, -1, np.int64)
        labels = self.published.labels
        first[labels[::-1]] = np.arange(labels.size)[::-1]
        return Posterior.from_rows(labels, first[owner], value, count, len(names))


def marked(tables: Mapping[str, pl.DataFrame], sensitive: Sequence[str]) -> bool:
    """Tell whether cells outside the sensitive columns are written in our notation."""
    frame = tables["release"].drop(sensitive, strict=False)
    if len(_untyped(frame)) < frame.width:
        return True
    texts = [column for column in frame if column.dtype == pl.String]
    return any(column.str.contains(_MARKED).any() for column in texts)


def hidden(_tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the sensitive columns that the tables tell by themselves."""
    return []


def candidates(tables: Mapping[str, pl.DataFrame], of: str) -> list[str]:
    """Return the columns that may be quasi-identifiers."""
    frame = tables["release"]
    if of not in frame.columns:
        hint = ""
        if GROUP in frame.columns:
            hint = f" It has a {GROUP}: give Anatomy's second table with --st as well."
        raise SchemaError(
            f"The release has no column {of!r} to estimate.{suggest_nearest(of, frame.columns)} "
            "It has: "
            f"{format_names(frame.columns)}.{hint}"
        )
    return [name for name in _untyped(frame) if name != of]


def _untyped(frame: pl.DataFrame) -> list[str]:
    """Return the columns with the ends of a typed one as the one they stand for."""
    stems = [name.removesuffix(ENDS[0]) for name in frame.columns if name.endswith(ENDS[0])]
    stem_of = {end: stem for stem in stems for end in ends_of(frame, stem)}
    return list(dict.fromkeys(stem_of.get(name, name) for name in frame.columns))


def open_view(opened: Opened, of: str) -> GeneralizedView:
    """Return the table, ready to be asked about a sensitive column."""
    frame = opened.frame
    if of not in frame.columns:
        raise SchemaError(unknown_column(of, frame.columns, "The release", Role.SENSITIVE))
    if not plain(frame[of].dtype):
        raise SchemaError(
            f"Column {of!r} of the release holds values of type {frame[of].dtype}; needed are "
            "numbers, texts, dates, booleans or categories. Split it into plain columns first."
        )
    taken = [name for name in opened.quasi if name != of]
    return GeneralizedView(
        frame.with_columns(
            merge_values(opened.column(of).clean(frame[of]), opened.plan.release.same)
        ),
        tuple(taken),
        {name: tree for name, tree in opened.taxonomies.items() if name in taken},
        opened.domains,
        {name: side.opened() for name, side in opened.sides.items()},
        orders={column.name: column.order for column in opened.columns if column.order},
        grouped=opened.published if taken == opened.quasi else None,
    )


def estimated(_opened: Opened, _name: str) -> bool:
    """Tell whether a column can only be estimated."""
    return False


def silent(opened: Opened, name: str) -> float:
    """Return the share of cells of a column that are empty, or leave every value possible."""
    if name in opened.quasi:
        cells = opened.texts(name)
        return int(cells.is_in(opened.tops(name)).sum()) / max(len(cells), 1)
    return missing_to_null(opened.frame[name]).null_count() / max(opened.frame.height, 1)


def sizes(opened: Opened) -> Ints:
    """Return the size of every class."""
    return opened.published.sizes
