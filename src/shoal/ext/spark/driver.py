"""Group the distinct tuples on the Spark driver with the local methods."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible, warn
from shoal.base.seeds import stretch_seed
from shoal.coding.encode import Encoded, encode
from shoal.ext.spark.assign_classes import (
    LABEL,
    MANY,
    hand_out,
    is_small,
    shares,
    to_spark,
    with_cells,
)
from shoal.ext.spark.checking import checks
from shoal.ext.spark.columns import without_missing
from shoal.ext.spark.functions import F
from shoal.ext.spark.group_tuples import Assignment, assign, whole
from shoal.ext.spark.job import KEPT, Job, Staged
from shoal.ext.spark.layout import Layout, generalized, shuffled
from shoal.ext.spark.tuples import KEY, Tuples
from shoal.measures.named_rare_values import check_labels
from shoal.plan.plan import Plan
from shoal.tables.open_table import resolve_schema
from shoal.tables.schema import Schema


def on_the_driver(job: Job, tuples: Tuples) -> Staged:
    """Group all tuples here, and stage the release."""
    from shoal.verbs.anonymize import group  # no executor needs it

    with job.clock.stage("encode"):
        cells, counts, keys = tuples.collected()
        plan, schema = resolve_schema(job.table.head(cells), job.plan, job.taxonomies)
        data = encoded(job, cells, schema)
        many = counts.to_numpy().astype(np.int64)
        for text in check_labels(data, schema, plan, dict.fromkeys(data.names, many)):
            warn(text)
        if obstacle := job.rule.obstacle(whole(data, many)):
            raise Infeasible(obstacle)
    with job.clock.stage("group"):
        rng = generator(plan)
        made = assign(
            data,
            many,
            schema,
            lambda rows: group(job.entry, rows, job.rule, rng, job.options, job.clock, job.plan),
            typed=plan.release.ends,
        )
    with job.clock.stage("recode"):
        layout = generalized(job.table, schema, made.cells.columns)
        rows = _handed_out(job, tuples, layout, made, keys)
        staged = stage(job, rows, layout)
    notes = {**made.notes, "engine": "spark", "tuples": tuples.size, "shards": 1}
    asked = checks(job, staged, layout, schema, tuples.mark)
    return Staged(staged, layout, plan, schema, tuples.total, made.loss, made.groups, notes, asked)


def encoded(job: Job, cells: pl.DataFrame, schema: Schema) -> Encoded:
    """Turn cells, each combination once, into positions over the domains of the whole table."""
    wanted = [*job.quasi, *job.spoken]
    ordered = [name for name in job.table.names if name in wanted]
    clean = without_missing(schema, schema.quasi)
    small = Schema(tuple(column for column in clean.columns if column.name in wanted))
    flat = job.entry.flat_sets
    return encode(cells.select(ordered), small, dict(job.taxonomies), flat_sets=flat)


def generator(plan: Plan, *place: int) -> np.random.Generator:
    """Return the randomness for grouping: with a seed, the same as the local engine's.

    ``place``: the number of a shard, which has a stream of its own.
    """
    if plan.seed is None:
        return np.random.default_rng()
    return np.random.default_rng(
        np.random.SeedSequence(stretch_seed(plan.seed), spawn_key=(0, *place))
    )


def _handed_out(job: Job, tuples: Tuples, layout: Layout, made: Assignment, keys: pl.Series) -> Any:
    share = shares(made, keys)
    cells = made.cells.rename({name: layout.inside(name) for name in made.cells.columns})
    cells = cells.with_columns(pl.Series(LABEL, np.arange(cells.height, dtype=np.int64)))
    passed = [job.table.at(name) for name in layout.passed().values()]
    alone = to_spark(job.spark, share.filter(~pl.col(MANY)).select(KEY, LABEL))
    several = share.filter(MANY).drop(MANY)
    split = to_spark(job.spark, several) if several.height else None
    rows = hand_out(tuples, alone, split, passed, seed=job.plan.seed, small=is_small(share))
    return with_cells(rows, to_spark(job.spark, cells), small=is_small(cells))


def bare(schema: Any) -> Any:
    """Return the types of a table's columns without what else its owner keeps with them.

    Spark carries comments, and the values that somebody once numbered, from file to file.
    """
    fields = json.loads(
        schema.json(), object_hook=lambda own: own | ({"metadata": {}} if "metadata" in own else {})
    )
    return type(schema).fromJson(fields)


def stage(job: Job, rows: Any, layout: Layout) -> Any:
    """Write rows with their originals and published cells, and return them read from the disk.

    They are in the order of the release already, so that publishing them moves no row.
    What is checked is then what is written: nothing is computed a second time in between.
    """
    passed = {inner: job.table.at(source) for inner, source in layout.passed().items()}
    path = f"{job.folder}/rows"
    chosen = rows.select(
        *(F.col(job.table.at(name)).alias(inner) for inner, name in layout.before.items()),
        *(F.col(passed.get(inner, inner)).alias(inner) for inner in layout.published),
        KEPT,
    )
    chosen = shuffled(chosen, layout.published)
    chosen.write.parquet(path)
    return job.spark.read.schema(bare(chosen.schema)).parquet(path)
