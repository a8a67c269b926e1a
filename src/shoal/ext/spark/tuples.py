"""Count the distinct tuples of a Spark table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.base.column_names import check_rows
from shoal.base.errors import ShoalError
from shoal.ext.spark.columns import SparkTable
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import (
    TUPLES,
    Mark,
    fresh_salt,
    hashed,
    salt_of,
    sums,
    to_polars,
    totals,
)
from shoal.ext.spark.settings import Spark

KEY, COUNT, MARK = "key", "n", "mark"


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct tuples of a table: their columns, ``n`` how often, ``key`` a number for each.

    ``rows`` has the same ``key``, so that what is found for a tuple can be joined back.

    Parameters
    ----------
    found, rows
        The tuples and the table's rows on Spark.
    size, total, mark
        How many there are, of how many rows, and the fingerprint of these rows.
    here
        The tuples themselves, if the driver may group them; None if not.
    """

    table: SparkTable
    columns: tuple[str, ...]
    found: Any
    rows: Any
    size: int
    total: int
    mark: Mark
    here: pl.DataFrame | None

    def collected(self) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        """Return the tuples on the driver: cells under their real names, counts, keys."""
        assert self.here is not None
        self._each_has_its_own(self.here[KEY].n_unique())
        real = {self.table.at(name): name for name in self.columns}
        return self.here.select(*real).rename(real), self.here[COUNT], self.here[KEY]

    def check_keys(self) -> None:
        """Make sure that no two tuples share a key, where the tuples are."""
        self._each_has_its_own(int(self.found.select(KEY).distinct().count()))

    def _each_has_its_own(self, keys: int) -> None:
        # The key is a hash with a salt of this run: checked, not assumed.
        if keys != self.size:
            raise ShoalError(
                f"Two of {self.size:,} tuples have the same hash, which happens about once in "
                f"{2**64 // self.size**2 * 2 + 1:,} runs. Run again, with another "
                "seed if there was one: the hash will be another."
            )


@contextmanager
def count_tuples(
    table: SparkTable, columns: Sequence[str], settings: Spark, seed: int | None
) -> Iterator[Tuples]:
    """Count the distinct tuples of some columns, in one pass over the table if they fit the driver.

    If not, they are kept on the executors in the block.
    """
    from pyspark import StorageLevel

    inner = [table.at(name) for name in columns]
    salt = fresh_salt()
    every = [table.at(name) for name in table.names]
    marked = table.rows.select("*", hashed(every, salt).alias(MARK))
    counted = marked.groupBy(*inner).agg(F.count(F.lit(1)).alias(COUNT), *sums(F.col(MARK), MARK))
    key = hashed(inner, salt_of(seed, TUPLES)).alias(KEY)
    rows, most = table.rows.select("*", key), settings.most_tuples(len(inner))

    def told(figures: pl.DataFrame, size: int, distinct: Any, here: pl.DataFrame | None) -> Tuples:
        check_rows(size, table.every, "The table")
        total, mark = int(figures[COUNT].sum()), Mark(salt, totals(figures, MARK))
        return Tuples(table, tuple(columns), distinct, rows, size, total, mark, here)

    # One more than may come tells that they do not fit, whatever their number.
    here = to_polars(counted.select("*", key).limit(most + 1).toArrow())
    if here.height <= most and settings.fits(here.height, int(here[COUNT].sum()), len(inner)):
        # Spark hands them over as its tasks end; of tuples that look alike to a method the first
        # comes first, so the order must not depend on that.
        yield told(here, here.height, None, here.sort(KEY))
        return
    del here
    kept = counted.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        added = [F.sum(name).alias(name) for name in (COUNT, *(f"{MARK}{i}" for i in range(3)))]
        figures = to_polars(kept.agg(F.count(F.lit(1)).alias("size"), *added).toArrow())
        yield told(figures, int(figures["size"][0]), kept.select(*inner, COUNT, key), None)
    finally:
        kept.unpersist()
