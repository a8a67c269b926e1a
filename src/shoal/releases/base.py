"""The interface of releases of any shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from shoal.base.partition import Floats, Ints

if TYPE_CHECKING:
    from shoal.releases.posterior import Posterior


@dataclass(frozen=True)
class Query:
    """The question how many of some rows have each value of a sensitive column.

    ``of`` names the sensitive column. ``where``: per quasi-identifier the values asked for, as
    texts; a row counts when every column named has one of its values.
    """

    of: str
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class By:
    """One column to split the rows by: every value, intervals of ``width``, or one ``value``."""

    column: str
    width: float | None = None
    value: str | None = None


@dataclass(frozen=True, eq=False)
class Counts:
    """Estimated counts of sensitive values.

    Parameters
    ----------
    of
        The sensitive column.
    by
        The columns split by.
    labels
        Per category combination its label in each of those columns.
    values
        The sensitive values.
    rows
        (Estimated) number of rows of each combination.
    count, low, high
        Estimate and interval, ``[combinations, values]``.
    """

    of: str
    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    values: tuple[str, ...]
    rows: Floats
    count: Floats
    low: Floats
    high: Floats

    def frame(self) -> pl.DataFrame:
        """Return one row per combination and value: count, interval, share."""
        many, many_values = self.count.shape
        columns: dict[str, Any] = {
            name: np.repeat([label[place] for label in self.labels], many_values)
            for place, name in enumerate(self.by)
        }
        columns[self.of] = list(self.values) * many
        for name, figures in (("count", self.count), ("low", self.low), ("high", self.high)):
            columns[name] = figures.ravel()
        share = self.count / np.maximum(self.rows, 1e-300)[:, None]
        columns["share"] = share.ravel()
        return pl.DataFrame(columns)


class MadeTables(NamedTuple):
    """The tables that are published, by name, and the input row of every row of the release.

    The rows are for checks inside the run and must never leave it.
    """

    tables: dict[str, pl.DataFrame]
    order: Ints

    @property
    def frame(self) -> pl.DataFrame:
        """The release itself, without what stands beside it."""
        return self.tables["release"]


@dataclass(frozen=True)
class ShapeWords:
    """What reports and figures call things in a release of one shape.

    Parameters
    ----------
    classes, sizes, rows
        Rows that belong together, the title of the figure of their sizes, and its axis.
    made
        What was done, after the number of rows; may name ``{quasi}``, how many columns there are.
    examples
        What the rows shown as an example are.
    risk, gaps, shares
        What the risk, the cells that say nothing, and the distributions tell.
    estimated
        What is said of a column that is not published row by row.
    again
        What to know before the same table is released once more, when that gives values away.
    domain
        What to know of a domain that was declared.
    """

    classes: str
    sizes: str
    rows: str
    made: str
    examples: str
    risk: str
    gaps: str
    shares: str
    estimated: str = ""
    again: str = ""
    domain: str = ""


class View(Protocol):
    """A published release, read from its tables alone.

    ``expect`` and ``posterior`` use nothing that is not published, so they say what an analyst can
    learn, and what an attacker can.
    """

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        ...

    @property
    def estimators(self) -> tuple[str, ...]:
        """Ways to estimate counts from it, the usual one first."""
        ...

    def values(self, of: str) -> tuple[str, ...]:
        """Return the known values of a sensitive column."""
        ...

    def expect(self, query: Query) -> Floats:
        """Return the best estimate of the count of every sensitive value."""
        ...

    def counts(self, of: str, by: Sequence[By], *, level: float = 0.95, **how: Any) -> Counts:
        """Estimate the counts of every category combination, with intervals.

        ``how``: the way to estimate (``estimator``) and its options, for shapes that have several.
        """
        ...

    def posterior(self, of: str) -> Posterior:
        """Return what an attacker believes who knows all quasi-identifiers of a person.

        A probability for every sensitive value, by class of rows that nobody can tell apart.
        """
        ...
