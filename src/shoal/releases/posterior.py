"""The beliefs of an attacker who knows all quasi-identifiers of a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Floats, Ints, ragged_positions


@dataclass(frozen=True, eq=False)
class Posterior:
    """A probability of each sensitive value, per class of rows that nobody can tell apart.

    Class ``g`` has the values ``values[starts[g]:starts[g + 1]]`` with probabilities ``share``;
    ``labels`` is the class of every released row, ``mass`` the number of rows of each class whose
    value is not missing. A class of which nothing is known has no values.
    """

    labels: Ints
    starts: Ints
    values: Ints
    share: Floats
    size: int
    mass: Floats

    @classmethod
    def from_rows(
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
        mass = np.bincount(owner, total, classes).astype(np.float64)
        starts = np.searchsorted(cells, np.arange(classes + 1, dtype=np.int64) * size)
        return cls(labels, starts, cells % size, total / mass[owner], size, mass)

    def beliefs(self, rows: npt.NDArray[np.integer]) -> Floats:
        """Return the probabilities of some rows, ``[rows, values]``."""
        wanted = self.labels[np.asarray(rows, np.int64)]
        counts = (self.starts[1:] - self.starts[:-1])[wanted]
        positions = ragged_positions(self.starts[:-1][wanted], counts)
        full = np.zeros((wanted.size, self.size))
        full[np.repeat(np.arange(wanted.size), counts), self.values[positions]] = self.share[
            positions
        ]
        return full

    def top(self) -> Floats:
        """Return the highest belief about every released row, 0 where nothing is known."""
        filled = np.diff(self.starts) > 0
        top = np.zeros(filled.size)
        if filled.any():
            top[filled] = np.maximum.reduceat(self.share, self.starts[:-1][filled])
        return top[self.labels]

    def risk(self) -> dict[str, float]:
        """Return the worst and the mean of the highest belief over the rows."""
        top = self.top()
        known = top[top > 0]
        return {
            "worst_posterior": float(known.max(initial=0.0)),
            "mean_posterior": float(known.mean()) if known.size else 0.0,
        }
