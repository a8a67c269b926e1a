"""Group a table with more distinct tuples than one process holds: shard by shard, on executors.

A shard keeps the rules by itself, so every method that groups rows among themselves can group it
alone, over the domains of the whole table; the groups of all shards together are the answer. The
release is then verified as a whole, like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible, ParameterError, warn
from shoal.base.partition import Ints, Partition
from shoal.base.roles import Kind
from shoal.catalog import METHODS, Method
from shoal.coding.encode import Encoded
from shoal.ext.spark.assign_classes import FIRST, LABEL, LAST, MANY, hand_out, shares
from shoal.ext.spark.checking import checks
from shoal.ext.spark.columns import side_by_side
from shoal.ext.spark.cut_shards import SHARD, Cutter
from shoal.ext.spark.driver import encoded, generator, on_the_driver, stage
from shoal.ext.spark.functions import F
from shoal.ext.spark.group_tuples import assign, whole
from shoal.ext.spark.hashing import to_polars
from shoal.ext.spark.job import KEPT, Job, Staged
from shoal.ext.spark.layout import Layout, generalized
from shoal.ext.spark.tuples import COUNT, KEY, Tuples, count_tuples
from shoal.groupers.slack import widen_cells
from shoal.measures.losses.ncp import Loss
from shoal.measures.named_rare_values import check_labels
from shoal.plan.plan import Plan
from shoal.releases.generalized.make import reach
from shoal.tables.label_spans import label_spans
from shoal.tables.open_table import resolve_schema
from shoal.tables.schema import Schema


def stage_generalized(job: Job) -> Staged:
    """Reduce the table to its distinct tuples, group them, and stage the release."""
    with ExitStack() as stack:
        with job.clock.stage("encode"):
            columns = [*job.quasi, *job.spoken]
            counting = count_tuples(job.table, columns, job.settings, job.plan.seed)
            tuples = stack.enter_context(counting)
        group = on_the_executors if tuples.here is None else on_the_driver
        return group(job, tuples)


def check_shardable(entry: Method, job: Job, tuples: Tuples) -> None:
    """Refuse by name what cannot be done shard by shard."""
    because = None
    if entry.whole:
        because = f"the method {entry.name!r} cannot be cut into shards: {entry.whole}"
    named = [rule.name for rule in job.rules if not rule.judged_alone]
    if named:
        because = f"the rule {named[0]!r} compares with the whole table, which no shard holds"
    if because is not None:
        able = [m.name for m in METHODS.values() if m.release == entry.release and not m.whole]
        raise ParameterError(
            f"The table has {tuples.size:,} distinct tuples in {tuples.total:,} rows, more than "
            f"one process may group at once ({job.settings.driver_tuples:,} tuples, or its "
            f"memory), and {because}. Raise --driver-tuples (driver_tuples, driver_bytes), or "
            f"choose another: {', '.join(able[:-1])} and {able[-1]} group shards, under any rule "
            "but those on the whole table."
        )


def on_the_executors(job: Job, tuples: Tuples) -> Staged:
    """Cut the tuples into shards, have the executors group them, and stage the release."""
    check_shardable(job.entry, job, tuples)
    with job.clock.stage("encode"):
        tuples.check_keys()
        cells = _dictionaries(tuples)
        plan, schema = resolve_schema(job.table.head(cells), job.plan, job.taxonomies)
        whole_table = encoded(job, cells, schema)
        for text in check_labels(whole_table, schema, plan, _counts(tuples, cells, schema)):
            warn(text)
        coded = _coded(tuples, cells, whole_table).persist()
        if obstacle := job.rule.obstacle(whole(*_sensitive(coded, whole_table))):
            raise Infeasible(obstacle)
        cutter = Cutter(
            coded, whole_table.domains, whole_table.sensitive_names, job.rule, job.settings
        )
        labelled = cutter.cut()
    try:
        with job.clock.stage("group"):
            layout = generalized(job.table, schema, _published(schema, whole_table, plan))
            shared = _grouped(job, plan, schema, layout, whole_table, labelled)
            figures = shared.where("groups is not null").select("loss", "rows", "removed", "groups")
            shards = figures.toArrow().to_pylist()
    finally:
        coded.unpersist()
    with job.clock.stage("recode"):
        passed = [job.table.at(name) for name in layout.passed().values()]
        cells_only = shared.drop("loss", "rows", "removed", "groups")
        alone = cells_only.where(f"not {MANY}").drop(FIRST, LAST, MANY)
        split = cells_only.where(MANY).drop(MANY)
        rows = hand_out(tuples, alone, split, passed, seed=plan.seed, small=False)
        staged = stage(job, rows.selectExpr("*", f"{LABEL} >= 0 as {KEPT}"), layout)
    notes = {"engine": "spark", "tuples": tuples.size, "shards": len(shards)}
    return Staged(
        staged,
        layout,
        plan,
        schema,
        tuples.total,
        _loss(shards, whole_table.names, tuples.total),
        sum(shard["groups"] for shard in shards),
        notes,
        checks(job, staged, layout, schema, tuples.mark),
    )


def _dictionaries(tuples: Tuples) -> pl.DataFrame:
    """Return the different values of every column, side by side; shorter columns end in nulls."""
    # In a struct, because a set leaves out what is missing.
    sets = [
        F.collect_set(F.struct(tuples.table.at(name))).alias(f"d{i}")
        for i, name in enumerate(tuples.columns)
    ]
    values = to_polars(tuples.found.agg(*sets).toArrow())
    return side_by_side(
        [
            values[f"d{i}"].explode().struct.unnest().to_series().alias(name)
            for i, name in enumerate(tuples.columns)
        ]
    )


def _counts(tuples: Tuples, cells: pl.DataFrame, schema: Schema) -> dict[str, Ints]:
    """Return for each column with a hierarchy how many rows have each of its values."""
    counts = {}
    for name in schema.quasi:
        if schema[name].kind is Kind.TAXONOMY:
            inner = tuples.table.at(name)
            found = tuples.found.groupBy(inner).agg(F.sum(COUNT).alias(COUNT))
            own = to_polars(found.toArrow()).rename({inner: name})
            joined = cells.select(name).join(own, on=name, how="left", maintain_order="left")
            counts[name] = joined[COUNT].fill_null(0).to_numpy().astype(np.int64)
    return counts


def _coded(tuples: Tuples, cells: pl.DataFrame, whole_table: Encoded) -> Any:
    """Return every tuple as positions and codes, with its key and count."""
    words = {}
    inner = {name: tuples.table.at(name) for name in tuples.columns}
    for j, name in enumerate(whole_table.names):
        words[f"q{j}"] = (inner[name], cells[name], whole_table.codes[:, j])
    for i, (name, codes) in enumerate(whole_table.sensitive.items()):
        words[f"s{i}"] = (inner[name], cells[name], codes)
    index = {
        new: (old, pl.DataFrame({"cell": cell, "code": code}).unique("cell", keep="first"))
        for new, (old, cell, code) in words.items()
    }

    def code(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            frame = to_polars(batch)
            columns = [frame[KEY], frame[COUNT]]
            for new, (old, table) in index.items():
                own = pl.DataFrame({"cell": frame[old]})
                coded = own.join(
                    table, on="cell", how="left", nulls_equal=True, maintain_order="left"
                )
                columns.append(coded["code"].cast(pl.Int32).alias(new))
            yield from pl.DataFrame(columns).to_arrow().to_batches()

    fields = [f"{KEY} bigint", f"{COUNT} bigint", *(f"{name} int" for name in words)]
    return tuples.found.mapInArrow(code, ", ".join(fields))


def _sensitive(coded: Any, whole_table: Encoded) -> tuple[Encoded, Any]:
    """Return the combinations of sensitive codes with their counts, as a table of tuples."""
    names = list(whole_table.sensitive)
    counted = coded.groupBy(*(f"s{i}" for i in range(len(names)))).agg(F.sum(COUNT).alias("rows"))
    counts = to_polars(counted.toArrow())
    codes = {name: counts[f"s{i}"].to_numpy() for i, name in enumerate(names)}
    empty = np.empty((counts.height, 0), np.int32)
    table = Encoded((), empty, (), codes, whole_table.sensitive_names)
    return table, counts["rows"].to_numpy().astype(np.int64)


def _published(schema: Schema, whole_table: Encoded, plan: Plan) -> list[str]:
    """Return the columns that the quasi-identifiers are published as."""
    names = []
    for name, domain in zip(whole_table.names, whole_table.domains, strict=True):
        ends = reach(schema[name], domain) if plan.release.ends else None
        names += [f"{name}_lo", f"{name}_hi"] if ends else [name]
    return names


def _grouped(
    job: Job, plan: Plan, schema: Schema, layout: Layout, whole_table: Encoded, labelled: Any
) -> Any:
    """Have every shard grouped where it is; return which tuple is published as what.

    It is written down before it is used: without a seed, grouping again would give another answer.
    The first row of a shard carries its figures.
    """
    from pyspark.sql import types as T  # noqa: N812
    from pyspark.sql.pandas.types import to_arrow_schema

    table = job.table.rows.schema
    cells = [
        (layout.inside(name), _type_of(name, schema, table, job, T))
        for name in _published(schema, whole_table, plan)
    ]
    long, maybe = T.LongType(), T.ArrayType(T.DoubleType())
    shape = T.StructType(
        [T.StructField(name, long) for name in (KEY, LABEL, FIRST, LAST)]
        + [T.StructField(MANY, T.BooleanType())]
        + [T.StructField(name, kind) for name, kind in cells]
        + [T.StructField("loss", maybe)]
        + [T.StructField(name, long) for name in ("rows", "removed", "groups")]
    )
    arrow = to_arrow_schema(shape, timezone=job.spark.conf.get("spark.sql.session.timeZone"))
    rule, options, entry = job.rule, dict(job.options), job.entry
    none = np.empty(0, np.int64)  # the table of the driver stays there, what it knows goes along
    names, space, typed = whole_table.names, whole_table.take(none), plan.release.ends

    def group(shard: tuple[Any, ...], rows: Any) -> Any:
        frame = to_polars(rows).sort(KEY)  # no order that Spark happens to give
        codes = frame.select(f"q{j}" for j in range(len(names))).to_numpy().astype(np.int32)
        hidden = {name: frame[f"s{i}"].to_numpy() for i, name in enumerate(space.sensitive)}
        data = replace(space, codes=np.ascontiguousarray(codes), sensitive=hidden)
        rng = generator(plan, int(shard[0].as_py()))
        counts = frame[COUNT].to_numpy().astype(np.int64)

        def grouped(own: Encoded) -> Partition:
            return widen_cells(own, entry.load()(own, rule, rng, **options), plan, rng)

        made = assign(data, counts, schema, grouped, typed=typed)
        share = shares(made, frame[KEY])
        at = pl.Series(np.where(made.label < 0, 0, made.label))
        shown = made.cells.rename({name: layout.inside(name) for name in made.cells.columns})
        out = pl.concat([share, shown[at]], how="horizontal")
        gap = [None] * (out.height - 1)
        total = int(counts.sum())
        sums = [made.loss.by_column[name] * total for name in names]
        removed = round(made.loss.removal * total)
        out = out.with_columns(
            pl.Series("loss", [sums, *gap], dtype=pl.List(pl.Float64)),
            pl.Series("rows", [total, *gap], dtype=pl.Int64),
            pl.Series("removed", [removed, *gap], dtype=pl.Int64),
            pl.Series("groups", [made.groups, *gap], dtype=pl.Int64),
        )
        ordered = out.select(field.name for field in arrow)
        return ordered.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(arrow)

    path = f"{job.folder}/shares"
    labelled.groupBy(SHARD).applyInArrow(group, shape).write.parquet(path)
    return job.spark.read.parquet(path)


def _type_of(name: str, schema: Schema, table: Any, job: Job, types: Any) -> Any:
    """Return the type of a published column: text, or for half of a typed pair the input's."""
    if name in schema:
        return types.StringType()
    column = name.removesuffix("_lo").removesuffix("_hi")
    if schema[column].kind is Kind.TAXONOMY:
        ends = label_spans(job.taxonomies[column])
        whole = ends is not None and ends[0].dtype == pl.Int64
        return types.LongType() if whole else types.DoubleType()
    return table[job.table.at(column)].dataType


def _loss(shards: list[dict[str, Any]], names: tuple[str, ...], rows: int) -> Loss:
    """Add up what the shards lost."""
    sums = np.array([shard["loss"] for shard in shards]).sum(axis=0) / rows
    by_column = dict(zip(names, sums.tolist(), strict=True))
    removal = sum(shard["removed"] for shard in shards) / rows
    generalization = float(sums.mean())
    return Loss(generalization + removal, generalization, removal, by_column)
