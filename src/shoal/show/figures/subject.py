"""A release to look at, with what is known of its making."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

from shoal.measures.losses.ncp import Loss
from shoal.plan.rule_specs import crowd
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
    """

    opened: Opened
    source: pl.DataFrame | None = field(default=None, repr=False)
    loss: Loss | None = None

    def public(self) -> Subject:
        """Return the same without anything that is computed from the original."""
        return replace(self, opened=replace(self.opened, people=None), source=None, loss=None)

    @property
    def crowd(self) -> int:
        """How many rows a value of the original needs to be named."""
        return max(crowd([rule.spec for rule in self.opened.plan.final().rules]), FEW)

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
