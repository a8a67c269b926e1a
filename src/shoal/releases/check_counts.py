"""Does a release keep its promise? Asked of counts: a table too large to look at row by row.

The classes of a published table, each with how often every sensitive value occurs in it, are all
that a rule looks at. They can be counted anywhere and looked at in pieces, as long as each class is
whole; the rules asked are the same as in :mod:`shoal.releases.generalized.check`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import ShoalError
from shoal.base.partition import GroupStats, Histogram, Ints
from shoal.privacy.base import Rule, weakest
from shoal.releases.published import count_values, read
from shoal.releases.verdict import Verdict, describe_broken, make_verdict, result_of
from shoal.tables.cells import as_text, find_positions, missing_to_null, sorted_values
from shoal.tables.domain import STAR
from shoal.tables.schema import Schema

COUNT = "\x00count"


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a sensitive column: as published, how often, the code of each (-1: missing).

    ``names`` says what a code means; ``whole`` how often it occurs in the whole release, ``gaps``
    how often a value is missing there.
    """

    published: pl.Series
    counts: Ints
    codes: Ints
    names: tuple[str, ...]
    whole: Ints
    gaps: int


def values_of(published: pl.Series, counts: Ints, schema: Schema | None = None) -> Values:
    """Number the values of a sensitive column, given each once with its count."""
    column = published
    if schema is not None and column.name in schema:
        column = schema[column.name].clean(column)
    column = missing_to_null(column, (STAR,))
    known = sorted_values(column)
    codes = find_positions(column, known)
    total = np.zeros(max(len(known), 1), np.int64)
    np.add.at(total, codes[codes >= 0], counts[codes >= 0])
    gaps = int(counts[codes < 0].sum())
    return Values(published, counts, codes, tuple(as_text(known).to_list()), total, gaps)


@dataclass(frozen=True)
class Findings:
    """What was found in some of the classes: per rule how many fail and what is reached."""

    rows: int
    classes: int
    failing: tuple[int, ...]
    achieved: tuple[dict[str, Any], ...]


def class_stats(
    counts: pl.DataFrame, columns: Sequence[str], values: Mapping[str, Values]
) -> GroupStats:
    """Return what the rules look at.

    Parameters
    ----------
    counts
        A row for each class and combination of sensitive values, :data:`COUNT` how many there are.
        Every class must be here with all its rows.
    columns
        The columns that hold the published quasi-identifiers.
    values
        The sensitive columns to count.
    """
    many = counts[COUNT].to_numpy().astype(np.int64)
    published = read(counts, columns)
    label, classes = published.labels, published.sizes.size
    sizes = np.zeros(classes, np.int64)
    np.add.at(sizes, label, many)
    return GroupStats(
        sizes,
        {name: _histogram(label, counts[name], many, classes, of) for name, of in values.items()},
    )


def _histogram(label: Ints, cells: pl.Series, many: Ints, classes: int, of: Values) -> Histogram:
    index = pl.DataFrame({"cell": of.published, "code": of.codes})
    coded = pl.DataFrame({"cell": cells}).join(
        index, on="cell", how="left", nulls_equal=True, maintain_order="left"
    )
    if coded["code"].null_count():
        raise ShoalError(
            f"The published column {cells.name!r} holds a value that was not counted before: the "
            "release changed while it was checked."
        )
    names = pl.Series(of.names, dtype=pl.String)
    counted = count_values(label, coded["code"].to_numpy(), classes, names, many)
    return replace(counted, whole=of.whole, whole_gaps=of.gaps)


def examine(stats: GroupStats, rules: Sequence[Rule]) -> Findings:
    """Ask the rules about some of the classes."""
    passed = [np.asarray(rule.holds(stats), np.bool_) for rule in rules]
    return Findings(
        int(stats.sizes.sum()),
        stats.sizes.size,
        tuple(int((~passes).sum()) for passes in passed),
        tuple(rule.achieved(stats) for rule in rules),
    )


def merge_findings(
    parts: Sequence[Findings], rules: Sequence[Rule], faults: Sequence[str] = ()
) -> Verdict:
    """Put together what was found in all the classes, with the faults that others found."""
    rows = sum(findings.rows for findings in parts)
    classes = sum(findings.classes for findings in parts)
    results = []
    for place, rule in enumerate(rules):
        failing = sum(findings.failing[place] for findings in parts)
        reached = weakest((rule, findings.achieved[place]) for findings in parts)
        results.append(result_of(rule, rule.describe(), failing, classes, reached))
    told = [describe_broken(result, classes) for result in results if result.failing]
    return make_verdict(rules, results, [*told, *faults], rows, classes)
