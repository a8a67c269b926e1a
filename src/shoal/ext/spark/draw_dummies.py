"""Dummy values on Spark: every row's set is drawn where the row is, from the secure source there.

A set is drawn once and written to the disk. Were it computed again for a second reader, the two
draws of one row would share little but the true value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible, InputError
from shoal.base.partition import GroupStats, Histogram
from shoal.coding.encode import Encoded, values_without_rows
from shoal.ext.spark.checking import against, marked, marks, own_columns
from shoal.ext.spark.columns import side_by_side
from shoal.ext.spark.find_uncovered import collect_answers, counted_values, pack_answer
from shoal.ext.spark.hashing import Mark, fingerprints, hashed, to_polars
from shoal.ext.spark.job import KEPT, Checks, Job, Seen, Staged
from shoal.ext.spark.layout import Layout, dummied
from shoal.measures.losses.ncp import Loss
from shoal.privacy import Rule
from shoal.releases.check_counts import Findings, Values
from shoal.releases.dummies import make as dummies
from shoal.releases.dummies.check import check
from shoal.releases.opened import Opened
from shoal.tables.open_table import resolve_schema
from shoal.tables.original import Original
from shoal.tables.schema import Schema


def stage_dummies(job: Job) -> Staged:
    """Draw a set for every sensitive value and stage the rows with both."""
    table = job.table
    with job.clock.stage("encode"):
        sensitive = {
            name: counted_values(table.rows, table.at(name), name, job.schema)
            for name in table.names
            if name in job.schema.sensitive
        }
        mark = marked(table)
        rows = mark.found[0]
        cells = side_by_side([values.published for values in sensitive.values()])
        plan, schema = resolve_schema(table.head(cells), job.plan, job.taxonomies)
        more = {
            name: values_without_rows(schema[name], values.names)
            for name, values in sensitive.items()
        }
        whole = GroupStats(
            np.array([rows], np.int64),
            {name: _one_group(values, more[name]) for name, values in sensitive.items()},
        )
        if obstacle := job.rule.obstacle(whole):
            raise Infeasible(obstacle)
        # An empty draw asks whether every sensitive column has an l.
        empty = _codes(pl.DataFrame(cells.clear()), sensitive, more)
        dummies.draw(empty, job.rule, None, **job.options)
    with job.clock.stage("recode"):
        layout = dummied(table, schema)
        path = f"{job.folder}/rows"
        drawn = _drawn(job, schema, sensitive, more)
        drawn.write.parquet(path)
    untouched = Loss.none(job.quasi)
    staged = job.spark.read.parquet(path)
    notes = {"engine": "spark"}

    domains = {
        name: pl.Series((*values.names, *more[name]), dtype=pl.String)
        for name, values in sensitive.items()
    }
    asked = _checks(job, staged, layout, schema, domains, mark)
    # A set that is drawn again is another one: it is on the disk before a row moves.
    return Staged(staged, layout, plan, schema, rows, untouched, rows, notes, asked, in_order=False)


def _one_group(values: Values, more: tuple[str, ...]) -> Histogram:
    whole = np.append(values.whole[: len(values.names)], np.ones(len(more), np.int64))
    there = np.flatnonzero(whole)
    starts = np.array([0, there.size], np.int64)
    return Histogram(starts, there, whole[there], whole, (*values.names, *more))


def _codes(
    frame: pl.DataFrame, known: Mapping[str, Values], more: Mapping[str, tuple[str, ...]]
) -> Encoded:
    """Return the sensitive columns of some rows as codes; ``more``: values that no row has."""
    sensitive = {}
    for name, values in known.items():
        index = pl.DataFrame({"cell": values.published, "code": values.codes.astype(np.int32)})
        cells = pl.DataFrame({"cell": frame[name]})
        joined = cells.join(index, on="cell", how="left", nulls_equal=True, maintain_order="left")
        if joined["code"].null_count():
            raise InputError(
                f"Column {name!r} holds a value that was not there when its values were counted: "
                "the input changed meanwhile. Run again on a table that stays as it is."
            )
        sensitive[name] = joined["code"].to_numpy()
    names = {name: values.names for name, values in known.items()}
    return Encoded((), np.empty((frame.height, 0), np.int32), (), sensitive, names, unseen=more)


def _drawn(
    job: Job,
    schema: Schema,
    sensitive: Mapping[str, Values],
    more: Mapping[str, tuple[str, ...]],
) -> Any:
    """Return every row with its original sensitive values and what is published of it."""
    from pyspark.sql import types as T  # noqa: N812
    from pyspark.sql.pandas.types import to_arrow_schema

    layout, rule, options = dummied(job.table, schema), job.rule, dict(job.options)
    fields = {name: job.table.rows.schema[job.table.at(name)] for name in job.table.names}
    sets = T.ArrayType(T.StringType())
    sources = zip(layout.names, layout.sources, strict=True)
    kinds = [fields[name].dataType if source else sets for name, source in sources]
    shape = T.StructType(
        [
            *(T.StructField(o, fields[name].dataType) for o, name in layout.before.items()),
            *(T.StructField(p, kind) for p, kind in zip(layout.published, kinds, strict=True)),
            T.StructField(KEPT, T.BooleanType()),
        ]
    )
    arrow = to_arrow_schema(shape, timezone=job.spark.conf.get("spark.sql.session.timeZone"))
    real = {job.table.at(name): name for name in job.table.names}

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            frame = to_polars(batch).rename(real)
            data = _codes(frame, sensitive, more)
            drawn = dummies.draw(data, rule, None, **options)
            published = dummies.publish(frame, schema, data, drawn).frame
            out = pl.DataFrame(
                [
                    *(frame[name].alias(inner) for inner, name in layout.before.items()),
                    *(published[name].alias(layout.inside(name)) for name in layout.names),
                    pl.repeat(True, frame.height, dtype=pl.Boolean, eager=True).alias(KEPT),
                ]
            )
            yield from out.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(arrow).to_batches()

    return job.table.rows.mapInArrow(draw, shape)


def _checks(
    job: Job,
    staged: Any,
    layout: Layout,
    schema: Schema,
    domains: Mapping[str, pl.Series],
    mark: Mark,
) -> Checks:
    """Return what checks every set against its row's true value, and counts the classes."""
    rules = job.rules
    quasi = [layout.inside(name) for name in job.quasi]

    def check_staged(shown: Sequence[Any]) -> Seen:
        both, own, after = marks(staged, own_columns(job, layout), shown, mark.salt)
        before, published = fingerprints(both, [own, after])
        parts, faults = _looked(staged, layout, schema, domains, rules)
        return Seen(published, parts, [*against(mark, before), *faults])

    def check_release(release: Any) -> Seen:
        (fingerprint,) = fingerprints(release, [hashed(release.columns, mark.salt)])
        classes = int(release.select(*quasi).distinct().count())
        return Seen(fingerprint, [Findings(0, classes, (0,) * len(rules), ({},) * len(rules))], [])

    return Checks(check_staged, check_release)


