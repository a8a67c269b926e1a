"""A grouped table with the joins that several losses share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.base.partition import Ints, Partition
from shoal.coding.encode import Encoded
from shoal.coding.joins import Join, joins, merge
from shoal.coding.tuples import entries


@dataclass(frozen=True, eq=False)
class Grouped:
    """Rows and their groups; several losses share the joins of the groups."""

    data: Encoded
    partition: Partition

    @classmethod
    def untouched(cls, data: Encoded) -> Grouped:
        """Return a table that is published as it is: equal rows are a class."""
        return cls(data, Partition.from_labels(entries(data.codes)[1]))

    @cached_property
    def joins(self) -> tuple[Join, ...]:
        """What the groups are published as, by column."""
        return joins(self.data, self.partition)

    @cached_property
    def class_sizes(self) -> Ints:
        """The sizes of the equivalence classes: groups published alike are one class."""
        classes = merge(self.joins, self.partition)
        sizes = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
        np.add.at(sizes, classes, self.partition.sizes)
        return sizes
