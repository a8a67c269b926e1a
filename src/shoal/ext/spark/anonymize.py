"""Anonymize a table that stays on Spark."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.api.release import Release
from shoal.base.errors import warn_each
from shoal.ext.spark.engine import carry_out
from shoal.ext.spark.settings import Spark
from shoal.measures.cautions import cautions_of_plan
from shoal.measures.exposure import exposure
from shoal.measures.named_rare_values import uncounted
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.tables.find_hierarchies import Hierarchies
from shoal.tables.native import Native
from shoal.tables.open_table import warn_undecided
from shoal.verbs.anonymize import StageTimer, advice, collect_warnings
from shoal.verbs.provenance import digest_of, run_digests
from shoal.verbs.randomness import warn_of_short

if TYPE_CHECKING:
    from shoal.verbs.anonymize import Progress


def anonymize_on_spark(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: tuple[Rule, ...],
    engine: Spark | None,
    progress: Progress | None,
) -> tuple[Release[Any], pl.DataFrame | None]:
    """Carry a plan out on Spark, where the table stays.

    Return the release, and the table that it was made from if the engine is to bring both here.
    """
    start, clock = time.perf_counter(), StageTimer(progress or (lambda stage: None))
    final = plan.final()
    with collect_warnings() as said:
        warn_of_short(final)
        run, tables, here = carry_out(data, final, hierarchies, extra, engine or Spark(), clock)
        warn_undecided(run.schema)
        rules = build_rules([part.spec for part in final.rules], run.schema.sensitive)
        warn_each(cautions_of_plan(run.schema, final, (*rules, *extra)))
        warn_each(uncounted(run.schema, final))
    clock.seconds["total"] = time.perf_counter() - start
    opened, original = here or (None, None)
    told = list(dict.fromkeys([*said, *advice(final)]))
    exposed = None if opened is None else exposure(opened.published, opened.sensitive, ())
    if exposed is not None and exposed.warns:
        told.append(exposed.describe())
    marked = run_digests(digest_of(data), None, plan, {}, "spark")
    more: dict[str, Any] = {"warnings": tuple(told), "exposure": exposed, "marks": marked}
    run = replace(run, seconds=clock.seconds, **more)
    return Release(opened, run, Native(), tables), original
