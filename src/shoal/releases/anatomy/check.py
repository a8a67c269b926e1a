"""Check a release of Anatomy from its two published tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.base.errors import InputError, SchemaError, format_names
from shoal.base.partition import GroupStats
from shoal.privacy.base import Rule
from shoal.releases.anatomy import COUNT, GROUP
from shoal.releases.exact import check as exact
from shoal.releases.exact.check import compare, judge, kept, truth
from shoal.releases.opened import Opened
from shoal.releases.published import count_values
from shoal.releases.verdict import Verdict, single_rules
from shoal.tables.cells import as_text, find_positions, missing_to_null, sorted_values
from shoal.tables.domain import STAR
from shoal.tables.original import Original


def check(opened: Opened, rules: Sequence[Rule], source: Original | None = None) -> Verdict:
    """Check an opened release: what the second table says of every group of the first.

    With the source, the first must have the quasi-identifiers as they were, and the second count
    the true values of every group.
    """
    released, table, wanted = opened.frame, opened.tables["st"], single_rules(rules)
    held = [name for name in table.columns if name not in (GROUP, COUNT)]
    if unknown := [name for name in opened.sensitive if name not in held]:
        raise SchemaError(
            f"The second table has no sensitive column {unknown[0]!r}; it has {format_names(held)}."
        )
    if GROUP not in released.columns or len(held) != 1 or not {GROUP, COUNT} <= {*table.columns}:
        raise InputError(
            f"Anatomy publishes a table with the column {GROUP!r} and a second one with {GROUP!r}, "
            f"one sensitive column and {COUNT!r}. Got {format_names(released.columns)} and "
            f"{format_names(table.columns)}."
        )
    if released[GROUP].dtype != table[GROUP].dtype:
        raise InputError(
            f"The classes of the two tables cannot be compared: {GROUP!r} is of type "
            f"{released[GROUP].dtype} in the first and {table[GROUP].dtype} in the second. Write "
            "the numbers of groups alike in both."
        )
    (name,) = held
    told = opened.forbidden()
    if source is not None and source.order is None:
        told += plausible(released, table, source.frame, kept(opened, source), name)
    void = opened.column(name).missing if name in opened.sensitive else ()
    listing = table.select(
        pl.col(GROUP),
        as_text(missing_to_null(missing_to_null(table[name], void), (STAR,))).alias(name),
        pl.col(COUNT).cast(pl.Int64),
    )
    told += _table_faults(released, listing)
    groups = listing[GROUP].unique().sort()
    sizes = listing.group_by(GROUP).agg(pl.col(COUNT).sum()).sort(GROUP)[COUNT].to_numpy()
    at = groups.search_sorted(listing[GROUP]).to_numpy()
    names = sorted_values(listing[name])
    codes, many = find_positions(listing[name], names), listing[COUNT].to_numpy()
    hist = count_values(at, codes, sizes.size, names, many)
    classes = opened.published.sizes
    stats = {None: GroupStats(classes, {}), name: GroupStats(sizes, {name: hist})}
    if source is not None and source.order is not None:
        told += compare(released, source, own=[GROUP])
        told += _true_counts(released, listing, name, source)
    return judge(wanted, stats, told, released.height, classes.size)


def plausible(
    released: pl.DataFrame,
    table: pl.DataFrame,
    original: pl.DataFrame,
    columns: Sequence[str],
    name: str,
) -> list[str]:
    """Compare with an original whose rows stand in another order, and return the faults found.

    The second table must also count every value as often as the original has it.
    """
    faults = exact.plausible(released, original, columns, [name])
    said = (
        table.select(as_text(missing_to_null(table[name])).alias(name), COUNT).group_by(name).sum()
    )
    true = pl.DataFrame({name: as_text(missing_to_null(original[name]))}).group_by(name).len("true")
    both = true.join(said, on=name, how="full", nulls_equal=True)
    differ = both.filter(pl.col("true").cast(pl.Int64).ne_missing(pl.col(COUNT))).height
    if differ:
        faults.append(
            f"{differ:,} values of {name!r} are not counted in the second table as often as the "
            "original has them."
        )
    return faults


def _table_faults(released: pl.DataFrame, listing: pl.DataFrame) -> list[str]:
    faults = []
    own = released.group_by(GROUP).agg(pl.len().cast(pl.Int64).alias("rows"))
    said = listing.group_by(GROUP).agg(pl.col(COUNT).sum())
    both = own.join(said, on=GROUP, how="full", coalesce=True)
    wrong = both.filter(pl.col("rows").ne_missing(pl.col(COUNT))).height
    if wrong:
        faults.append(
            f"{wrong:,} classes have another number of rows in the first table than in the second."
        )
    # What means missing may be spelled in several ways.
    values = listing.drop_nulls().select(pl.exclude(COUNT))
    if values.is_duplicated().any() or (listing[COUNT] < 1).any():
        faults.append("The second table lists a value of a class twice, or a count below 1.")
    return faults


def _true_counts(
    released: pl.DataFrame, listing: pl.DataFrame, name: str, source: Original
) -> list[str]:
    true = (
        pl.DataFrame({GROUP: released[GROUP], name: truth(name, source)})
        .group_by(GROUP, name)
        .agg(pl.len().cast(pl.Int64).alias("true"))
    )
    both = true.join(listing, on=[GROUP, name], how="full", coalesce=True, nulls_equal=True)
    wrong = both.filter(pl.col("true").ne_missing(pl.col(COUNT))).height
    return [f"{wrong:,} counts of the second table are wrong."] if wrong else []
