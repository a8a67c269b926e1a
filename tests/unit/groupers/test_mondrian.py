"""Mondrian: cuts worked by hand, and the same choices as its plain twin."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import Infeasible
from shoal.coding.encode import Encoded
from shoal.coding.joins import joins
from shoal.groupers import mondrian
from shoal.kernels.space.mondrian import median
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    All,
    AlphaK,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from tests.naive import mondrian as naive
from tests.naive.rules import passes
from tests.tables import encoded

RULES = [
    KAnonymity(2),
    KAnonymity(5),
    LDiversity(2, "s0"),
    FrequencyLDiversity(2, "s0"),
    EntropyLDiversity(2.0, "s0"),
    AlphaK(0.6, 3, "s0"),
]


def as_sets(partition):
    return {frozenset(rows.tolist()) for rows in np.split(partition.rows, partition.starts[1:-1])}


def table(domains, codes, sensitive=None):
    codes = np.array(codes, np.int32)
    codes.setflags(write=False)
    hidden = {} if sensitive is None else {"s0": np.array(sensitive, np.int32)}
    names = {} if sensitive is None else {"s0": tuple("abcdef")}
    return Encoded(tuple("wxyz"[: codes.shape[1]]), codes, tuple(domains), hidden, names)


def numbers(*points):
    return Ordered(pl.Series(points), np.array(points, np.float64))


def run(data, rule, seed=0, **options):
    return mondrian.group(data, rule, np.random.default_rng(seed), **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
@pytest.mark.parametrize("small", ["gather", "refuse"])
def test_equals_its_twin(seed, cuts, small):
    rng = np.random.default_rng(seed)
    kinds = ["tos", "t", "o", "s", "ttt", "ooo", "sst", "tosto"][seed % 8]
    n = int(rng.integers(6, 60))
    data = encoded(rng, n, kinds, missing=[0.0, 0.2, 0.5][seed % 3], sensitive=[4])
    rule = RULES[seed % len(RULES)]
    if not passes(data, rule, range(n)):
        with pytest.raises(Infeasible):
            run(data, rule, cuts=cuts, small=small)
        return
    order = np.random.default_rng(seed).permutation(n) if cuts == "relaxed" else np.arange(n)
    groups = naive.mondrian(
        data,
        lambda rows: passes(data, rule, rows),
        order.tolist(),
        cuts == "relaxed",
        small == "gather",
    )
    got = run(data, rule, seed, cuts=cuts, small=small)
    assert as_sets(got) == {frozenset(group) for group in groups}


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_median_is_the_lower_one(values):
    buffer = np.array([*values, 99], np.int32)
    assert median(buffer, len(values)) == sorted(values)[(len(values) - 1) // 2]


def test_cuts_between_the_values_that_part_the_rows_most_evenly():
    # 1 1 1 1 2 3 | k=2: after the 1s (4 + 2), not after the median's other side (0 + 6).
    data = table([numbers(1, 2, 3)], [[0], [0], [0], [0], [1], [2]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}


def test_relaxed_shares_out_the_median():
    data = table([numbers(1, 2)], [[0], [0], [0], [0], [0], [1]])
    assert as_sets(run(data, KAnonymity(3))) == {frozenset(range(6))}
    assert sorted(run(data, KAnonymity(3), cuts="relaxed").sizes) == [3, 3]


def test_the_widest_column_is_cut_first():
    # Column w spans all of its domain (1 of 0..1), column x a half of its own (here 0..2 of 0..4).
    wide, narrow = numbers(0, 1), numbers(0, 2, 4)
    data = table([narrow, wide], [[0, 0], [1, 0], [0, 1], [1, 1]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1}), frozenset({2, 3})}


FLAT = Taxonomy.from_rows([("a", "*"), ("b", "*"), ("c", "*")], "x")


def test_small_children_are_gathered_or_refuse_the_cut():
    data = table([FLAT], [[0], [0], [0], [1], [2]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1, 2}), frozenset({3, 4})}
    assert as_sets(run(data, KAnonymity(2), small="refuse")) == {frozenset(range(5))}


def test_children_too_small_even_together_take_the_smallest_other():
    data = table([FLAT], [[0], [0], [0], [1], [1], [2]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_missing_is_cut_off_when_both_sides_pass_and_else_stays():
    data = table([numbers(1, 2)], [[0], [1], [2], [2]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1}), frozenset({2, 3})}
    data = table([numbers(1, 2)], [[0], [0], [1], [2]])
    part = run(data, KAnonymity(2))
    assert as_sets(part) == {frozenset(range(4))}
    assert joins(data, part)[0].star.all()


def test_a_column_entirely_missing_is_left_alone():
    data = table([numbers(), numbers(1, 2)], [[0, 0], [0, 0], [0, 1], [0, 1]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({0, 1}), frozenset({2, 3})}


def test_sets_are_cut_by_name():
    data = table([Nominal(("a", "b", "c", "d"))], [[3], [1], [0], [2]])
    assert as_sets(run(data, KAnonymity(2))) == {frozenset({1, 2}), frozenset({0, 3})}


def test_a_sensitive_rule_stops_a_cut_that_size_allows():
    domain = numbers(1, 2)
    data = table([domain], [[0], [0], [1], [1]], [0, 0, 1, 1])
    assert as_sets(run(data, LDiversity(2, "s0"))) == {frozenset(range(4))}
    mixed = table([domain], [[0], [0], [1], [1]], [0, 1, 1, 0])
    assert as_sets(run(mixed, LDiversity(2, "s0"))) == {frozenset({0, 1}), frozenset({2, 3})}


def test_several_rules_at_once_and_rules_without_caps():
    data = encoded(np.random.default_rng(4), 300, "tos", sensitive=[5, 3])
    rule = All((KAnonymity(4), LDiversity(3, "s0"), TCloseness(0.3, "s1"), LDiversity(2, "s1")))
    part = run(data, rule)
    assert part.groups > 3
    assert rule.holds(data.stats(part)).all()
    assert sorted(part.rows.tolist()) == list(range(300))


def test_a_table_that_breaks_the_rule_is_refused():
    data = table([numbers(1, 2)], [[0], [1]])
    with pytest.raises(Infeasible, match="largest k possible is 2"):
        run(data, KAnonymity(3))


def test_equal_rows_stay_one_group_under_strict_cuts():
    data = table([numbers(1)], [[0]] * 7)
    assert as_sets(run(data, KAnonymity(2))) == {frozenset(range(7))}


@pytest.mark.parametrize("seed", range(5))
def test_row_order_does_not_matter_under_strict_cuts(seed):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 200, "tos")
    order = rng.permutation(200)
    moved = Encoded(data.names, data.codes[order], data.domains, {}, {})
    there = {frozenset(order[list(g)].tolist()) for g in as_sets(run(moved, KAnonymity(5)))}
    losses = [iloss(d, run(d, KAnonymity(5))).rate for d in (data, moved)]
    assert losses[0] == pytest.approx(losses[1])
    assert there == as_sets(run(data, KAnonymity(5)))
