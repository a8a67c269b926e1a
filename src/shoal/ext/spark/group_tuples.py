"""Group distinct tuples with counts as if they were rows, and say who goes where.

Rows with the same quasi-identifiers and the same values of the sensitive columns that a rule speaks
of are interchangeable: all that counts is how many of each tuple are published as what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.partition import GroupStats, Ints, Partition, histogram
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins, merge
from shoal.measures.losses.ncp import Loss, iloss
from shoal.releases.generalized.make import format_column
from shoal.tables.schema import Schema

Grouping = Callable[[Encoded], Partition]


@dataclass(frozen=True, eq=False)
class Assignment:
    """How many rows of each tuple are published as which class.

    Parameters
    ----------
    owner, label, count
        ``count`` rows of tuple ``owner`` are published as class ``label``, -1: not at all. Sorted
        by tuple.
    cells
        What each class is published as in the quasi-identifiers.
    loss, groups, notes
        What the partition costs, its number of groups, and what the method has to tell.
    """

    owner: Ints
    label: Ints
    count: Ints
    cells: pl.DataFrame
    loss: Loss
    groups: int
    notes: dict[str, Any]


def canonical_order(tuples: Encoded) -> Ints:
    """Return the order in which tuples are handed to a method: by position, column by column.

    Methods look at rows in the order in which they stand, and a distributed table has none.
    """
    columns = [*tuples.codes.T, *(tuples.sensitive[name] for name in sorted(tuples.sensitive))]
    return np.lexsort(columns[::-1]).astype(np.int64)


def expanded(tuples: Encoded, counts: Ints) -> tuple[Encoded, Ints]:
    """Return one row for each that a tuple stands for, in canonical order, and its tuple."""
    order = canonical_order(tuples)
    owner = np.repeat(order, counts[order])
    data = tuples.take(owner)
    data.codes.setflags(write=False)
    return data, owner


def assign(
    tuples: Encoded, counts: Ints, schema: Schema, grouping: Grouping, *, typed: bool
) -> Assignment:
    """Group the tuples and collapse the groups to what is published of each tuple."""
    data, owner = expanded(tuples, counts)
    made = grouping(data)
    joined = joins(data, made)
    classes = merge(joined, made)
    _, first = np.unique(classes, return_index=True)
    cells = [
        series
        for name, join in zip(data.names, joined, strict=True)
        for series in format_column(schema[name], join, first.astype(np.int64), typed=typed)
    ]
    groups = made.labels()
    label = np.where(groups >= 0, classes[groups], -1) if made.groups else groups
    span = int(classes.max(initial=0)) + 2
    keys, count = np.unique(owner * span + label + 1, return_counts=True)
    return Assignment(
        keys // span,
        keys % span - 1,
        count.astype(np.int64),
        pl.DataFrame(cells),
        iloss(data, made),
        made.groups,
        dict(made.notes),
    )


def whole(tuples: Encoded, counts: Ints) -> GroupStats:
    """Return the statistics of the table as one group, from tuples and their counts."""
    one = np.zeros(counts.size, np.int64)
    return GroupStats(
        np.array([counts.sum()], np.int64),
        {
            name: histogram(one, codes, 1, tuples.sensitive_names[name], counts)
            for name, codes in tuples.sensitive.items()
        },
    )
