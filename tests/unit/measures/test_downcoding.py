"""Rows guessed from a release alone: against enumeration, and on tables made for it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.base.errors import ParameterError
from shoal.measures.risks.downcoding import Fact, Guesses, _deal, _fill, fit
from shoal.measures.risks.results import AttackResult
from shoal.releases.readback import Sides
from shoal.tables.domain import Taxonomy
from tests.naive import downcoding as naive


def clusters(k: int, many: int, columns: int = 12, odd: int = 2) -> pl.DataFrame:
    """A table built like Cohen's: groups of k equal rows, but for a few cells of rare values."""
    rng = np.random.default_rng(many)
    rows = np.repeat(rng.integers(0, 4, (many, columns)) * 2, k, axis=0)
    for number in range(many):
        for column in rng.choice(columns, odd, replace=False):
            rows[number * k + rng.integers(k), column] += 1
    return pl.DataFrame({f"q{j}": rows[:, j] for j in range(columns)})


def attacked(table: pl.DataFrame, **how: object) -> dict[str, AttackResult]:
    options = {"k": 4, "effort": "fast", "seed": 3, **how}
    release = shoal.anonymize(table, quasi=table.columns, **options)
    results = release.with_original(table).attack(attacks=["readoff", "downcoding"], seed=0).results
    return {result.name: result for result in results}


def halves(table: pl.DataFrame) -> dict[str, Taxonomy]:
    """Hierarchies whose lowest nodes have two values each."""
    paths = [(str(v), f"pair {v // 2}", f"four {v // 4}", "*") for v in range(8)]
    return {name: Taxonomy.from_rows(paths, name) for name in table.columns}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_it_succeeds_on_a_table_like_cohens_whatever_the_notation() -> None:
    table = clusters(k=4, many=150)
    bare = attacked(table, grid=dict.fromkeys(table.columns, "off"))
    trees = attacked(table.cast(pl.String), hierarchies=halves(table))
    for found in (bare, trees):
        guessed = found["downcoding"]
        assert guessed.attempts == table.height
        assert guessed.success > 0.8
        # Who deviates is unique, and nobody knows of him who does not know that cells are tight.
        assert guessed.baseline < guessed.success - 0.25
        assert guessed.details["unique"] > 0.7
        assert guessed.details["unique_without_facts"] < 0.1
        assert found["readoff"].success < 0.05  # two wide columns: no row is certain
        assert found["readoff"].details["wrong"] == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* can be deduced")
@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_a_grid_takes_away_most_and_slack_certainty() -> None:
    table = clusters(k=4, many=150, odd=1)
    off = attacked(table, grid=dict.fromkeys(table.columns, "off"))
    grid = attacked(table, grid=dict.fromkeys(table.columns, 4))
    slack = attacked(table, grid=dict.fromkeys(table.columns, "off"), slack=0.2)
    assert off["readoff"].success == 0.5  # both ends of the one wide cell, in classes of four
    assert off["readoff"].details["unique"] == 150
    assert grid["readoff"].success == slack["readoff"].success == 0.0
    assert off["downcoding"].details["unique"] == 1.0
    assert grid["downcoding"].details["unique"] < 0.2
    assert slack["downcoding"].details["unique"] < off["downcoding"].details["unique"]


def test_outsiders_are_the_control() -> None:
    table = pl.DataFrame({"age": [20, 29, 40, 49], "town": ["a", "a", "b", "b"]})
    released = table.with_columns(age=pl.Series(["[20-29]"] * 2 + ["[40-49]"] * 2))
    others = pl.DataFrame({"age": [20, 49, 30, 31], "town": ["a", "a", "b", "b"]})
    (found,) = shoal.attack(
        released, original=table, known=["age", "town"], attacks="downcoding", control=others
    ).results
    assert (found.success, found.control, found.attempts) == (1.0, 0.25, 4)
    assert found.details["cells"] == 0.5  # the two guesses of a class, handed out at random
    (alone,) = shoal.attack(
        released, original=table, known=["age", "town"], attacks="downcoding"
    ).results
    assert alone.control is None


def test_exact_rows_are_not_guessed() -> None:
    table = pl.DataFrame({"age": [20, 20]})
    (found,) = shoal.attack(
        pl.DataFrame({"age": ["20", "20"]}), original=table, known="age", attacks="downcoding"
    ).results
    assert found.attempts == 0
    assert found.warning == "No cell is wide, so there is nothing to guess."


def test_a_release_of_exact_quasi_identifiers_is_refused() -> None:
    table = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    release = shoal.anonymize(table, quasi="age", sensitive="ill", method="dummies", l=2)
    with pytest.raises(ParameterError, match="publishes exact quasi-identifiers"):
        release.with_original(table).attack(attacks="downcoding")


numbers = st.lists(st.integers(1, 20), min_size=2, max_size=5)


@given(numbers, st.integers(2, 5), st.data())
def test_the_likeliest_values_are_those_of_enumeration(weights, size, data) -> None:
    share = np.array(weights) / sum(weights)
    many = len(weights)
    cuts = sorted(data.draw(st.sets(st.integers(1, many - 1), min_size=1))) if many > 1 else []
    edges = [0, *cuts, many]
    groups = tuple((low, high - 1) for low, high in pairwise(edges))
    least = data.draw(st.integers(0, min(2, len(groups), size)))
    values, counts = _fill(share, np.arange(many), Fact(groups if least else (), least), size)
    guessed = np.repeat(values, counts).tolist()
    assert len(guessed) == size
    by = dict(enumerate(share))
    best = naive.likeliest(range(many), by, groups, least, size)
    assert naive.chance(guessed, by) == pytest.approx(best)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_shares_are_fitted_as_by_hand(spans) -> None:
    """One round after the other, cell by cell, in plain loops."""
    lo, hi = (np.array([end(span) for span in spans]) for end in (min, max))
    texts = pl.Series([str(number) for number in range(len(spans))])
    at = np.arange(len(spans))
    side = Sides(at, at, lo, hi, None, None, 6, texts, pl.Series(range(5)))
    share = np.full(5, 0.2)
    for _ in range(30):
        counts = np.zeros(5)
        for low, high in zip(lo, hi, strict=True):
            counts[low : high + 1] += share[low : high + 1] / share[low : high + 1].sum()
        share = counts / counts.sum()
    assert fit(side, np.ones(len(spans))) == pytest.approx(share, abs=1e-9)


def test_values_are_dealt_so_that_rows_differ() -> None:
    sizes = np.array([4, 2])
    columns = [np.array([9, 1, 1, 1, 5, 6]), np.array([8, 2, 2, 2, 5, 6])]
    rows = _deal(columns, sizes)
    assert sorted(map(tuple, rows[:4].tolist())) == [(1, 2), (1, 2), (1, 8), (9, 2)]
    assert rows[:4, 0].sum() == 12
    assert sorted(rows[4:, 1].tolist()) == [5, 6]


def test_a_class_too_small_for_a_fact_ignores_it() -> None:
    at = np.array([0])
    side = Sides(at, at, at, at + 2, None, None, 4, pl.Series(["[0-2]"]), pl.Series([0, 1, 2]))
    dealt = Guesses.fill(side, [Fact(((0, 0), (2, 2)), 2)], np.array([1])).dealt
    assert dealt.size == 1
