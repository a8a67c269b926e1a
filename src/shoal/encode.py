"""A table becomes integers once: positions per quasi-identifier, codes per sensitive column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.domain import Domain
from shoal.partition import GroupStats, Partition, histogram

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Encoded:
    """The table as the algorithms see it. Arrays are read-only; a row's number is its identity.

    Parameters
    ----------
    names
        Names of the quasi-identifiers, in the order of the table.
    codes
        ``[n, m]`` positions; the position of missing is the domain's size.
    domains
        One domain per quasi-identifier.
    sensitive
        Per sensitive column its codes, -1 for missing.
    sensitive_names
        Per sensitive column what each code means.
    """

    names: tuple[str, ...]
    codes: Codes
    domains: tuple[Domain, ...]
    sensitive: dict[str, Codes]
    sensitive_names: dict[str, tuple[str, ...]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Which cells are missing, ``[n, m]``."""
        sizes = np.array([domain.size for domain in self.domains], np.int32)
        return self.codes == sizes

    def stats(self, partition: Partition) -> GroupStats:
        """Return what the rules look at, for the groups of ``partition``."""
        labels = partition.labels()
        return GroupStats(
            partition.sizes,
            {
                name: histogram(labels, codes, partition.groups, self.sensitive_names[name])
                for name, codes in self.sensitive.items()
            },
        )

    def whole(self) -> GroupStats:
        """Return the statistics of the table as one group."""
        rows = np.arange(self.rows, dtype=np.int64)
        return self.stats(Partition(rows, np.array([0, self.rows], np.int64)))
