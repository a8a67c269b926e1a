"""Verify a release on Spark.

Three things are compared. The staged table (every row as it was, beside what it is published as)
must hold the rows of the input, each once. Every published cell in it must cover its source. And
the release, read back from where it was written, must hold the published half of the staged table,
row for row, and keep the rules.

Rows never come to the driver: they are looked at where they are, by
:mod:`shoal.ext.spark.find_uncovered`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.base.column_names import check_rows
from shoal.ext.spark.columns import SparkTable, without_missing
from shoal.ext.spark.find_uncovered import (
    keep_rules,
    uncovered,
)
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import Fingerprint, Mark, fingerprints, fresh_salt, hashed
from shoal.ext.spark.job import KEPT, Checks, Job, Seen
from shoal.ext.spark.layout import Layout
from shoal.releases.published import published_columns
from shoal.tables.schema import Schema

_PIECE = 200_000
"""Rows of a release whose classes are looked at together on an executor, more or less."""


def marks(staged: Any, own: Sequence[str], shown: Sequence[Any], salt: int) -> tuple[Any, Any, Any]:
    """Return a staged table and two columns for it: hashes of its originals and of what is shown.

    ``own``: where the columns of the input stand, in the input's order.
    """
    texts = {f"t{i}": column for i, column in enumerate(shown)}
    both = staged.select("*", *(column.alias(name) for name, column in texts.items()))
    return both, hashed(own, salt), F.when(F.col(KEPT), hashed(list(texts), salt))


def marked(table: SparkTable) -> Mark:
    """Count the rows of the input, and take their fingerprint."""
    salt = fresh_salt()
    inner = [table.at(name) for name in table.names]
    (fingerprint,) = fingerprints(table.rows, [hashed(inner, salt)])
    check_rows(fingerprint[0], table.every, "The table")
    return Mark(salt, fingerprint)


def against(mark: Mark, staged: Fingerprint) -> list[str]:
    """Compare the staged rows with those of the input."""
    if staged == mark.found:
        return []
    return [
        f"The {staged[0]:,} rows that were staged are not the {mark.found[0]:,} rows of the input."
    ]


def own_columns(job: Job, layout: Layout) -> list[str]:
    """Return where the columns of the input stand in the staged table, in the input's order."""
    at = {name: inner for inner, name in {**layout.before, **layout.passed()}.items()}
    return [at[name] for name in job.table.names]


def checks(job: Job, staged: Any, layout: Layout, schema: Schema, mark: Mark) -> Checks:
    """Return what checks a generalized release against its staged table."""
    passed = layout.passed()
    cells = {
        inner: name
        for inner, name in zip(layout.published, layout.names, strict=True)
        if inner not in passed
    }
    columns = pl.DataFrame({name: [] for name in layout.names})
    quasi = [layout.inside(name) for name in published_columns(columns, schema.quasi)]
    sensitive = {name: layout.inside(name) for name in job.spoken}
    clean = without_missing(schema, schema.quasi)

    def check_staged(shown: Sequence[Any]) -> Seen:
        both, own, after = marks(staged, own_columns(job, layout), shown, mark.salt)
        before, published = fingerprints(both, [own, after])
        bare = uncovered(staged.where(KEPT), layout.before, cells, clean, job.taxonomies)
        return Seen(published, [], [*against(mark, before), *(each.describe() for each in bare)])

    def check_release(release: Any) -> Seen:
        (published,) = fingerprints(release, [hashed(release.columns, mark.salt)])
        pieces = -(-mark.found[0] // _PIECE)
        kept = keep_rules(release, quasi, sensitive, job.rules, schema, pieces)
        return Seen(published, kept, [])

    return Checks(check_staged, check_release)
