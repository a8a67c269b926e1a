"""A table with every kind of column, missing values and awkward texts, for tests of releases."""

import datetime as dt

import numpy as np
import polars as pl

from shoal.base.partition import Partition
from shoal.base.roles import Kind, Role
from shoal.coding.encode import encode
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column, Schema


def everything(rows=60, seed=1):
    """A table with every kind of column, missing values and awkward texts, grouped at random."""
    rng = np.random.default_rng(seed)

    def some(values):
        return [
            values[i] if rng.random() > 0.1 else None for i in rng.integers(0, len(values), rows)
        ]

    frame = pl.DataFrame(
        {
            "id": np.arange(rows),
            "age": some([-3, 0, 17, 40, 41]),
            "weight": some([0.1, 50.5, 1e-7, 80.0]),
            "born": some([dt.date(1960 + 7 * i, 1 + i, 3) for i in range(6)]),
            "seen": some([dt.datetime(2020, 1, 1 + i, i) for i in range(6)]),
            "city": some(["Rome", "*", "[1-2]", "{a}", 'a, "b"', "Oslo"]),
            "job": some(["nurse", "judge", "clerk"]),
            "size": some(["small", "mid-size", "large"]),
            "disease": some(["flu", "gout", "?"]),
            "note": rng.random(rows),
        }
    )
    tree = [("nurse", "care", "Any"), ("judge", "law", "Any"), ("clerk", "law", "Any")]
    kinds = {"age": "ordered", "weight": "ordered", "born": "ordered", "seen": "ordered"}
    kinds |= {"city": "set", "job": "taxonomy"}
    schema = Schema(
        (
            Column("id", Role.IDENTIFIER),
            *(Column(name, Role.QUASI, Kind(kind)) for name, kind in kinds.items()),
            Column("size", Role.QUASI, Kind.ORDERED, order=("small", "mid-size", "large")),
            Column("disease", Role.SENSITIVE, missing=("?",)),
            Column("note", Role.KEEP),
        )
    )
    taxonomies = {"job": Taxonomy.from_rows(tree, "job")}
    labels = rng.permutation(np.arange(rows) % (rows // 3))
    data = encode(frame, schema, taxonomies)
    return frame, schema, taxonomies, data, Partition.from_labels(labels), rng.permutation(rows)
