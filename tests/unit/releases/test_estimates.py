"""Estimates from sets: as the paper writes them, sums kept, errors and intervals as promised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import ParameterError
from shoal.releases.estimates.bayes import (
    Observed,
    closed_form,
    estimate,
    full_em,
    iterative,
    unbiased,
)
from shoal.releases.estimates.intervals import quantile, set_interval
from tests.naive import estimates as naive


def drawn(rng, truth, size, length):
    """Sets ``[n, l]`` around true codes, others uniform: a way of its own, row by row."""
    sets = []
    for value in truth:
        rest = np.delete(np.arange(size), value)
        sets.append(sorted([value, *rng.choice(rest, length - 1, replace=False)]))
    return np.array(sets, np.int64)


def quick(rng, truth, size, length):
    """The same for many rows: the true value and the l - 1 smallest of random keys."""
    keys = rng.random((truth.size, size))
    keys[np.arange(truth.size), truth] = -1.0
    return np.argpartition(keys, length - 1, axis=1)[:, :length]


cases = st.integers(2, 6).flatmap(
    lambda size: st.tuples(
        st.just(size), st.integers(2, size), st.integers(1, 40), st.integers(0, 10_000)
    )
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_iterative_estimate_is_the_papers_formula(case):
    size, length, n, seed = case
    rng = np.random.default_rng(seed)
    sets = drawn(rng, rng.integers(0, size, n), size, length)
    labels = rng.integers(-1, 3, n)
    seen = Observed.count_sets(sets, labels, size, 3)
    found = seen.dense(iterative(seen, eps=0.01))
    for group in range(3):
        inside = sets[labels == group]
        if inside.shape[0]:
            counts = np.bincount(inside.ravel(), minlength=size)
            twin = naive.iterative(counts, inside.shape[0], length, size, 0.01)
            assert np.allclose(found[group], twin, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases, st.sampled_from(["iterative", "closed", "em"]))
def test_sums_are_kept_and_nothing_is_negative(case, method):
    size, length, n, seed = case
    rng = np.random.default_rng(seed)
    sets = drawn(rng, rng.integers(0, size, n), size, length)
    labels = rng.integers(0, 4, n)
    seen = Observed.count_sets(sets, labels, size, 4)
    found = seen.dense(estimate(seen, method))
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), np.bincount(labels, minlength=4))
    low, high = set_interval(seen.dense(seen.seen), seen.rows[:, None], seen.q)
    assert (low <= high).all()
    assert (low >= 0).all()


def test_full_em_equals_its_twin():
    rng = np.random.default_rng(2)
    sets = drawn(rng, rng.integers(0, 4, 30), 5, 3)
    seen = Observed.count_sets(sets, np.zeros(30, np.int64), 5, 1)
    found = seen.dense(full_em(seen, eps=0.0, limit=7))[0]
    assert np.allclose(found, naive.full_em(sets.tolist(), 5, 7))


def test_counting_by_sorting_and_by_bins_agree():
    rng = np.random.default_rng(4)
    sets = drawn(rng, rng.integers(0, 6, 50), 6, 2)
    labels = rng.integers(0, 5, 50)
    few, many = (Observed.count_sets(sets, labels, 6, groups) for groups in (5, 50_000))
    assert (few.seen == many.seen).all()
    assert (few.pairs == many.pairs).all()
    assert (few.dense(few.seen) == many.dense(many.seen)[:5]).all()


def test_the_closed_form_by_hand():
    """Four rows, l = 2 of 3 values, so q = 1/2: W = (4, 3, 1) gives (4, 2, -2)."""
    sets = np.array([[0, 1], [0, 1], [0, 1], [0, 2]])
    seen = Observed.count_sets(sets, np.zeros(4, np.int64), 3, 1)
    assert seen.dense(unbiased(seen))[0].tolist() == [4, 2, -2]
    assert np.allclose(seen.dense(closed_form(seen))[0], [8 / 3, 4 / 3, 0])


def test_sets_of_everything_say_nothing():
    sets = np.array([[0, 1, 2]] * 5)
    seen = Observed.count_sets(sets, np.zeros(5, np.int64), 3, 1)
    for method in ("iterative", "closed", "em"):
        assert np.allclose(seen.dense(estimate(seen, method)), 5 / 3)
    low, high = set_interval(np.array([5]), np.array([5]), seen.q)
    assert (low[0], high[0]) == (0, 5)


def test_an_unknown_way_is_refused():
    seen = Observed.count_sets(np.array([[0, 1]]), np.zeros(1, np.int64), 2, 1)
    with pytest.raises(ParameterError, match=r"'iteratif'.*Did you mean 'iterative'"):
        estimate(seen, "iteratif")
    with pytest.raises(ParameterError, match=r"'level'.*Got 0.2 instead"):
        quantile(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["iterative", "closed", "em"])
def test_the_error_falls_like_one_over_root_n(method):
    """Sixteen times the rows, a quarter of the error in shares."""
    rng = np.random.default_rng(1)
    shares = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    errors = []
    for n in (1_000, 16_000):
        off = []
        for _ in range(12):
            truth = rng.choice(6, n, p=shares)
            seen = Observed.count_sets(quick(rng, truth, 6, 3), np.zeros(n, np.int64), 6, 1)
            found = seen.dense(estimate(seen, method))[0]
            off.append((((found - np.bincount(truth, minlength=6)) / n) ** 2).mean())
        errors.append(np.sqrt(np.mean(off)))
    assert 0.17 < errors[1] / errors[0] < 0.36


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(n, level):
    rng = np.random.default_rng(3)
    held = []
    for _ in range(400):
        truth = rng.choice(5, n, p=[0.45, 0.25, 0.15, 0.1, 0.05])
        seen = Observed.count_sets(quick(rng, truth, 5, 2), np.zeros(n, np.int64), 5, 1)
        low, high = set_interval(seen.dense(seen.seen)[0], np.full(5, n), seen.q, level)
        true = np.bincount(truth, minlength=5)
        held.append((low <= true + 1e-9) & (true <= high + 1e-9))
    coverage = np.mean(held)
    assert level - 0.03 < coverage < min(level + 0.07, 1.0)
