"""The release that figures are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from shoal.base.partition import GroupStats
from shoal.base.roles import Role
from shoal.measures.losses.ncp import Loss
from shoal.plan.rule_specs import smallest_class
from shoal.releases.opened import Opened

FEW = 5  # a value of the original that fewer rows have is never named, whatever k is


@dataclass(frozen=True, eq=False)
class Subject:
    """What figures are drawn from.

    Parameters
    ----------
    opened
        The release.
    source
        The original; None when nothing may be computed from it.
    loss
        What the release lost against the original; None when that may not be told.
    stats
        What its check counted in every class; None when that may not be told, or is not known.
    fewest
        The least number of people of a class where nothing else may be told of whose rows are
        whose: the verdict says it.
    """

    opened: Opened
    source: pl.DataFrame | None = field(default=None, repr=False)
    loss: Loss | None = None
    stats: GroupStats | None = field(default=None, repr=False)
    fewest: int | None = None

    @classmethod
    def from_opened(cls, opened: Opened, source: pl.DataFrame | None, run: Any) -> Subject:
        """Return a release with what its run measured, if that is at hand."""
        return cls(opened, source, *((run.loss, run.verdict.stats) if run else ()))

    def public(self) -> Subject:
        """Return the same without anything that is computed from the original."""
        told = self.stats if self.stats is not None and self.stats.unit == "people" else None
        fewest = None if told is None or not told.sizes.size else int(told.sizes.min())
        bare = replace(self.opened, people=None)
        return replace(self, opened=bare, source=None, loss=None, stats=None, fewest=fewest)

    @property
    def by_rows(self) -> bool:
        """Whether a person may have several rows, and rows are counted all the same."""
        people = self.stats is not None and self.stats.unit == "people"
        return bool(self.opened.names(Role.PERSON)) and not people

    @property
    def crowd(self) -> int:
        """How many rows a value of the original needs to be named."""
        return max(smallest_class([rule.spec for rule in self.opened.plan.final().rules]), FEW)

    @property
    def exact(self) -> bool:
        """Quasi-identifiers are published as they were."""
        return self.opened.shape.exact

    def estimated(self, name: str) -> bool:
        """Tell whether a column is not published row by row and can only be estimated."""
        estimated: bool = self.opened.shape.view.estimated(self.opened, name)
        return estimated

    def original(self, name: str) -> pl.Series | None:
        """Return a column of the original with null for what means missing."""
        if self.source is None or name not in self.source.columns:
            return None
        return self.opened.column(name).clean(self.source[name])
