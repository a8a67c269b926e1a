"""The attack by minimality finds what is known, and finds nothing where nothing can be told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from benchmarks.minimality import CASES, Way, attack
from shoal.base.errors import ShoalWarning

VILLAGES = CASES[0]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mondrian", pytest.param("incognito", marks=pytest.mark.deep)])
def test_two_villages_give_two_people_away(method: str) -> None:
    # Only when both of the two are ill is the table generalized: one world of 21.
    found = attack(VILLAGES, Way(method, method), 1)
    assert found is not None
    assert not found.drawn
    assert found.worst == 1.0
    assert found.broken == pytest.approx(1 / 21)


@pytest.mark.slow
def test_classes_that_no_sensitive_value_has_shaped_tell_nothing() -> None:
    found = attack(VILLAGES, Way("blind", "mondrian", k=2), 1)
    assert found is not None
    assert found.worst == 0.5
    assert found.broken == 0
    assert found.published == pytest.approx(20 / 21)


@pytest.mark.deep
def test_sets_of_both_values_leave_the_belief_as_it_was() -> None:
    found = attack(VILLAGES, Way("dummies", "dummies"), 21)
    assert found is not None
    assert found.worst == pytest.approx(2 / 7)
