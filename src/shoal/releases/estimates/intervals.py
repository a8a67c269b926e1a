"""Confidence intervals of estimated counts."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.base.params import Param
from shoal.base.partition import Floats

LEVEL = Param("level", "how often an interval holds the truth", float, default=0.95, low=0.5)


def quantile(level: float) -> float:
    """Return how many standard deviations an interval of this level reaches to each side."""
    LEVEL.check(level, "estimate")
    return NormalDist().inv_cdf(0.5 + min(level, 1 - 1e-9) / 2)


def set_interval(
    seen: npt.NDArray[Any], rows: npt.NDArray[Any], q: float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the counts of a value that fit the number of sets that show it.

    Of N rows, M do not have the value, and each of those leaves it out of its set with probability
    1 - q. So the number V of sets without it is binomial, Bin(M, 1 - q); all M whose expectation
    lies within z standard deviations of V are kept (the score interval of Wilson 1927, for an
    unknown number of trials), and the count is N - M.
    """
    if q >= 1.0:
        return np.zeros(seen.shape), rows + np.zeros(seen.shape)
    z = quantile(level)
    without = rows - seen
    middle = 2 * without + z * z * q
    reach = z * np.sqrt(q * (4 * without + z * z * q))
    most, least = ((middle + sign * reach) / (2 * (1 - q)) for sign in (1, -1))
    return np.clip(rows - most, 0.0, seen), np.clip(rows - least, 0.0, seen)


def normal_interval(
    count: Floats, variance: Floats, low: Floats, high: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return count plus and minus z standard deviations, inside what is possible at all."""
    reach = quantile(level) * np.sqrt(np.maximum(variance, 0.0))
    return np.clip(count - reach, low, high), np.clip(count + reach, low, high)
