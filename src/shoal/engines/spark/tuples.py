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
_ATTEMPTS = 5


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
        real = {self.table.at(name): name for name in self.columns}
        return cells.drop(KEY, COUNT).rename(real), cells[COUNT], cells[KEY]


@contextmanager
def reduced(table: Table, columns: Sequence[str]) -> Iterator[Tuples]:
    """Count the distinct tuples of some columns; they are kept on the executors in the block.

    The key of a tuple is a hash. That no two tuples share one is checked, not assumed: if two do,
    another salt is drawn.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F  # noqa: N812

    inner = [table.at(name) for name in columns]
    counted = table.rows.groupBy(*inner).agg(F.count(F.lit(1)).alias(COUNT))
    counted = counted.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        for _ in range(_ATTEMPTS):
            key = hashed(inner, fresh_salt()).alias(KEY)
            found = counted.select("*", key)
            row = found.agg(
                F.count(F.lit(1)).alias("size"),
                F.countDistinct(KEY).alias("keys"),
                F.sum(COUNT).alias("total"),
            ).head(1)[0]
            if not row["size"]:
                raise InputError(
                    f"The table has column names ({listed(table.every)}) but no rows. "
                    "A table needs at least one row."
                )
            if row["size"] == row["keys"]:
                rows = table.rows.select("*", key)
                yield Tuples(
                    table, tuple(columns), found, rows, int(row["size"]), int(row["total"])
                )
                return
        raise ShoalError(
            f"No hash without collisions was found in {_ATTEMPTS} attempts, which should never "
            "happen. Please report it with the number of rows."
        )
    finally:
        counted.unpersist()
