"""Measure the error of counting queries on a release."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError, SchemaError, format_names
from shoal.base.params import Param, check_options
from shoal.base.partition import Floats
from shoal.releases.base import Query, View
from shoal.releases.categories import Coded
from shoal.releases.exact.view import Exact
from shoal.tables.cells import as_text, sorted_values

PARAMS = (
    Param("g", "quasi-identifiers in a query", int, default=3, low=1),
    Param("s", "share of the rows that a query is about", float, default=0.07, low=0, high=1),
    Param("repeats", "number of queries", int, default=1000, low=1),
)


@dataclass(frozen=True)
class QueryError:
    """How wrong a release's answers are.

    Parameters
    ----------
    mse
        Mean over the queries of (1/|S|) sum over values of ((X - estimate) / N) squared.
    relative, median
        Mean and median of |X - estimate| / X, over all values that occur (X > 0) in a query.
    queries, empty
        Queries answered, and those that no row fits, which say nothing and are left out.
    seconds
        Time to answer them.
    """

    mse: float
    relative: float
    median: float
    queries: int
    empty: int
    seconds: float


def workload(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    of: str,
    rng: np.random.Generator,
    *,
    g: int = 3,
    s: float = 0.07,
    repeats: int = 1000,
) -> tuple[Query, ...]:
    """Draw the random queries of the paper.

    Parameters
    ----------
    frame
        The original table.
    quasi, of
        Its quasi-identifiers, and the sensitive column asked about.
    g
        Quasi-identifiers in a query, drawn at random.
    s
        Selectivity: of each of those columns, b = ceil(|A| s^(1 / (g + 1))) values are drawn.
    repeats
        Number of queries.

    Notes
    -----
    Sei, Takenouchi, Ohsuga 2015, after Xiao, Tao 2006. A query asks for the counts of every
    sensitive value among the rows whose g columns all have one of the values drawn: all their
    combinations together, for that is what the selectivity s speaks of.
    """
    check_options({"g": g, "s": s, "repeats": repeats}, PARAMS, "workload")
    if lacking := [name for name in (*quasi, of) if name not in frame.columns]:
        raise SchemaError(
            f"The table has no column {format_names(lacking)}; it has: "
            f"{format_names(frame.columns)}."
        )
    if g > len(quasi):
        raise ParameterError(
            f"A query over g={g} quasi-identifiers needs as many; got {len(quasi)}. "
            f"Take g={len(quasi)} or less."
        )
    values = {name: as_text(sorted_values(frame[name])).to_numpy() for name in quasi}
    queries = []
    for _ in range(repeats):
        where = {}
        for name in rng.choice(list(quasi), g, replace=False).tolist():
            many = max(1, math.ceil(values[name].size * s ** (1 / (g + 1)) - 1e-9))
            where[name] = tuple(rng.choice(values[name], many, replace=False).tolist())
        queries.append(Query(of, where))
    return tuple(queries)


@dataclass(frozen=True, eq=False)
class Truth:
    """The true answers: ``counts[query, value]``."""

    values: tuple[str, ...]
    counts: Floats


def true_counts(frame: pl.DataFrame, quasi: Sequence[str], queries: Sequence[Query]) -> Truth:
    """Answer queries, all about one sensitive column, from the original table."""
    table = Exact(frame, tuple(quasi))
    column = Coded.encode(frame[queries[0].of])
    size = len(column.values)
    counts = np.stack(
        [
            np.bincount(column.codes[table.matching(query)], minlength=size + 1)[:size]
            for query in queries
        ]
    )
    return Truth(tuple(column.texts.to_list()), counts.astype(np.float64))


def query_error(
    release: View,
    queries: Sequence[Query],
    truth: Truth,
    expect: Callable[[Query], Floats] | None = None,
) -> QueryError:
    """Ask a release all queries, or another estimate from it, and compare with the truth."""
    expect = expect or release.expect
    start = time.perf_counter()
    names = release.values(queries[0].of)
    answers = np.stack([expect(query) for query in queries])
    seconds = time.perf_counter() - start
    aligned = _align(answers, names, truth.values)
    rows = truth.counts.sum(axis=1)
    asked = rows > 0
    if not asked.any():
        raise ParameterError(
            f"No row of the table fits any of the {len(queries):,} queries. Take a larger s, or "
            "fewer columns (g)."
        )
    off = np.abs(aligned - truth.counts)[asked]
    mse = ((off / rows[asked, None]) ** 2).mean(axis=1)
    occurs = truth.counts[asked] > 0
    relative = off[occurs] / truth.counts[asked][occurs]
    return QueryError(
        float(mse.mean()),
        float(relative.mean()),
        float(np.median(relative)),
        int(asked.sum()),
        int((~asked).sum()),
        seconds,
    )


def _align(answers: Floats, names: Sequence[str], wanted: Sequence[str]) -> Floats:
    """Put columns of answers in the order of the true values; a value not released counts 0."""
    position = {name: at for at, name in enumerate(names)}
    padded = np.column_stack((answers, np.zeros(answers.shape[0])))
    return padded[:, [position.get(name, len(names)) for name in wanted]]
