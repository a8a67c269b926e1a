"""The class Original: the table to be released, with all roles settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from shoal.base.partition import Ints
from shoal.plan.plan import Plan
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class Original:
    """The table that is released: its rows, and what is declared of its columns.

    ``order``: the input row of every released row, known inside a run only. ``whose``: the person
    of every released row, where that could be told without it. ``plan`` has roles and kinds written
    out.
    """

    frame: pl.DataFrame
    schema: Schema
    order: Ints | None = None
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    whose: pl.Series | None = None
    plan: Plan = field(default_factory=Plan)

    @property
    def persons(self) -> pl.Series | None:
        """Whose row each released row is, when that was declared and is known."""
        if self.schema.person is None or self.order is None:
            return self.whose
        return self.schema.persons(self.frame).gather(self.order)
