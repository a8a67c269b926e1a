"""A generalized release on Spark: tuples are grouped on the driver, or in shards where they are."""

from __future__ import annotations

from shoal.engines.spark.driver import on_the_driver
from shoal.engines.spark.job import Job, Staged
from shoal.engines.spark.shards import on_the_executors
from shoal.engines.spark.tuples import reduced


def stage_generalized(job: Job) -> Staged:
    """Reduce the table to its distinct tuples, group them, and stage the release."""
    with job.clock.stage("encode"):
        counting = reduced(job.table, [*job.quasi, *job.spoken], job.settings, job.plan.seed)
        tuples = counting.__enter__()
    try:
        if tuples.here is not None:
            return on_the_driver(job, tuples)
        return on_the_executors(job, tuples)
    finally:
        counting.__exit__(None, None, None)
