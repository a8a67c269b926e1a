"""The class Run: the figures of how a release was made."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from shoal.base.errors import format_names
from shoal.base.results import Piece, Result
from shoal.catalog import find_method, find_rule
from shoal.measures.deduced_values import DeducedValues
from shoal.measures.exposure import Exposure
from shoal.measures.losses.ncp import Loss
from shoal.plan.plan import Plan
from shoal.privacy.base import format_figures
from shoal.releases.verdict import Verdict
from shoal.tables.schema import Schema
from shoal.verbs.provenance import RunDigests

if TYPE_CHECKING:
    from shoal.ext.proof.bound import Proof


@dataclass(frozen=True, eq=False)
class Run(Result):
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
    notes: Mapping[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    exposure: Exposure | None = None
    read_off: DeducedValues | None = None
    proof: Proof | None = None
    marks: RunDigests = field(default_factory=RunDigests)
    tied: Mapping[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> int:
        """The classes that a reader can tell apart: groups with equal cells are one."""
        return self.verdict.classes

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

    def pieces(self) -> Iterator[Piece]:
        """Yield what came out in a few lines."""
        from shoal.show.charts.words import format_number

        loss = self.loss
        left = self.rows_in - self.rows_out
        removed = "no rows removed" if left <= 0 else f"{left:,} rows removed"
        more = f", {-left:,} counterfeit rows added" if left < 0 else ""
        yield (
            f"Method {self.method}: {self.rows_in:,} rows in, {self.rows_out:,} rows out{more}, "
            f"{self.groups:,} classes"
        )
        if self.plan.paper is not None:
            citation = find_method(self.plan.method.name).citation
            yield f"As in {citation}: {self.plan.paper.describe()}"
        if self.verdict.people is not None:
            yield f"{self.verdict.people:,} different people, counted by {self.schema.person!r}"
        parts = "all by generalization"
        if loss.removal:
            parts = f"{format_number(loss.generalization, 'share')} by generalization"
            parts += f", {format_number(loss.removal, 'share')} by removal"
        yield f"Information loss {format_number(loss.rate, 'share')}, {parts}; {removed}"
        if self.proof is not None:
            yield f"Proved: {self.proof.describe().partition('. ')[2]}"
        if self.notes:
            notes = (f"{name} {_figures(value)}" for name, value in self.notes.items())
            yield f"Found: {'; '.join(notes)}"
        stats, exact = self.verdict.stats, find_method(self.plan.method.name).shape.exact
        if "k" not in self.verdict.achieved and not exact and stats is not None and self.groups:
            yield (
                "Note: no rule says how large a class must be (k). The smallest class has "
                f"{stats.sizes.min():,} {'people' if self.verdict.people is not None else 'rows'}."
            )
        if self.schema.sensitive and not any(find_rule(r.name).sensitive for r in self.plan.rules):
            yield (
                f"Note: no rule of the plan protects {format_names(self.schema.sensitive)} inside "
                "a class. l-diversity, t-closeness or beta-likeness would."
            )
        if self.exposure is not None and not self.exposure.warns:
            yield f"Note: {self.exposure.describe()}"
        if self.read_off is not None and self.read_off.known and not self.read_off.warns:
            yield f"Note: {self.read_off.describe()}"
        for result in self.verdict.rules:
            yield f"Verified: {result.promise}; reached: {format_figures(result.achieved)}"


def versions(*names: str) -> Mapping[str, str]:
    """Return the versions of some libraries and of Python."""
    return {name: _version(name) for name in names} | {"python": platform.python_version()}


@cache
def _version(name: str) -> str:
    """Ask a library that is loaded, which is quicker than to read the papers that came with it."""
    told = getattr(sys.modules.get(name), "__version__", None)
    return told if isinstance(told, str) else version(name)


def _figures(value: Any) -> str:
    """Write a note of a method in short: of many things how many there are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figures(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)
