"""Make the two tables of Anatomy."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError
from shoal.base.partition import Ints, Partition
from shoal.base.roles import Role
from shoal.coding.encode import Encoded
from shoal.releases.anatomy import COUNT, GROUP
from shoal.releases.base import MadeTables
from shoal.tables.schema import Schema


def check_free(schema: Schema) -> None:
    """Refuse a table that has one of the columns that are added."""
    if taken := [column.name for column in schema.columns if column.name in (GROUP, COUNT)]:
        raise SchemaError(
            f"Anatomy publishes columns named {GROUP!r} and {COUNT!r}, and the table has "
            f"{', '.join(map(repr, taken))} already. Rename that column first."
        )


def publish(
    frame: pl.DataFrame,
    schema: Schema,
    data: Encoded,
    partition: Partition,
    *,
    typed: bool = False,
    mid: bool = False,
    order: Ints | None = None,
) -> MadeTables:
    """Publish quasi-identifiers and others with the group of each row, and the values by group."""
    (name,) = data.sensitive
    check_free(schema)
    rows = np.arange(data.rows) if order is None else np.asarray(order, np.int64)
    labels = partition.labels() + 1
    columns = [
        frame[each].gather(rows)
        for each in frame.columns
        if each in schema and schema[each].role in (Role.QUASI, Role.KEEP)
    ]
    columns.append(pl.Series(GROUP, labels[rows]))
    codes = pl.Series(data.sensitive[name].astype(np.int64))
    known = codes.set(codes < 0, None)
    texts = pl.Series(data.sensitive_names[name], dtype=pl.String).gather(known)
    values = (
        pl.DataFrame({GROUP: labels, name: texts, "code": codes})
        .group_by(GROUP, name, "code")
        .agg(pl.len().cast(pl.Int64).alias(COUNT))
        .sort(GROUP, "code", descending=[False, False])
        .select(GROUP, name, COUNT)
    )
    return MadeTables({"release": pl.DataFrame(columns), "st": values}, rows)
