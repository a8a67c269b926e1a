"""Tables that stay on Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.api.release import Release
from shoal.base.errors import ParameterError
from shoal.engines.marks import digest_of, marks
from shoal.engines.spark.settings import Spark, is_spark_frame
from shoal.measures.exposure import exposure
from shoal.plan.plan import Plan
from shoal.privacy import Rule
from shoal.tables.gathering import Hierarchies
from shoal.tables.native import Native
from shoal.tables.prepare import check_no_database

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
    from shoal.verbs.anonymize import Clock, on_spark

    if plan.release.as_in_paper:
        raise ParameterError(
            "--as-in-paper (as_in_paper=True) runs a method on one machine, as the papers do. "
            "Leave it out, or leave out the engine."
        )
    clock = Clock(progress or (lambda stage: None))
    run, tables, here = on_spark(data, plan.final(), hierarchies, extra, engine or Spark(), clock)
    run = replace(run, marks=marks(digest_of(data), None, plan, {}, "spark"))
    if here is None:
        return Release(None, run, Native(), tables)
    opened, original = here
    exposed = exposure(opened.published, opened.sensitive, ())
    said = [exposed.describe()] if exposed is not None and exposed.warns else []
    run = replace(run, exposure=exposed, warnings=(*run.warnings, *said))
    return Release(opened, run, Native(), tables, original)


def wants_spark(data: Any, engine: Spark | None, table: str | None, query: str | None) -> bool:
    """Tell whether Spark does the work, and refuse a database there."""
    if engine is None and not is_spark_frame(data):
        return False
    check_no_database(data, table, query)
    return True
