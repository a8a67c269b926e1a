"""A generalized release on Spark: tuples are grouped on the driver, or in shards where they are."""

from __future__ import annotations

from contextlib import ExitStack

from shoal.engines.spark.driver import on_the_driver
from shoal.engines.spark.job import Job, Staged
from shoal.engines.spark.shards import on_the_executors
from shoal.engines.spark.tuples import reduced


def stage_generalized(job: Job) -> Staged:
    """Reduce the table to its distinct tuples, group them, and stage the release."""
    with ExitStack() as stack:
        with job.clock.stage("encode"):
            columns = [*job.quasi, *job.spoken]
            counting = reduced(job.table, columns, job.settings, job.plan.seed)
            tuples = stack.enter_context(counting)
        group = on_the_executors if tuples.here is None else on_the_driver
        return group(job, tuples)
