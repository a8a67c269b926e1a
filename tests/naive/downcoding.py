"""The likeliest values of a class, by trying every multiset of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from math import factorial, prod


def chance(values: Sequence[int], share: Mapping[int, float]) -> float:
    """Return how likely independent rows have just these values, in any order."""
    counts = Counter(values)
    ways = factorial(len(values)) / prod(factorial(count) for count in counts.values())
    return ways * prod(share[value] for value in values)


def likeliest(
    allowed: Sequence[int],
    share: Mapping[int, float],
    groups: Iterable[tuple[int, int]],
    least: int,
    size: int,
) -> float:
    """Return the chance of the likeliest values of so many rows that meet enough of the groups."""
    ranges = list(groups)

    def met(values: Sequence[int]) -> int:
        return sum(any(low <= value <= high for value in values) for low, high in ranges)

    every = combinations_with_replacement(allowed, size)
    return max((chance(values, share) for values in every if met(values) >= least), default=0.0)
