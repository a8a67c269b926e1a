"""Reduce a table to its distinct tuples with counts, and give every row its tuple's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.engines.spark.columns import Table
from shoal.engines.spark.hashing import fresh_salt, hashed
from shoal.errors import InputError, ShoalError, listed

KEY, COUNT = "key", "n"


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct tuples of a table: their columns, ``n`` how often, ``key`` a number for each.

    ``table.rows`` has the same ``key``, so that what is found for a tuple can be joined back.
    """

    table: Table
    columns: tuple[str, ...]
    found: Any
    rows: Any
    size: int
    total: int

    def collect(self) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        """Bring the tuples to the driver: cells under their real names, counts, keys."""
        cells = pl.from_arrow(self.found.toArrow())
        assert isinstance(cells, pl.DataFrame)
        self._each_has_its_own(cells[KEY].n_unique())
        real = {self.table.at(name): name for name in self.columns}
        return cells.drop(KEY, COUNT).rename(real), cells[COUNT], cells[KEY]

    def check_keys(self) -> None:
        """Make sure that no two tuples share a key, where the tuples are."""
        self._each_has_its_own(int(self.found.select(KEY).distinct().count()))

    def _each_has_its_own(self, keys: int) -> None:
        # The key is a hash with a salt of this run: checked, not assumed.
        if keys != self.size:
            raise ShoalError(
                f"Two of {self.size:,} tuples have the same hash, which happens about once in "
                f"{2**64 // self.size**2 * 2 + 1:,} runs. Run again: the hash will be another."
            )


@contextmanager
def reduced(table: Table, columns: Sequence[str]) -> Iterator[Tuples]:
    """Count the distinct tuples of some columns; they are kept on the executors in the block."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F  # noqa: N812

    inner = [table.at(name) for name in columns]
    counted = table.rows.groupBy(*inner).agg(F.count(F.lit(1)).alias(COUNT))
    counted = counted.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        size, total = counted.agg(F.count(F.lit(1)), F.sum(COUNT)).head(1)[0]
        if not size:
            raise InputError(
                f"The table has column names ({listed(table.every)}) but no rows. "
                "A table needs at least one row."
            )
        key = hashed(inner, fresh_salt()).alias(KEY)
        found, rows = counted.select("*", key), table.rows.select("*", key)
        yield Tuples(table, tuple(columns), found, rows, int(size), int(total))
    finally:
        counted.unpersist()
