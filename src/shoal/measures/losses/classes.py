"""Losses that look at the sizes of the published classes only."""

from __future__ import annotations

import numpy as np

from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins, merge


def class_sizes(data: Encoded, partition: Partition) -> Ints:
    """Return the sizes of the equivalence classes: groups published alike are one class."""
    classes = merge(joins(data, partition), partition)
    sizes = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    np.add.at(sizes, classes, partition.sizes)
    return sizes


def discernibility(data: Encoded, partition: Partition) -> int:
    """Return the sum over rows of how many rows each cannot be told from.

    A released row counts the size of its class, a row left out the whole table.

    Notes
    -----
    Bayardo and Agrawal (2005), section 3.
    """
    sizes = class_sizes(data, partition)
    return int(sizes @ sizes) + partition.left_out.size * data.rows


def average_class_size(data: Encoded, partition: Partition, k: int | None = None) -> float:
    """Return released rows per class, divided by ``k`` when given (1 is then the best possible).

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan (2006), section 4: C_avg.
    """
    classes = class_sizes(data, partition).size
    average = partition.rows.size / classes if classes else 0.0
    return average / k if k else average
