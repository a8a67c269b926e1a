"""What somebody reads off who subtracts one release from another, class by class."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.privacy import Rule
from shoal.releases.generalized.check import verify

_BEFORE, _NOW = "\x00before", "\x00now"


def differing(
    before: pl.DataFrame, now: pl.DataFrame, columns: Sequence[str], rules: Sequence[Rule]
) -> int:
    """Return how many classes differ by rows alone that break a promise by themselves.

    Counted are classes of both releases whose values all grew, or all fell, in number: if everybody
    of the smaller one is in the other, too, what is more is what those have who came or left.
    """
    broken: set[tuple[object, ...]] = set()
    names = list(columns)
    for rule in rules:
        key = [*names, str(rule.column)]
        counts = (
            before.group_by(key)
            .agg(pl.len().alias(_BEFORE))
            .join(
                now.group_by(key).agg(pl.len().alias(_NOW)),
                on=key,
                how="full",
                coalesce=True,
                nulls_equal=True,
            )
            .with_columns(pl.col(_BEFORE, _NOW).fill_null(0).cast(pl.Int64))
        )
        more = pl.col(_NOW) - pl.col(_BEFORE)
        sums = counts.with_columns(
            pl.col(_BEFORE).sum().over(names).alias("\x00all before"),
            pl.col(_NOW).sum().over(names).alias("\x00all now"),
            more.min().over(names).alias("\x00least"),
            more.max().over(names).alias("\x00most"),
        )
        there = (pl.col("\x00all before") > 0) & (pl.col("\x00all now") > 0)
        one_way = (pl.col("\x00least") >= 0) | (pl.col("\x00most") <= 0)
        rest = sums.filter(there & one_way & (more != 0))
        rows = rest.select(pl.col(key).repeat_by(more.abs())).explode(key)
        if rows.is_empty():
            continue
        verdict = verify(rows, names, [rule], worst=rows.height)
        broken |= {tuple(group.cells.items()) for group in verdict.worst}
    return len(broken)
