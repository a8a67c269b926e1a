"""Publish each group with the join of its members (recoding)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import SchemaError, ShoalError
from shoal.base.partition import Bools, Ints, Partition
from shoal.base.roles import Kind, Role
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.joins import Join, each_once, joins
from shoal.releases import notation
from shoal.releases.base import MadeTables
from shoal.tables.domain import STAR, Domain, Ordered, Taxonomy
from shoal.tables.label_spans import label_spans
from shoal.tables.schema import Column, Schema


def generalize(
    frame: pl.DataFrame,
    schema: Schema,
    data: Encoded,
    partition: Partition,
    *,
    typed: bool = False,
    mid: bool = False,
    order: npt.NDArray[np.integer] | None = None,
) -> MadeTables:
    """Publish a table: identifiers dropped, quasi-identifiers recoded, the rest as it is.

    Parameters
    ----------
    frame
        The table that was encoded.
    schema
        The declared columns; a column that it does not name is not published.
    data, partition
        The encoded table and its groups.
    typed
        Publish an ordered column ``x``, or one whose hierarchy is of numbers and intervals, as two
        columns ``x_lo`` and ``x_hi`` of its own type (both null for ``*``) instead of text.
    mid
        And as a third, ``x_mid``, half-way between the two.
    order
        All row numbers of the input in the order in which to publish them, usually
        ``rng.permutation(n)``; left-out rows are skipped. None keeps the input's order, which tells
        the reader more than the cells do: for tests only.
    """
    if frame.height != data.rows:
        raise ShoalError(
            f"The frame has {frame.height} rows but {data.rows} were encoded: "
            "publish the frame that was encoded."
        )
    rows = _published_rows(partition, data.rows, order)
    groups = partition.labels()[rows]
    join_of = dict(zip(data.names, joins(data, partition), strict=True))

    def one(name: str) -> list[pl.Series]:
        column = schema[name]
        if name in join_of:
            return format_column(column, join_of[name], groups, typed=typed, mid=mid)
        if column.role is Role.QUASI:
            raise SchemaError(
                f"The quasi-identifier {name!r} was not encoded, so it cannot be generalized: "
                f"encoded are {', '.join(map(repr, data.names))}. Encode with the same schema."
            )
        return [frame[name].gather(rows)] if column.role.published else []

    declared = [name for name in frame.columns if name in schema]
    columns = [column for published in share(one, declared) for column in published]
    check_names([column.name for column in columns])
    return MadeTables({"release": pl.DataFrame(columns)}, rows)


publish = generalize  # what every shape calls it


def format_column(
    column: Column, join: Join, groups: Ints, *, typed: bool, mid: bool = False
) -> list[pl.Series]:
    """Return a quasi-identifier as it is published, a cell for each of ``groups``."""
    ends = reach(column, join.domain) if typed else None
    if ends is not None:
        first, last = _typed(column.name, join, ends, groups)
        return [first, last, *(_middle(column.name, first, last) if mid else ())]
    labels = _labels(join, quote=column.kind is Kind.SET)
    _, which = join.distinct
    return [labels.gather(which[groups]).alias(column.name)]


def _labels(join: Join, *, quote: bool) -> pl.Series:
    """Write each different join of a column once. ``quote``: leaves are raw values of a set."""
    first, _ = join.distinct
    domain = join.domain
    if isinstance(domain, Taxonomy):
        labels = notation.node_labels(domain)
        if quote:
            leaves = notation.exact(pl.Series(domain.values, dtype=pl.String))
            labels = pl.concat([leaves, labels[domain.size :]])
        return labels.gather(join.label[first])
    star = join.star[first]
    written = pl.Series([STAR]).extend_constant(STAR, first.size)[: first.size]
    lo, hi = join.lo[first], join.hi[first]
    if isinstance(domain, Ordered):
        one = ~star & (lo == hi)
        wide = ~star & (lo != hi)
        written = _put(written, one, notation.exact(domain.values).gather(lo[one]))
        low, high = domain.ends or (domain.values, None)
        written = _put(written, wide, notation.intervals(low, lo[wide], hi[wide], high))
        return _opened(written, domain, lo, hi, ~star)
    values = pl.Series(domain.values, dtype=pl.String)
    one = ~star & (lo == hi)
    wide = ~star & (lo != hi)
    written = _put(written, one, notation.exact(values.gather(lo[one])))
    counts = np.diff(join.starts)[first[wide]]
    starts = np.concatenate(([0], np.cumsum(counts)))
    begin = np.repeat(join.starts[first[wide]] - starts[:-1], counts)
    members = join.members[begin + np.arange(starts[-1])]
    return _put(written, wide, notation.sets(domain.values, starts, members))


def _opened(written: pl.Series, domain: Ordered, lo: Ints, hi: Ints, known: Bools) -> pl.Series:
    """Write the cells that top or bottom coding leaves open at an end."""
    up = known & (hi > (domain.size if domain.top is None else domain.top))
    down = known & (lo < (-1 if domain.bottom is None else domain.bottom))
    low, high = domain.ends or (domain.values, domain.values)
    only, under, both = up & ~down, down & ~up, up & down
    written = _put(written, only, notation.from_on(low, lo[only]))
    written = _put(written, under, notation.up_to(high, hi[under]))
    return _put(written, both, pl.Series([notation.UNBOUNDED] * int(both.sum()), dtype=pl.String))


def _put(series: pl.Series, where: Bools, values: pl.Series) -> pl.Series:
    return series.scatter(np.flatnonzero(where), values) if where.any() else series


def reach(column: Column, domain: Domain) -> tuple[pl.Series, pl.Series] | None:
    """Return the ends that cells of a column can have, None where they are no intervals."""
    if isinstance(domain, Ordered):
        return domain.ends or (domain.values, domain.values)
    tree = isinstance(domain, Taxonomy) and column.kind is Kind.TAXONOMY
    return label_spans(domain) if tree and isinstance(domain, Taxonomy) else None


def _middle(name: str, low: pl.Series, high: pl.Series) -> list[pl.Series]:
    """Return what lies half-way between two ends, to the day or the tick; of texts nothing."""
    if low.dtype.is_numeric():
        return [((low.cast(pl.Float64) + high.cast(pl.Float64)) / 2).alias(name + "_mid")]
    if not low.dtype.is_temporal():
        return []
    first, last = (end.to_physical().cast(pl.Int64) for end in (low, high))
    half = first + (last - first) // 2
    return [half.cast(low.to_physical().dtype).cast(low.dtype).alias(name + "_mid")]


def _typed(
    name: str, join: Join, reached: tuple[pl.Series, pl.Series], groups: Ints
) -> tuple[pl.Series, pl.Series]:
    """Return the two ends of a column in its own type, null where it is ``*``."""
    domain = join.domain
    if isinstance(domain, Taxonomy):
        nodes = pl.Series(join.label[groups].astype(np.int64))
        known = nodes.set(nodes > domain.root, None)  # the label after the last is *
        low, high = (end.gather(known) for end in reached)
        return low.alias(f"{name}_lo"), high.alias(f"{name}_hi")
    assert isinstance(domain, Ordered)
    exact = pl.Series((join.lo == join.hi)[groups])
    ends = []
    for side, (suffix, position) in enumerate((("_lo", join.lo), ("_hi", join.hi))):
        index = pl.Series(np.where(join.star, -1, position)[groups])
        known = index.set(index < 0, None)
        end = domain.values.gather(known)
        if domain.ends is not None:
            rounded = reached[side].gather(known)
            end = rounded.zip_with(~exact, end.cast(rounded.dtype))
        ends.append(end.alias(name + suffix))
    return ends[0], ends[1]


def _published_rows(
    partition: Partition, total: int, order: npt.NDArray[np.integer] | None
) -> Ints:
    kept = np.zeros(total, np.bool_)
    kept[partition.rows] = True
    if order is None:
        return np.flatnonzero(kept)
    rows = np.asarray(order, np.int64)
    if rows.shape != (total,) or not each_once(rows, total):
        raise ShoalError(
            f"The order to publish in must hold each row number from 0 to {total - 1} once; got "
            f"{rows.size} numbers. Use rng.permutation({total})."
        )
    return rows[kept[rows]]


def check_names(names: Sequence[str]) -> None:
    """Refuse a typed release whose pair of columns takes the name of another column."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(
                f"The typed release needs a column named {name!r}, but the table has one "
                "already. Rename that column, or publish intervals as text."
            )
        seen.add(name)
