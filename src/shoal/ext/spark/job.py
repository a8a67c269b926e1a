"""The state of one run on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.catalog import Method
from shoal.ext.spark.columns import SparkTable
from shoal.ext.spark.hashing import Fingerprint
from shoal.ext.spark.layout import Layout
from shoal.ext.spark.settings import Spark
from shoal.measures.losses.ncp import Loss
from shoal.plan.plan import Plan
from shoal.privacy import All, Rule
from shoal.releases.check_counts import Findings
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Schema

if TYPE_CHECKING:
    from shoal.verbs.anonymize import StageTimer

KEPT = "kept"
"""The column of a staged table that says which rows are published."""


@dataclass(frozen=True, eq=False)
class Job:
    """One run.

    Parameters
    ----------
    spark, settings
        The session, and what the engine was told.
    table, plan, schema, taxonomies
        The input and what is declared of it. Kinds that the plan leaves open are settled when the
        values are known.
    entry, options, rules
        The method and the promises.
    clock, folder
        Measures; where to stage.
    """

    spark: Any
    settings: Spark
    table: SparkTable
    plan: Plan
    schema: Schema
    taxonomies: Mapping[str, Taxonomy]
    entry: Method
    options: Mapping[str, Any]
    rules: tuple[Rule, ...]
    clock: StageTimer
    folder: str

    @property
    def rule(self) -> Rule:
        """All promises as one."""
        return self.rules[0] if len(self.rules) == 1 else All(self.rules)

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers in the order of the table."""
        return [name for name in self.table.names if name in self.schema.quasi]

    @property
    def spoken(self) -> list[str]:
        """The sensitive columns that a rule speaks of, in the order of the table."""
        wanted = {rule.column for rule in self.rules}
        return [name for name in self.table.names if name in wanted]


@dataclass(frozen=True, eq=False)
class Seen:
    """What a check saw: the fingerprint of the published rows, what rules found, and faults."""

    published: Fingerprint
    findings: list[Findings]
    faults: list[str]


@dataclass(frozen=True, eq=False)
class Checks:
    """What is asked before a release gets its name.

    Parameters
    ----------
    staged
        Takes the published columns of the staged table as they are written, and looks at that.
    release
        Takes the release, read back with its columns numbered.
    """

    staged: Callable[[Sequence[Any]], Seen]
    release: Callable[[Any], Seen]


@dataclass(frozen=True, eq=False)
class Staged:
    """A staged table: every row as it was, beside what it is published as.

    ``rows`` reads it from the disk; the column ``kept`` says which rows are published at all.
    ``in_order``: whether they stand in the order of the release.
    """

    rows: Any
    layout: Layout
    plan: Plan
    schema: Schema
    size: int
    loss: Loss
    groups: int
    notes: dict[str, Any]
    checks: Checks
    in_order: bool = True
