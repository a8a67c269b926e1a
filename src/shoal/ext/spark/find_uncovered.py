"""Look at a release where its rows are: on the executors, a part of the rows at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ShoalError
from shoal.base.roles import Role
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import to_polars
from shoal.ext.spark.job import Job, Staged
from shoal.ext.spark.session import session_of
from shoal.measures.deduced_values import DeducedValues, read_off
from shoal.privacy import Rule
from shoal.releases.check_counts import COUNT, Findings, Values, class_stats, examine, values_of
from shoal.releases.generalized.coverage import covers
from shoal.releases.opened import Opened
from shoal.releases.published import read
from shoal.releases.verdict import Uncovered
from shoal.tables.domain import Taxonomy
from shoal.tables.original import Original
from shoal.tables.schema import Schema

_CLASSES = 2_000_000
"""Classes that may come to the driver to be read; of more it is not told what they give away."""
_BATCH = 200_000
"""Rows that are compared with their source together, at most."""


def uncovered(
    staged: Any,
    original: Mapping[str, str],
    published: Mapping[str, str],
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[Uncovered, ...]:
    """Look for published cells that do not cover their source.

    Every row is looked at where it is, by :func:`shoal.releases.generalized.coverage.covers`.

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
            beside = Original(source, quasi, np.arange(piece.height), trees)
            faults = covers(beside, read(released, quasi.quasi))
            yield pack_answer([asdict(fault) for fault in faults])

    pairs = staged.select(*original, *published)
    total: dict[str, Uncovered] = {}
    for fault in (fault for faults in collect_answers(pairs, look) for fault in faults):
        earlier = total.get(fault["column"])
        cells = fault["cells"] + (earlier.cells if earlier else 0)
        total[fault["column"]] = Uncovered(fault["column"], cells, fault["example"])
    return tuple(total.values())


