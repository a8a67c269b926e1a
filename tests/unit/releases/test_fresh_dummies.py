"""Fresh dummies again and again: after how many releases the truth is certain for half of all."""

from math import comb
from pathlib import Path

import numpy as np
import pytest

from shoal.releases.dummies.make import _others

# What docs/methods/dummies.md says; None: never.
HALF = {
    (2, 10): 2,
    (2, 50): 2,
    (2, 500): 2,
    (5, 10): 4,
    (5, 50): 2,
    (5, 500): 2,
    (10, 10): None,
    (10, 50): 3,
    (10, 500): 2,
}


def revealed(length, size, releases):
    """Share of rows of which nothing but the truth is in all sets, by inclusion and exclusion."""
    n, m = size - 1, length - 1
    terms = (
        (-1) ** j * comb(n, j) * (comb(n - j, m - j) / comb(n, m)) ** releases
        for j in range(length)
    )
    return sum(terms)


@pytest.mark.parametrize(("length", "size"), HALF)
def test_half_of_all_are_certain_after_so_many_releases(length, size):
    rng, rows, half = np.random.default_rng(length * size), 1500, HALF[length, size]
    left = np.ones((rows, size - 1), bool)
    for release in range(1, 5):
        drawn = np.zeros_like(left)
        np.put_along_axis(drawn, _others(size - 1, length - 1, rows, rng).T, True, axis=1)
        left &= drawn
        share = (~left.any(axis=1)).mean()
        assert share == pytest.approx(revealed(length, size, release), abs=0.05)
        if half is not None and release in (half - 1, half):
            assert (share >= 0.5) == (release == half)
    assert half is not None or share == 0


def test_the_page_says_so():
    page = Path(__file__).parents[3].joinpath("docs/methods/dummies.md").read_text()
    for (length, size), half in HALF.items():
        assert f"| {length} | {size} | {half or 'never'} |" in page
