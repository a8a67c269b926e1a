"""From published sets of values back to counts of values, for all categories at once.

Every row hides its value among l - 1 others drawn uniformly, so a value that a row does not have
is in its set with probability q = (l - 1) / (|S| - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.base.params import check_options
from shoal.base.partition import Floats, Ints
from shoal.catalog import find_estimator
from shoal.kernels.bayes import iterate


def tally(keys: npt.NDArray[np.integer], weights: npt.NDArray[Any], size: int) -> Floats:
    """Add up weights by key: ``bincount`` that always gives real numbers."""
    return np.bincount(keys, weights, size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Observed:
    """What the sets of some categories of rows show.

    Only pairs of a category and a value that occur are held; every other count is 0.

    Parameters
    ----------
    owner, value
        Category and value of each pair, ascending.
    seen
        In how many of the category's sets the value is (W in the paper).
    rows
        Number of rows of each category (N).
    size
        Number of values (|S|).
    length
        Length of every set (l).
    keys
        Category and value of every place in every set as one number: ``[rows, l]``.
    """

    owner: Ints
    value: Ints
    seen: Ints
    rows: Ints
    size: int
    length: int
    keys: npt.NDArray[np.integer]

    @classmethod
    def count_sets(
        cls, sets: npt.NDArray[np.integer], labels: Ints, size: int, groups: int
    ) -> Observed:
        """Count sets ``[n, l]`` of value codes by the category of their row (-1: in none)."""
        kept = np.flatnonzero(labels >= 0)
        keys = sets.take(kept, axis=0)
        if groups > 1:
            keys = labels[kept, None] * size + keys
        if groups * size <= max(4 * keys.size, 1 << 16):  # counting is faster than sorting
            count = np.bincount(keys.ravel(), minlength=groups * size)
            cells = np.flatnonzero(count)
            seen = count[cells]
        else:
            cells, seen = np.unique(keys, return_counts=True)
        rows = np.bincount(labels[kept], minlength=groups).astype(np.int64)
        return cls(cells // size, cells % size, seen, rows, size, sets.shape[1], keys)

    @cached_property
    def pairs(self) -> Ints:
        """The number of the pair of every place in every set."""
        return np.searchsorted(self.owner * self.size + self.value, self.keys)

    @property
    def q(self) -> float:
        """Probability that a set holds a value that its row does not have."""
        return (self.length - 1) / (self.size - 1) if self.size > 1 else 0.0

    def total(self, per_pair: Floats) -> Floats:
        """Add up figures of pairs by category."""
        return tally(self.owner, per_pair, self.rows.size)

    def dense(self, per_pair: npt.NDArray[np.generic]) -> Floats:
        """Return figures of pairs as ``[categories, |S|]``."""
        full = np.zeros((self.rows.size, self.size))
        full[self.owner, self.value] = per_pair
        return full


def iterative(seen: Observed, eps: float = 0.01, limit: int = 2_000) -> Floats:
    """Estimate the count of every pair by the iterative Bayes method of the paper.

    Parameters
    ----------
    seen
        What the sets show.
    eps
        A category is done when none of its counts changes by this many rows; the paper takes
        1.0, which in small categories stops before anything was learned.
    limit
        Greatest number of iterations.

    Notes
    -----
    Sei, Takenouchi, Ohsuga 2015: X'_a = (1/l) sum_b W_b p(a, b) X_a / sum_g p(g, b) X_g with
    p(a, b) = 1 if a = b else q. Since X sums to N, the inner sum is q N + (1 - q) X_b, so that
    one iteration costs as much as there are pairs instead of its square. A value in no set starts
    at 0 and stays there.
    """
    starts = np.searchsorted(seen.owner, np.arange(seen.rows.size + 1)).astype(np.int64)
    return iterate(starts, seen.seen, seen.rows, seen.q, seen.length, eps, limit)


def even(seen: Observed) -> Floats:
    """Share every set out evenly among its values: W / l, what nobody has weighed yet."""
    return seen.seen / seen.length


def closed_form(seen: Observed) -> Floats:
    """Estimate by (W - N q) / (1 - q), clipped at 0 and scaled to the right sum.

    Before clipping it is unbiased; :func:`unbiased` gives it so.
    """
    count = np.maximum(unbiased(seen), 0.0)
    total = seen.total(count)
    # Where nothing is left, every value of the sets is as likely as any other.
    empty = total <= 0
    count = np.where(empty[seen.owner], seen.seen / seen.length, count)
    total = np.where(empty, seen.rows, total)
    return count * (seen.rows / np.maximum(total, 1e-300))[seen.owner]


def unbiased(seen: Observed) -> Floats:
    """Return (W - N q) / (1 - q) for every pair; it may be negative."""
    if seen.q >= 1.0:  # every set holds every value: nothing was said
        return seen.rows[seen.owner] / seen.size
    return (seen.seen - seen.rows[seen.owner] * seen.q) / (1.0 - seen.q)


def full_em(seen: Observed, eps: float = 0.01, limit: int = 2_000) -> Floats:
    """Estimate by expectation maximization over the sets themselves, not only their counts.

    Each row is shared out over its set in proportion to the counts so far: the most likely counts
    given everything published, since all l values explain a set equally well.
    """
    count = even(seen)
    for _ in range(limit):
        share = count[seen.pairs]
        share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        better = tally(seen.pairs.ravel(), share.ravel(), count.size)
        change = float(np.abs(better - count).max(initial=0.0))
        count = better
        if change < eps:
            break
    return count


def estimate(seen: Observed, estimator: str = "iterative", **options: float) -> Floats:
    """Estimate the count of every pair by one of the ways that the catalog lists."""
    entry = find_estimator(estimator)
    counts: Floats = entry.load()(seen, **check_options(options, entry.params, estimator))
    return counts
