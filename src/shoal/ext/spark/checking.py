"""Verify a release on Spark.

Three things are compared. The staged table (every row as it was, beside what it is published as)
must hold the rows of the input, each once. Every published cell in it must cover its source. And
the release, read back from where it was written, must hold the published half of the staged table,
row for row, and keep the rules.

Rows never come to the driver. What differs does, with counts, when it is little; otherwise the same
questions are asked where the rows are (:mod:`shoal.ext.spark.find_uncovered`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.base.column_names import check_rows
from shoal.ext.spark.columns import SparkTable, without_missing
from shoal.ext.spark.find_uncovered import (
    class_counts,
    keep_rules,
    published_cells,
    uncovered,
)
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import (
    Fingerprint,
    Mark,
    fingerprints,
    fresh_salt,
    hashed,
    sums,
    to_polars,
    totals,
)
from shoal.ext.spark.job import KEPT, Checks, Job, Seen
from shoal.ext.spark.layout import Layout
from shoal.releases.check_counts import COUNT, class_stats, examine, values_of
from shoal.releases.generalized.coverage import covers
from shoal.releases.published import published_columns, read
from shoal.releases.verdict import Uncovered
from shoal.tables.original import Original
from shoal.tables.schema import Schema

AT_ONCE = 500_000
"""Different rows of a staged table or release that come to the driver to be checked, at most."""
_PIECE = 500_000
"""Rows of a release whose classes are looked at together on an executor, at most."""


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


def checks(
    job: Job, staged: Any, layout: Layout, schema: Schema, mark: Mark, different: int | None
) -> Checks:
    """Return what checks a generalized release against its staged table.

    ``different``: how many different pairs of a tuple and what it is published as there are; None:
    too many.
    """
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
    at_once = different is not None and different <= AT_ONCE
    own = own_columns(job, layout)
    changed = {
        name: [inner, *(layout.inside(column) for column in published_columns(columns, [name]))]
        for inner, name in layout.before.items()
    }

    def check_staged(shown: Sequence[Any]) -> Seen:
        marked = marks(staged, own, shown, mark.salt)
        if at_once:
            before, after, pairs = _pairs(marked, changed)
            good = all(_all_covered(name, pairs[name], cells, clean, job) for name in pairs)
        else:
            before, after = fingerprints(marked[0], marked[1:])
            good = False
        bare: tuple[Uncovered, ...] = ()
        if not good:  # not known, or to be said of how many cells
            bare = uncovered(staged.where(KEPT), layout.before, cells, clean, job.taxonomies)
        return Seen(after, [], [*against(mark, before), *(column.describe() for column in bare)])

    def check_release(release: Any) -> Seen:
        if at_once:
            return _classes(release, mark.salt, quasi, sensitive, job, schema)
        (fingerprint,) = fingerprints(release, [hashed(release.columns, mark.salt)])
        least = int(job.spark.conf.get("spark.sql.shuffle.partitions"))
        pieces = max(least, -(-mark.found[0] // _PIECE))
        return Seen(
            fingerprint, keep_rules(release, quasi, sensitive, job.rules, schema, pieces), []
        )

    return Checks(check_staged, check_release)


def _pairs(
    marked: tuple[Any, Any, Any], changed: Mapping[str, Sequence[str]]
) -> tuple[Fingerprint, Fingerprint, dict[str, pl.DataFrame]]:
    """Take both fingerprints of a staged table, and bring what differs in it to the driver.

    That is for each changed column every original beside what it was published as, once: whether
    a cell covers its source is a question of the two alone.

    Parameters
    ----------
    marked
        The table with hashes of what was and of what is published, from :func:`marks`.
    changed
        Where the original and what is published of it stand, by column.
    """
    both, before, after = marked
    pairs = [
        F.collect_set(F.when(F.col(KEPT), F.struct(*inner))).alias(f"pairs{j}")
        for j, inner in enumerate(changed.values())
    ]
    chosen = both.select(
        *dict.fromkeys(name for inner in changed.values() for name in inner),
        KEPT,
        before.alias("before"),
        after.alias("after"),
    )
    collected = to_polars(
        chosen.agg(
            *sums(F.col("before"), "before"), *sums(F.col("after"), "after"), *pairs
        ).toArrow()
    )
    different = {
        name: collected[f"pairs{j}"].explode().drop_nulls().struct.unnest()
        for j, name in enumerate(changed)
    }
    return totals(collected, "before"), totals(collected, "after"), different


def _all_covered(
    name: str, pairs: pl.DataFrame, published: Mapping[str, str], schema: Schema, job: Job
) -> bool:
    """Tell whether every published cell of one column covers the originals it stands for."""
    if not pairs.height:
        return True
    alone = Schema((schema[name],))
    source = pairs.select(pl.first().alias(name))
    released = pairs.select(pl.col(x).alias(published[x]) for x in pairs.columns[1:])
    trees = {name: job.taxonomies[name]} if name in job.taxonomies else {}
    original = Original(source, alone, np.arange(pairs.height), trees)
    return not covers(original, read(released, [name]))


def _classes(
    release: Any,
    salt: int,
    quasi: Sequence[str],
    sensitive: Mapping[str, str],
    job: Job,
    schema: Schema,
) -> Seen:
    """Bring the classes of the whole release to the driver, with counts, and ask the rules."""
    names = {f"s{i}": name for i, name in enumerate(sensitive)}
    mark = hashed(release.columns, salt).alias("mark")
    counted = (
        published_cells(release, quasi, sensitive, mark)
        .groupBy(*quasi, *names)
        .agg(F.count(F.lit(1)).alias("n"), *sums(F.col("mark"), "mark"))
    )
    table = to_polars(counted.toArrow())
    counts, columns = class_counts(table, quasi, names)
    values = {}
    for name in names.values():
        per_value = counts.group_by(name).agg(pl.col(COUNT).sum())
        values[name] = values_of(
            per_value[name], per_value[COUNT].to_numpy().astype(np.int64), schema
        )
    kept = examine(class_stats(counts, columns, values), job.rules)
    return Seen(totals(table, "mark"), [kept], [])
