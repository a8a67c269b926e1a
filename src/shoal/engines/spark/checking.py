"""Verify a release on Spark: by groups over the whole of it, never shard by shard.

Three things are compared. The staged table (every row as it was, beside what it is published as)
must hold the rows of the input, each once. Every published cell in it must cover its source. And
the release, read back from where it was written, must hold the published half of the staged table,
row for row, and keep the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from shoal.coverage import Uncovered, covers
from shoal.domain import Taxonomy
from shoal.engines.spark.columns import without_missing
from shoal.engines.spark.hashing import fingerprints, fresh_salt, hashed
from shoal.engines.spark.job import KEPT, Job
from shoal.engines.spark.layout import Layout
from shoal.errors import ShoalError
from shoal.published import published_columns, read
from shoal.rules import Rule
from shoal.schema import Role, Schema
from shoal.verify_counts import COUNT, Findings, Values, class_stats, examine, values_of

_SAID = "said string"
_PIECE = 500_000
"""Rows of a release whose classes are looked at together, at most."""
_BATCH = 200_000
"""Rows that are compared with their source together, at most."""


def same_rows(
    source: Any, staged: Any, release: Any, passed: Mapping[str, str], shown: Sequence[Any]
) -> list[str]:
    """Compare three tables, whatever the order of their rows.

    Parameters
    ----------
    source, staged, release
        The input, the staged table, and the release read back.
    passed
        Columns of the staged table that must be as in the input, and what they are there.
    shown
        Columns of the staged table as they are written, in the order of the release.
    """
    from pyspark.sql import functions as F  # noqa: N812

    salt = fresh_salt()
    texts = {f"t{i}": column for i, column in enumerate(shown)}
    both = staged.select("*", *(column.alias(name) for name, column in texts.items()))
    published = F.when(F.col(KEPT), hashed(list(texts), salt))
    (first,) = fingerprints(source, [hashed(list(passed.values()), salt)])
    before, after = fingerprints(both, [hashed(list(passed), salt), published])
    (last,) = fingerprints(release, [hashed(release.columns, salt)])
    faults = []
    if first != before:
        faults.append(
            f"The {before[0]:,} rows that were staged are not the {first[0]:,} rows of the input."
        )
    if after != last:
        faults.append(
            f"The {last[0]:,} rows that were written are not the {after[0]:,} rows to publish."
        )
    return faults


def verifier(
    job: Job, staged: Any, layout: Layout, schema: Schema, rows: int
) -> Callable[[Any], tuple[list[Findings], list[str]]]:
    """Return what checks a generalized release of ``rows`` rows against its staged table."""
    passed = layout.passed()
    clean = without_missing(schema, schema.quasi)
    cells = {
        inner: name
        for inner, name in zip(layout.published, layout.names, strict=True)
        if inner not in passed
    }
    columns = pl.DataFrame({name: [] for name in layout.names})
    quasi = [layout.inside(name) for name in published_columns(columns, schema.quasi)]
    sensitive = {name: layout.inside(name) for name in job.spoken}
    pieces = max(int(job.spark.conf.get("spark.sql.shuffle.partitions")), -(-rows // _PIECE))

    def verify(release: Any) -> tuple[list[Findings], list[str]]:
        bare = uncovered(staged.where(KEPT), layout.before, cells, clean, job.taxonomies)
        parts = keep_rules(release, quasi, sensitive, job.rules, schema, pieces)
        return parts, [each.describe() for each in bare]

    return verify


def uncovered(
    staged: Any,
    original: Mapping[str, str],
    published: Mapping[str, str],
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[Uncovered, ...]:
    """Look for published cells that do not cover their source.

    Every row is looked at where it is, by :func:`shoal.coverage.covers`.

    Parameters
    ----------
    original, published
        Names of columns of the staged table, and what they are called outside.
    """
    quasi = Schema(tuple(c for c in schema.columns if c.role is Role.QUASI))
    trees = {name: tree for name, tree in taxonomies.items() if name in quasi}

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        for piece in _pieces(batches):
            source = piece.select(pl.col(x).alias(name) for x, name in original.items())
            released = piece.select(pl.col(x).alias(name) for x, name in published.items())
            found = covers(
                source, read(released, quasi.quasi), np.arange(piece.height), quasi, trees
            )
            yield _batch([json.dumps([asdict(each) for each in found])])

    pairs = staged.select(*original, *published)
    total: dict[str, Uncovered] = {}
    for text in _said(pairs.mapInArrow(look, _SAID)):
        for each in json.loads(text):
            known = total.get(each["column"])
            cells = each["cells"] + (known.cells if known else 0)
            total[each["column"]] = Uncovered(each["column"], cells, each["example"])
    return tuple(total.values())


def keep_rules(
    release: Any,
    quasi: Sequence[str],
    sensitive: Mapping[str, str],
    rules: Sequence[Rule],
    schema: Schema,
    pieces: int,
) -> list[Findings]:
    """Ask the rules about every class of a release.

    Parameters
    ----------
    release
        The release with its columns numbered.
    quasi, sensitive
        The numbered columns of the quasi-identifiers; those of the sensitive columns by name.
    pieces
        In how many pieces the classes are looked at. A class is never cut: its cells say which
        piece it belongs to, and no piece may turn up in two places.
    """
    from pyspark.sql import functions as F  # noqa: N812

    spoken = {rule.column: sensitive[rule.column] for rule in rules if rule.column is not None}
    # Text tells -0.0 from 0.0, as the reader of a file can; Spark's groups do not.
    seen = {
        name: F.col(name).cast("string") if kind in ("float", "double") else F.col(name)
        for name, kind in release.dtypes
    }
    cells = release.select(
        *(seen[name].alias(name) for name in quasi),
        *(F.col(inner).alias(f"s{i}") for i, inner in enumerate(spoken.values())),
    )
    hidden = [f"s{i}" for i in range(len(spoken))]
    values = {
        inner: _values(cells, inner, name, schema)
        for inner, name in zip(hidden, spoken, strict=True)
    }
    counted = cells.groupBy(*quasi, *hidden).agg(F.count(F.lit(1)).alias("n"))
    counted = counted.withColumn("piece", F.pmod(F.xxhash64(*quasi), F.lit(pieces)))
    names = dict(zip(hidden, spoken, strict=True))

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        tables = [_polars(batch) for batch in batches]
        if not any(table.height for table in tables):
            return
        counts = pl.concat(tables).rename({"n": COUNT, **names})
        of = {names[inner]: found for inner, found in values.items()}
        found = examine(class_stats(counts, list(quasi), of), rules)
        yield _batch([json.dumps([asdict(found), counts["piece"].unique().to_list()])])

    heard = [
        json.loads(text)
        for text in _said(counted.repartition(pieces, "piece").mapInArrow(look, _SAID))
    ]
    places = [piece for _, own in heard for piece in own]
    if len(places) > len(set(places)):
        raise ShoalError(
            "Spark spread a class of the release over several tasks, so that it could not be "
            "checked as a whole. Nothing was released; please report it with Spark's version."
        )
    return [
        Findings(each["rows"], each["classes"], tuple(each["failing"]), tuple(each["achieved"]))
        for each, _ in heard
    ]


def _values(cells: Any, inner: str, name: str, schema: Schema) -> Values:
    """Count every value of a sensitive column once."""
    from pyspark.sql import functions as F  # noqa: N812

    found = _polars(cells.groupBy(inner).agg(F.count(F.lit(1)).alias("n")).toArrow())
    return values_of(found[inner].alias(name), found["n"].to_numpy().astype(np.int64), schema)


def _polars(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _pieces(batches: Iterator[Any]) -> Iterator[pl.DataFrame]:
    """Put small batches together: looking at many rows costs little more than at few."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(_polars(batch))
        if sum(each.height for each in held) >= _BATCH:
            yield pl.concat(held)
            held = []
    if sum(each.height for each in held):
        yield pl.concat(held)


def _batch(texts: list[str]) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"said": texts}, pa.schema([("said", pa.string())]))


def _said(frame: Any) -> list[str]:
    return [str(text) for text in frame.toArrow()["said"].to_pylist()]
