"""Anonymize a table that stays on Spark."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.api.release import Release
from shoal.base.errors import warn_each
from shoal.catalog import Method
from shoal.coding.encode import Encoded
from shoal.ext.spark.engine import carry_out
from shoal.ext.spark.settings import Spark
from shoal.measures.cautions import planned
from shoal.measures.exposure import exposure
from shoal.measures.named_rare_values import uncounted
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.releases.opened import Opened
from shoal.tables.find_hierarchies import Hierarchies
from shoal.tables.native import Native
from shoal.tables.open_table import warn_undecided
from shoal.verbs.anonymize import Clock, advice, collect_warnings, group
from shoal.verbs.provenance import digest_of, run_digests
from shoal.verbs.randomness import warn_of_short
from shoal.verbs.run import Run

if TYPE_CHECKING:
    from shoal.verbs.anonymize import Progress


def anonymize_on_spark(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: tuple[Rule, ...],
    engine: Spark | None,
    progress: Progress | None,
) -> Release[Any]:
    """Carry a plan out on Spark, where the table stays."""
    return anonymize_and_bring(data, plan, hierarchies, extra, engine, progress)[0]


def anonymize_and_bring(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: tuple[Rule, ...],
    engine: Spark | None,
    progress: Progress | None,
) -> tuple[Release[Any], pl.DataFrame | None]:
    """Return the release, and the table that it was made from if the engine is to bring both."""
    clock = Clock(progress or (lambda stage: None))
    run, tables, here = _on_spark(data, plan.final(), hierarchies, extra, engine or Spark(), clock)
    run = replace(run, marks=run_digests(digest_of(data), None, plan, {}, "spark"))
    if here is None:
        return Release(None, run, Native(), tables), None
    opened, original = here
    exposed = exposure(opened.published, opened.sensitive, ())
    said = [exposed.describe()] if exposed is not None and exposed.warns else []
    run = replace(run, exposure=exposed, warnings=(*run.warnings, *said))
    return Release(opened, run, Native(), tables), original


def _on_spark(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: tuple[Rule, ...],
    engine: Spark,
    clock: Clock,
) -> tuple[Run, dict[str, Any], tuple[Opened, pl.DataFrame] | None]:
    """Carry out the plan where the rows are; return the run and the tables as Spark frames.

    And the release with its table on this machine, if the engine is to bring them.
    """
    start = time.perf_counter()

    def run(entry: Method, rows: Encoded, rule: Rule, rng: Any, options: Mapping[str, Any]) -> Any:
        return group(entry, rows, rule, rng, options, clock, plan)

    with collect_warnings() as said:
        warn_of_short(plan)
        made, tables, here = carry_out(data, plan, hierarchies, extra, engine, run, clock)
        warn_undecided(made.schema)
        rules = build_rules([part.spec for part in plan.rules], made.schema.sensitive)
        warn_each(planned(made.schema, plan, (*rules, *extra)))
        warn_each(uncounted(made.schema, plan))
    clock.seconds["total"] = time.perf_counter() - start
    texts = tuple(dict.fromkeys([*said, *advice(plan)]))
    return replace(made, seconds=clock.seconds, warnings=texts), tables, here
