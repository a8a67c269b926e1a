"""A release on Spark as counts: what estimates are made from, without its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.engines.spark.functions import F
from shoal.engines.spark.hashing import to_polars
from shoal.engines.spark.session import session_of


def rows_of(released: Any, of: str, by: Sequence[str]) -> pl.DataFrame:
    """Return a release in the columns that an estimate looks at, counted on the executors.

    Only different rows travel, each once with its count. Without ``by`` a generalized release is
    taken with all its columns, since they tell what it is.
    """
    session_of(released)
    names = list(released.columns)
    kinds = dict(released.dtypes)
    wanted = {name for column in by for name in (column, f"{column}_lo", f"{column}_hi")} | {of}
    if not by and not kinds.get(of, "").startswith("array"):
        wanted = set(names)
    chosen = [number for number, name in enumerate(names) if name in wanted]
    numbered = released.toDF(*(f"c{i}" for i in range(len(names))))
    inner = [f"c{i}" for i in chosen]
    counted = numbered.groupBy(*inner).agg(F.count(F.lit(1)).alias("n"))
    distinct = to_polars(counted.toArrow())
    many = np.repeat(np.arange(distinct.height), distinct["n"].to_numpy())
    return distinct.drop("n").rename({f"c{i}": names[i] for i in chosen})[many]
