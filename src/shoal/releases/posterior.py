"""What an attacker believes who knows every quasi-identifier of a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.releases.base import Floats, Ints


@dataclass(frozen=True, eq=False)
class Posterior:
    """A probability of each sensitive value, per class of rows that nobody can tell apart.

    Class ``g`` has the values ``values[starts[g]:starts[g + 1]]`` with probabilities ``share``;
    ``labels`` is the class of every released row. A class of which nothing is known has none.
    """

    labels: Ints
    starts: Ints
    values: Ints
    share: Floats
    size: int

    @classmethod
    def of(
        cls,
        labels: Ints,
        rows: npt.NDArray[np.integer],
        values: npt.NDArray[np.integer],
        weight: Floats,
        size: int,
    ) -> Posterior:
        """Average what is believed of the rows of each class.

        ``rows``, ``values``, ``weight``: a row, one of its possible values, how likely that is. The
        person is as likely to be any row of the class.
        """
        classes = int(labels.max(initial=-1)) + 1
        keys = labels[rows] * size + values
        cells, inverse = np.unique(keys, return_inverse=True)
        total = np.bincount(inverse.reshape(-1), weight, cells.size)
        owner = cells // size
        mass = np.bincount(owner, total, classes)
        starts = np.searchsorted(cells, np.arange(classes + 1, dtype=np.int64) * size)
        return cls(labels, starts, cells % size, total / mass[owner], size)

    def beliefs(self, rows: npt.NDArray[np.integer]) -> Floats:
        """Return the probabilities of some rows, ``[rows, values]``."""
        wanted = self.labels[np.asarray(rows, np.int64)]
        counts = (self.starts[1:] - self.starts[:-1])[wanted]
        place = np.repeat(self.starts[:-1][wanted] - (np.cumsum(counts) - counts), counts)
        place += np.arange(counts.sum())
        full = np.zeros((wanted.size, self.size))
        full[np.repeat(np.arange(wanted.size), counts), self.values[place]] = self.share[place]
        return full

    def risk(self) -> dict[str, float]:
        """Return the worst and the mean of the highest belief over the rows."""
        filled = np.diff(self.starts) > 0
        if not filled.any():
            return {"worst_posterior": 0.0, "mean_posterior": 0.0}
        top = np.zeros(filled.size)
        top[filled] = np.maximum.reduceat(self.share, self.starts[:-1][filled])
        rows = np.bincount(self.labels, minlength=filled.size)
        known = rows[filled]
        return {
            "worst_posterior": float(top.max()),
            "mean_posterior": float((top[filled] * known).sum() / known.sum()),
        }
