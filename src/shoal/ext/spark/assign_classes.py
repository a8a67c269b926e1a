"""Assign the rows of each tuple to their classes on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.ext.spark.functions import F
from shoal.ext.spark.group_tuples import Assignment
from shoal.ext.spark.hashing import TURNS, hashed, salt_of
from shoal.ext.spark.tuples import KEY, Tuples

LABEL, FIRST, LAST, MANY, TURN = "label", "first", "last", "many", "turn"
_SMALL = 200 << 20
"""Bytes of a table that is sent whole to every executor rather than shuffled."""


def shares(assignment: Assignment, keys: pl.Series) -> pl.DataFrame:
    """Say which turns of each tuple's rows go to which class: from ``first`` to ``last``.

    ``many``: whether the rows of the tuple go to several classes, so that turns matter.
    """
    owner, count = assignment.owner, assignment.count
    ends = np.cumsum(count)
    fresh = np.append(True, owner[1:] != owner[:-1])
    before = (ends - count)[fresh][np.cumsum(fresh) - 1]
    classes = np.bincount(owner, minlength=len(keys))[owner]
    return pl.DataFrame(
        {
            KEY: keys.gather(owner),
            LABEL: assignment.label,
            FIRST: ends - count - before + 1,
            LAST: ends - before,
            MANY: classes > 1,
        }
    )


def to_spark(spark: Any, frame: pl.DataFrame) -> Any:
    """Send a polars frame to Spark."""
    return spark.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))


def _joined(rows: Any, table: Any, on: Any, small: bool) -> Any:
    return rows.join(F.broadcast(table) if small else table, on)


def hand_out(
    tuples: Tuples,
    alone: Any,
    split: Any | None,
    passed: Sequence[str],
    *,
    seed: int | None,
    small: bool,
) -> Any:
    """Join every row with its share.

    Most tuples are published as one class, and their rows need no turn. The rows of the others are
    numbered within their tuple, in an order that depends on nothing but their own published cells
    and a secret salt: a task that is run again numbers them again in the same way, and rows that
    are equal in all that is published can be exchanged without a difference.

    Parameters
    ----------
    alone, split
        The shares on Spark of tuples with one class and with several (None: there are none); they
        may hold published cells besides.
    passed
        The columns that are published as they are.
    seed
        Repeats the salt.
    small
        Whether the shares can be sent to every executor.
    """
    from pyspark.sql import Window

    rows = tuples.rows
    single = _joined(rows, alone, KEY, small)
    if split is None:
        return single
    turns = Window.partitionBy(KEY).orderBy(hashed(passed, salt_of(seed, TURNS)), *passed)
    cut = split.select(KEY).distinct()
    numbered = _joined(rows, cut, KEY, small).withColumn(TURN, F.row_number().over(turns))
    both = _joined(numbered, split.withColumnRenamed(KEY, "of"), F.col(KEY) == F.col("of"), small)
    chosen = both.where(F.col(TURN).between(F.col(FIRST), F.col(LAST)))
    return single.unionByName(chosen.drop("of", TURN, FIRST, LAST))


def with_cells(rows: Any, classes: Any, *, small: bool) -> Any:
    """Join every row's class with its published cells; ``kept`` says whether it has one."""
    told = F.broadcast(classes) if small else classes
    return rows.join(told, LABEL, "left").withColumn("kept", F.col(LABEL) >= 0)


def is_small(frame: pl.DataFrame) -> bool:
    """Tell whether a frame can be sent whole to every executor."""
    return int(frame.estimated_size()) <= _SMALL
