"""How a release was made: figures only, no row of any table."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from shoal.base.to_json import as_json
from shoal.measures.exposure import Exposure
from shoal.measures.losses.ncp import Loss
from shoal.measures.readoff import ReadOff
from shoal.plan.plan import Plan
from shoal.releases.verdict import Verdict
from shoal.tables.schema import Schema
from shoal.verbs.provenance import Marks

if TYPE_CHECKING:
    from shoal.ext.proof.bound import Proof


@dataclass(frozen=True, eq=False)
class Run:
    """How a release was made, on whichever engine.

    Parameters
    ----------
    loss
        What it costs.
    verdict
        What was found in the published cells.
    method, plan, schema
        How it was made; the plan without its seed.
    rows_in, rows_out, groups
        Rows read and released, and groups made.
    notes
        What the method has to tell besides: the levels of a full-domain release, the rows that
        were suppressed, ...
    seconds
        Time per stage and in total.
    warnings
        What the reader should know.
    exposure
        The columns released as they are, and how many rows are unique with them; None if there are
        none, or the rows are on Spark.
    read_off
        What follows for certain from the published cells; None if no cell is generalized, or the
        rows are on Spark.
    proof
        How far it is from the best possible; None unless it was asked for.
    marks
        Digests of what it was made from, for its manifest.
    tied
        What its manifest tells of the releases that it has something in common with.
    """

    loss: Loss
    verdict: Verdict
    method: str
    plan: Plan
    schema: Schema
    rows_in: int
    rows_out: int
    groups: int
    notes: Mapping[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    exposure: Exposure | None = None
    read_off: ReadOff | None = None
    proof: Proof | None = None
    marks: Marks = field(default_factory=Marks)
    tied: Mapping[str, Any] = field(default_factory=dict)

    @property
    def undecided(self) -> dict[str, str]:
        """The columns that were held back because nobody decided about them, with the reason."""
        return {name: self.schema[name].reason for name in self.schema.undecided}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of the run as plain data: no value of the table, no seed."""
        return {
            "method": self.method,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "groups": self.groups,
            "notes": dict(self.notes),
            "warnings": list(self.warnings),
            "loss": {
                "rate": self.loss.rate,
                "generalization": self.loss.generalization,
                "removal": self.loss.removal,
                "by_column": self.loss.by_column,
            },
            "losses": dict(self.loss.by_name),
            "proof": None if self.proof is None else self.proof.to_dict(),
            "people": self.verdict.people,
            "achieved": self.verdict.achieved,
            "promised": [result.promise for result in self.verdict.rules],
            "verified": self.verdict.holds,
            "undecided": self.undecided,
            "exposure": None if self.exposure is None else self.exposure.to_dict(),
            "read_off": None if self.read_off is None else self.read_off.to_dict(),
            "earlier": dict(self.verdict.models.get("earlier", {})),
            "seeded": self.plan.seeded,
            "seconds": {name: round(value, 6) for name, value in self.seconds.items()},
            "versions": dict(versions("shoal", "numpy", "numba", "polars")),
            "plan": self.plan.public(),
        }

    to_json = as_json


def versions(*names: str) -> Mapping[str, str]:
    """Return the versions of some libraries and of Python."""
    return {name: _version(name) for name in names} | {"python": platform.python_version()}


@cache
def _version(name: str) -> str:
    """Ask a library that is loaded, which is quicker than to read the papers that came with it."""
    told = getattr(sys.modules.get(name), "__version__", None)
    return told if isinstance(told, str) else version(name)
