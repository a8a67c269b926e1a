"""Bring a release and its table from Spark to this machine for a report."""

from __future__ import annotations

import polars as pl

from shoal.base.errors import ParameterError
from shoal.ext.spark.columns import SparkTable
from shoal.ext.spark.hashing import to_polars
from shoal.ext.spark.job import KEPT, Job, Staged
from shoal.ext.spark.settings import Spark
from shoal.releases.opened import Opened

Brought = tuple[Opened, pl.DataFrame]
"""A release, and the rows that it was made from."""


def check_size(table: SparkTable, settings: Spark) -> None:
    """Refuse a table that this machine cannot look at as a whole, before anything is grouped."""
    rows = int(table.rows.count())
    # Twice the columns: as they were, and as they are published.
    if not settings.fits(rows, rows, 2 * len(table.names)):
        raise ParameterError(
            f"A report looks at every row on this machine, and the table has {rows:,} of them, "
            f"more than may come here ({settings.driver_tuples:,}, or its memory). Raise "
            "--driver-tuples (driver_tuples, driver_bytes), or leave --report (here=True) out: "
            "the figures of the run (--json) are those of all rows."
        )


def collect_release(job: Job, staged: Staged) -> Brought:
    """Return the release, and the table beside it, as polars has them.

    Both come from the staged table, whose published half was found to be what was written. Rows
    stand in the order of the release.
    """
    rows = to_polars(staged.rows.toArrow())
    layout = staged.layout
    at = {name: inner for inner, name in {**layout.before, **layout.passed()}.items()}
    original = rows.select(pl.col(at[name]).alias(name) for name in job.table.names)
    shown = dict(zip(layout.published, layout.names, strict=True))
    released = rows.filter(KEPT).select(pl.col(inner).alias(name) for inner, name in shown.items())
    about = staged.schema.columns, job.taxonomies
    opened = Opened(
        {"release": released}, *about, shape=job.entry.shape, plan=staged.plan.unseeded()
    )
    return opened, original
