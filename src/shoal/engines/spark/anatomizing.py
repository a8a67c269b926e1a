"""Anatomy on Spark: the driver draws a class for every row, the executors find and count the rows.

The draw asks for nothing but how often each sensitive value occurs. Within its value a row is known
by its number, in an order that depends on its published cells and a secret salt; the driver draws
from the secure source which numbers of which value share a class, so the order tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible, ParameterError
from shoal.base.partition import Ints
from shoal.coding.encode import Encoded
from shoal.engines.assigning import whole
from shoal.engines.spark.checking import against, marked, marks, own_columns
from shoal.engines.spark.driver import stage
from shoal.engines.spark.functions import F
from shoal.engines.spark.handout import TURN, to_spark
from shoal.engines.spark.hashing import Mark, fingerprints, fresh_salt, hashed
from shoal.engines.spark.job import KEPT, Checks, Job, Seen, Staged
from shoal.engines.spark.layout import Layout, anatomized
from shoal.engines.spark.looking import counted_values, whole_pieces
from shoal.groupers.anatomy import protected
from shoal.measures.losses.ncp import Loss
from shoal.releases.anatomy import COUNT, GROUP
from shoal.releases.anatomy.check import verify_tables
from shoal.releases.anatomy.make import check_free
from shoal.releases.check_counts import Findings, Values
from shoal.releases.verdict import Original
from shoal.tables.prepare import resolve
from shoal.tables.schema import Schema

_SMALL = 2_000_000
"""Rows whose classes are sent whole to every executor rather than shuffled."""
_PIECE = 200_000
"""Rows whose classes are checked together on an executor, about."""
CELL, FIRST, TEXT, PLACE, LABEL = "cell", "first", "text", "place", "label"


def stage_anatomized(job: Job) -> Staged:
    """Draw a class for every row, and stage the rows with it and the values beside."""
    table = job.table
    with job.clock.stage("encode"):
        check_free(job.schema, folded=True)
        name, _ = protected(job.schema.sensitive, job.rule)
        found = counted_values(table.rows, table.at(name), name, job.schema)
        mark = marked(table)
        plan, schema = resolve(table.head(found.published.to_frame()), job.plan, job.taxonomies)
        if obstacle := job.rule.obstacle(whole(_encoded(name, found, found.codes), found.counts)):
            raise Infeasible(obstacle)
        _check_room(job, mark.found[0])
    with job.clock.stage("group"):
        # Rows of one cell stand together, and nothing else is known of them.
        data = _encoded(name, found, np.repeat(found.codes, found.counts))
        made = job.group(job.entry, data, job.rule, None, job.options)
    with job.clock.stage("recode"):
        layout = anatomized(table, schema)
        index = to_spark(job.spark, _index(found))
        rows = _labelled(job, layout, index, made.labels() + 1)
        staged = stage(job, rows.withColumn(KEPT, F.lit(True)), layout)
    beside = {"st": _second(staged, layout, index, name)}
    asked = _checks(job, staged, layout, schema, mark)
    notes = {**made.notes, "engine": "spark"}
    untouched = Loss.none(job.quasi)
    total = mark.found[0]
    return Staged(
        staged, layout, plan, schema, total, untouched, made.groups, notes, asked, beside=beside
    )


def _encoded(name: str, found: Values, codes: Ints) -> Encoded:
    empty = np.empty((codes.size, 0), np.int32)
    return Encoded((), empty, (), {name: codes.astype(np.int32)}, {name: found.names})


def _check_room(job: Job, rows: int) -> None:
    if not job.settings.fits(1, rows, 1):
        raise ParameterError(
            f"The method {job.entry.name!r} draws a class for each of {rows:,} rows in one "
            "place, which takes more memory than this process may use for it. Raise driver_bytes "
            "(shoal.Spark), or use the method 'dummies', whose draws take no memory."
        )


def _index(found: Values) -> pl.DataFrame:
    """Return every cell with the place of its first row, and the text it is published as."""
    texts = pl.Series(found.names, dtype=pl.String)
    known = pl.Series(found.codes).set(pl.Series(found.codes < 0), None)
    return pl.DataFrame(
        {
            CELL: found.published,
            FIRST: np.cumsum(found.counts) - found.counts,
            TEXT: texts.gather(known),
        }
    )


def _labelled(job: Job, layout: Layout, index: Any, labels: Ints) -> Any:
    """Give every row the number of its class."""
    from pyspark.sql import Window

    (name,) = layout.originals
    own = job.table.at(name)
    passed = [job.table.at(source) for source in layout.passed().values()]
    turns = Window.partitionBy(own).orderBy(hashed(passed, fresh_salt()), *passed)
    numbered = job.table.rows.withColumn(TURN, F.row_number().over(turns))
    placed = numbered.join(F.broadcast(index), F.col(own).eqNullSafe(F.col(CELL)))
    placed = placed.withColumn(PLACE, F.col(FIRST) + F.col(TURN) - 1)
    drawn = to_spark(job.spark, pl.DataFrame({PLACE: np.arange(labels.size), LABEL: labels}))
    both = placed.join(F.broadcast(drawn) if labels.size <= _SMALL else drawn, PLACE)
    return both.withColumn(layout.inside(GROUP), F.col(LABEL))


def _second(staged: Any, layout: Layout, index: Any, name: str) -> Any:
    """Return the second table: how often every class has which value."""
    (inner,) = layout.before
    known = staged.join(F.broadcast(index), F.col(inner).eqNullSafe(F.col(CELL)))
    counted = known.groupBy(layout.inside(GROUP), TEXT).agg(F.count(F.lit(1)).alias("n"))
    # Classes are numbered at random: to sort by them tells nothing.
    return counted.orderBy(layout.inside(GROUP), TEXT).toDF(GROUP, name, COUNT)


def _checks(job: Job, staged: Any, layout: Layout, schema: Schema, mark: Mark) -> Checks:
    """Return what checks the two tables against each other and against what every row was."""
    quasi = [layout.inside(name) for name in job.quasi]

    def check_staged(shown: Sequence[Any]) -> Seen:
        both, own, after = marks(staged, own_columns(job, layout), shown, mark.salt)
        before, published = fingerprints(both, [own, after])
        return Seen(published, [], against(mark, before))

    def check_release(release: Any, second: Any) -> Seen:
        (fingerprint,) = fingerprints(release, [hashed(release.columns, mark.salt)])
        classes = int(release.select(*quasi).distinct().count())
        parts, faults = _looked(job, staged, second, layout, schema, mark.found[0])
        alike = Findings(0, classes, (0,) * len(job.rules), ({},) * len(job.rules))
        return Seen(fingerprint, [*parts, alike], faults)

    return Checks(check_staged, check_release)


def _looked(
    job: Job, staged: Any, second: Any, layout: Layout, schema: Schema, rows: int
) -> tuple[list[Findings], list[str]]:
    """Check whole classes of both tables together, where they are, as the local engine does.

    The second table is the one that was written; the first one's rows stand beside what they were,
    and what was written of them is compared with that as a whole.
    """
    rules, (name,) = job.rules, layout.originals
    group, columns = layout.inside(GROUP), {layout.inside(each): each for each in layout.names}
    passed = layout.passed()
    pieces = max(int(job.spark.conf.get("spark.sql.shuffle.partitions")), -(-rows // _PIECE))
    (own,) = layout.before
    firsts = staged.select(own, *columns, F.lit(None).cast("string").alias(TEXT), _none("n"))
    # As numbers again, should they have been written as texts.
    others = second.toDF(GROUP, TEXT, COUNT).select(
        *(F.lit(None).cast(dict(firsts.dtypes)[each]).alias(each) for each in (own, *passed)),
        F.col(GROUP).cast("bigint").alias(group),
        TEXT,
        F.col(COUNT).cast("bigint").alias("n"),
    )
    both = firsts.unionByName(others).withColumn("piece", F.pmod(F.xxhash64(group), F.lit(pieces)))

    def look(table: pl.DataFrame) -> Any:
        of_first = pl.col("n").is_null()
        first = table.filter(of_first)
        listed = table.filter(~of_first).select(
            pl.col(group).alias(GROUP), pl.col(TEXT).alias(name), pl.col("n").alias(COUNT)
        )
        released = first.select(pl.col(inner).alias(each) for inner, each in columns.items())
        truth = first.select(
            pl.col(own).alias(name), *(pl.col(inner).alias(each) for inner, each in passed.items())
        )
        source = Original(truth, schema, np.arange(first.height))
        verdict = verify_tables(released, listed, schema.quasi, rules, source)
        return [[asdict(result) for result in verdict.rules], list(verdict.faults), first.height]

    answers = whole_pieces(both, pieces, look)
    parts = [
        Findings(
            height,
            0,
            tuple(result["failing"] for result in results),
            tuple(result["achieved"] for result in results),
        )
        for results, _, height in answers
    ]
    return parts, sorted({fault for _, faults, _ in answers for fault in faults})


def _none(name: str) -> Any:
    return F.lit(None).cast("bigint").alias(name)