def read_off_there(job: Job, staged: Staged, release: Any) -> DeducedValues | None:
    """Say what can be read off a release; its classes come to the driver, its rows do not."""
    if job.entry.shape.exact or staged.groups > _CLASSES:
        return None
    layout = staged.layout
    ends = [name for name, source in zip(layout.names, layout.sources, strict=True) if not source]
    inside = [f"c{i}" for i in range(len(layout.names))]
    held = [inside[layout.names.index(name)] for name in ends]
    counted = release.toDF(*inside).groupBy(*held).agg(F.count(F.lit(1)).alias(COUNT))
    table = pl.DataFrame(pl.from_arrow(counted.toArrow()))
    classes = table.select(held).rename(dict(zip(held, ends, strict=True)))
    opened = Opened(
        {"release": classes},
        staged.schema.columns,
        job.taxonomies,
        shape=job.entry.shape,
        plan=staged.plan.unseeded(),
    )
    return read_off(opened, sizes=table[COUNT].to_numpy().astype(np.int64))


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
        The numbered columns of the quasi-identifiers; those of the sensitive columns that a rule
        speaks of, by name.
    pieces
        In how many pieces the classes are looked at. A class is never cut: its cells say which
        piece it belongs to, and no piece may turn up in two places.
    """
    cells = published_cells(release, quasi, sensitive)
    names = {f"s{i}": name for i, name in enumerate(sensitive)}
    values = {name: counted_values(cells, inner, name, schema) for inner, name in names.items()}
    counted = cells.groupBy(*quasi, *names).agg(F.count(F.lit(1)).alias("n"))
    counted = counted.withColumn("piece", F.pmod(F.xxhash64(*quasi), F.lit(pieces)))
    columns = {name: f"\x00{name}" for name in quasi}  # as no sensitive column can be called

    def look(table: pl.DataFrame) -> Any:
        counts = table.rename(columns | names | {"n": COUNT})
        stats = class_stats(counts, [*columns.values()], values)
        return asdict(examine(stats, rules))

    return [
        Findings(own["rows"], own["classes"], tuple(own["failing"]), tuple(own["achieved"]))
        for own in whole_pieces(counted, pieces, look)
    ]


def whole_pieces(rows: Any, pieces: int, look: Callable[[pl.DataFrame], Any]) -> list[Any]:
    """Have rows looked at by pieces, of which none is cut; their column ``piece`` says which."""

    def gathered(batches: Iterator[Any]) -> Iterator[Any]:
        tables = [to_polars(batch) for batch in batches]
        if any(table.height for table in tables):
            table = pl.concat(tables)
            yield pack_answer([look(table), table["piece"].unique().to_list()])

    answers = collect_answers(rows.repartition(pieces, "piece"), gathered)
    places = [piece for _, own in answers for piece in own]
    if len(places) > len(set(places)):
        raise ShoalError(
            "Spark spread a class of the release over several tasks, so that it could not be "
            "checked as a whole. Nothing was released; please report it with Spark's version."
        )
    return [answer for answer, _ in answers]


def published_cells(release: Any, quasi: Sequence[str], sensitive: Mapping[str, str]) -> Any:
    """Return what rules look at: quasi-identifiers, and sensitive columns as ``s0``, ``s1``, ..."""
    # Text tells -0.0 from 0.0, as the reader of a file can; Spark's groups do not.
    seen = {
        name: F.col(name).cast("string") if kind in ("float", "double") else F.col(name)
        for name, kind in release.dtypes
    }
    return release.select(
        *(seen[name].alias(name) for name in quasi),
        *(F.col(inner).alias(f"s{i}") for i, inner in enumerate(sensitive.values())),
    )


def counted_values(cells: Any, inner: str, name: str, schema: Schema) -> Values:
    """Count every value of a sensitive column once."""
    distinct = to_polars(cells.groupBy(inner).agg(F.count(F.lit(1)).alias("n")).toArrow())
    return values_of(distinct[inner].alias(name), distinct["n"].to_numpy().astype(np.int64), schema)


def _pieces(batches: Iterator[Any]) -> Iterator[pl.DataFrame]:
    """Put small batches together: looking at many rows costs little more than at few."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(to_polars(batch))
        if sum(frame.height for frame in held) >= _BATCH:
            yield pl.concat(held)
            held = []
    if sum(frame.height for frame in held):
        yield pl.concat(held)


def pack_answer(answer: Any) -> Any:
    """Return what was found where rows are, as it travels to the driver."""
    import pyarrow as pa

    schema = pa.schema([("said", pa.string())])
    return pa.RecordBatch.from_pydict({"said": [json.dumps(answer)]}, schema)


def collect_answers(rows: Any, look: Callable[[Iterator[Any]], Iterator[Any]]) -> list[Any]:
    """Have rows looked at where they are, and return all that was :func:`pack_answer`."""
    said = rows.mapInArrow(look, "said string").toArrow()["said"]
    return [json.loads(text) for text in said.to_pylist()]


def rows_of(released: Any, of: str, by: Sequence[str]) -> pl.DataFrame:
    """Return a release in the columns that an estimate looks at, counted on the executors.

    Only different rows travel, each once with its count. Without ``by`` a generalized release is
    taken with all its columns, since they tell what it is.
    """
    session_of(released)
    names = list(released.columns)
    kinds = dict(released.dtypes)
    wanted = {name for column in by for name in (column, f"{column}_lo", f"{column}_hi")} | {of}
    if not by and not kinds.get(of, "").startswith("array"):
        wanted = set(names)
    chosen = [number for number, name in enumerate(names) if name in wanted]
    numbered = released.toDF(*(f"c{i}" for i in range(len(names))))
    inner = [f"c{i}" for i in chosen]
    counted = numbered.groupBy(*inner).agg(F.count(F.lit(1)).alias("n"))
    distinct = to_polars(counted.toArrow())
    many = np.repeat(np.arange(distinct.height), distinct["n"].to_numpy())
    return distinct.drop("n").rename({f"c{i}": names[i] for i in chosen})[many]
