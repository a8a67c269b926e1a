"""Read exact quasi-identifiers of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.base.partition import Bools, Ints
from shoal.releases.base import By, Query
from shoal.releases.categories import Coded, Sorted, chosen, combine, sort
from shoal.releases.opened import Opened
from shoal.releases.published import read
from shoal.tables.cells import missing_to_null


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
    def fields(self) -> dict[str, Coded]:
        """The quasi-identifiers as positions."""
        return {name: Coded.encode(self.frame[name]) for name in self.quasi}

    def matching(self, query: Query) -> Bools:
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
        for wanted in by:
            field = self.fields[wanted.column]
            gaps = bool((field.codes == len(field.values)).any())
            categories = sort(wanted.column, field.values, wanted, gaps=gaps)
            category = categories.category[field.codes]
            # Once outside, always outside.
            inside = (labels >= 0) & (category >= 0)
            labels = np.where(inside, labels * len(categories.labels) + category, -1)
            parts.append(categories)
        return combine(parts), labels


def silent(opened: Opened, name: str) -> float:
    """Return the share of cells of a column that are empty."""
    return missing_to_null(opened.frame[name]).null_count() / max(opened.frame.height, 1)


def sizes(opened: Opened) -> Ints:
    """Return the size of every class."""
    return opened.published.sizes
