"""A release to look at, with what is known of its making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from shoal.base.roles import Role
from shoal.measures.losses import Loss
from shoal.releases.anatomy.make import COUNT, GROUP
from shoal.releases.base import Release
from shoal.releases.opening import open_release
from shoal.releases.published import Published, read
from shoal.tables.cells import blank
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Column
from shoal.tables.set_cells import read_sets

FEW = 5  # a value of the original that fewer rows have is never named, whatever k is


@dataclass(frozen=True, eq=False)
class Subject:
    """What figures are drawn from.

    Parameters
    ----------
    tables
        The published tables: ``release``, and for Anatomy ``st``.
    columns
        The declared columns.
    taxonomies
        Hierarchies by column, to understand generalized cells.
    crowd
        A value of the original that fewer rows have is not named.
    source
        The original; None when nothing may be computed from it.
    loss
        What the release lost against the original; None when that may not be told.
    """

    tables: Mapping[str, pl.DataFrame]
    columns: Sequence[Column]
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    crowd: int = FEW
    source: pl.DataFrame | None = field(default=None, repr=False)
    loss: Loss | None = None

    def public(self) -> Subject:
        """Return the same without anything that is computed from the original."""
        return replace(self, source=None, loss=None)

    @property
    def frame(self) -> pl.DataFrame:
        """The published table."""
        return self.tables["release"]

    def names(self, *roles: Role) -> list[str]:
        """Return the columns that play one of some roles."""
        return [column.name for column in self.columns if column.role in roles]

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return self.names(Role.SENSITIVE)

    def column(self, name: str) -> Column:
        """Return a declared column by its name."""
        return next(column for column in self.columns if column.name == name)

    @cached_property
    def sets(self) -> dict[str, pl.Series]:
        """The sensitive columns that are published as sets of values."""
        found = {name: read_sets(self.frame[name]) for name in self.sensitive if self.has(name)}
        return {name: lists for name, lists in found.items() if lists is not None}

    def has(self, name: str) -> bool:
        """Tell whether the published table has a column of this name."""
        return name in self.frame.columns

    @cached_property
    def shape(self) -> str:
        """``generalized``, ``dummies`` or ``anatomized``."""
        if "st" in self.tables:
            return "anatomized"
        return "dummies" if self.sets else "generalized"

    @cached_property
    def published(self) -> Published:
        """The classes of rows that nobody can tell apart."""
        return read(self.frame, self.quasi)

    def open(self, of: str) -> Release:
        """Return the release, ready to be asked about a sensitive column."""
        taken = [name for name in self.quasi if name != of]
        return open_release(
            self.frame,
            of,
            table=self.tables.get("st"),
            quasi=taken,
            taxonomies={name: tree for name, tree in self.taxonomies.items() if name in taken},
            # Says that the cells are generalized, even where none looks so.
            domains={"\x00": pl.Series([], dtype=pl.String)},
        )

    def original(self, name: str) -> pl.Series | None:
        """Return a column of the original with null for what means missing."""
        if self.source is None or name not in self.source.columns:
            return None
        return self.column(name).clean(self.source[name])

    def texts(self, name: str) -> pl.Series:
        """Return the cells of a published column, with ``*`` for a cell that says nothing."""
        if self.has(name):
            column = self.frame[name]
            gap = blank(column.cast(pl.String) if column.dtype != pl.String else column)
            return gap.fill_null(STAR)
        low = self.frame[f"{name}_lo"]
        return low.cast(pl.String).fill_null(STAR)

    def silent(self, name: str) -> float:
        """Return the share of published cells of a column that are empty or ``*``."""
        if name in self.sets:
            return self.sets[name].null_count() / max(self.frame.height, 1)
        if self.shape == "anatomized" and not self.has(name):
            table = self.tables["st"]
            rows = table[COUNT].to_numpy()
            gone = table[name].is_null().to_numpy()
            return float(rows[gone].sum() / max(rows.sum(), 1))
        generalized = self.shape == "generalized" and name in self.quasi
        cells = self.texts(name)
        if not generalized:
            return blank(self.frame[name]).null_count() / max(self.frame.height, 1)
        return int((cells == STAR).sum()) / max(len(cells), 1)


__all__ = ["COUNT", "FEW", "GROUP", "Subject"]
