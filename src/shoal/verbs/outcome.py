"""What a run gives back: the release, what it costs, what was verified, how it was made."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.base.errors import ShoalError
from shoal.measures.losses import Loss
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import crowd
from shoal.releases.generalized.check import Verdict
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Schema

if TYPE_CHECKING:
    from shoal.show.figures import Plots, Subject


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gives back.

    Parameters
    ----------
    release
        The release, in the kind of frame that was given (polars for a file).
    loss
        What it costs.
    achieved
        What the weakest class reaches, by parameter name.
    verdict
        What ``verify`` found in the published cells.
    method, plan, schema
        How it was made.
    rows_in, rows_out, groups
        Rows read and released, and groups made.
    seconds
        Time per stage and in total.
    warnings
        What the reader should know.
    notes
        What the method has to tell besides: the levels of a full-domain release, the rows that
        were suppressed, ...
    tables
        Everything that is published, by name: ``release``, and for Anatomy ``st``.
    source, published, taxonomies
        The original, the published tables as polars frames, and the hierarchies: for figures and
        reports, which must never show the first.
    """

    release: Any
    loss: Loss
    achieved: dict[str, Any]
    verdict: Verdict
    method: str
    plan: Plan
    schema: Schema
    rows_in: int
    rows_out: int
    groups: int
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    source: pl.DataFrame | None = field(default=None, repr=False)
    published: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict, repr=False)

    @property
    def undecided(self) -> dict[str, str]:
        """The columns that were held back because nobody decided about them, with the reason."""
        return {name: self.schema[name].reason for name in self.schema.undecided}

    @property
    def subject(self) -> Subject:
        """What figures of this run are drawn from."""
        from shoal.show.figures import FEW, Subject  # a run that draws nothing need not load them

        if not self.published:
            raise ShoalError(
                "Figures are drawn from tables on this machine, and this release is on Spark. Draw "
                "them from a part of it, or from the figures of the run (to_dict)."
            )
        k = crowd([part.spec for part in self.plan.rules])
        return Subject(
            self.published,
            self.schema.columns,
            self.taxonomies,
            max(k, FEW),
            self.source,
            self.loss,
        )

    @property
    def plot(self) -> Plots:
        """The figures of this run: ``outcome.plot.loss()``, ``.classes()``, ``.risk()``, ..."""
        from shoal.show.figures import Plots

        return Plots(self.subject)

    def _repr_html_(self) -> str:
        """Show the run in a notebook: what was promised and what it cost, no row of the table."""
        from shoal.show.charts.words import say
        from shoal.show.figures.summary import summary

        return summary(
            self.verdict,
            {
                "method": self.method,
                "rows": f"{self.rows_in:,} in, {self.rows_out:,} out",
                "groups": f"{self.groups:,}",
                "information lost": say(self.loss.rate, "share"),
                "seconds": f"{self.seconds.get('total', 0.0):.2f}",
            },
            [self.plot.loss(), self.plot.classes()] if self.published else [],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of the run as plain data: no value of the table, no seed."""
        return {
            "method": self.method,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "groups": self.groups,
            "notes": dict(self.notes),
            "loss": {
                "rate": self.loss.rate,
                "generalization": self.loss.generalization,
                "removal": self.loss.removal,
                "by_column": self.loss.by_column,
            },
            "losses": dict(self.loss.by_name),
            "achieved": self.achieved,
            "promised": [result.promise for result in self.verdict.rules],
            "verified": self.verdict.holds,
            "undecided": self.undecided,
            "seeded": self.plan.seed is not None,
            "seconds": {name: round(value, 6) for name, value in self.seconds.items()},
            "versions": _versions(),
            "plan": self.plan.public(),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    names = ("shoal", "numpy", "numba", "polars")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