def _looked(
    staged: Any,
    layout: Layout,
    schema: Schema,
    domains: Mapping[str, pl.Series],
    rules: tuple[Rule, ...],
) -> tuple[list[Findings], list[str]]:
    """Ask the rules about every set, where its row is; return what they found, and faults."""
    columns = {layout.inside(name): name for name in layout.names}
    passed = {inner: name for inner, name in columns.items() if name not in domains}

    declared = tuple(
        replace(own, domain=tuple(domains[own.name])) if own.name in domains else own
        for own in schema.columns
    )

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        for frame in map(to_polars, batches):
            if not frame.height:
                continue
            released = frame.select(pl.col(inner).alias(name) for inner, name in columns.items())
            truth = frame.select(
                *(pl.col(inner).alias(name) for inner, name in layout.before.items()),
                *(pl.col(inner).alias(name) for inner, name in passed.items()),
            )
            source = Original(truth, schema, np.arange(frame.height))
            verdict = check(Opened({"release": released}, declared), rules, source)
            results = [asdict(result) for result in verdict.rules]
            yield pack_answer([results, list(verdict.faults), frame.height])

    heard_of = collect_answers(staged, look)
    parts = [
        Findings(
            rows,
            0,
            tuple(result["failing"] for result in results),
            tuple(result["achieved"] for result in results),
        )
        for results, _, rows in heard_of
    ]
    return parts, sorted({fault for _, faults, _ in heard_of for fault in faults})
