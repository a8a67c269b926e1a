"""Prices of rows prove a bound: it equals its definition and is never above the best release."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import ParameterError
from shoal.catalog import find_method
from shoal.ext.proof import nodes as module
from shoal.ext.proof.ascent import ascend, best_prices, proved_bound
from shoal.ext.proof.bound import Bound, Proof, lower_bound, smallest_class
from shoal.ext.proof.nodes import WORK, make_nodes, price_found, price_kept
from shoal.groupers import k_member, shoal
from shoal.groupers.levels import UNIT, _depth, column_levels, make_levels
from shoal.groupers.prices.ascent import value
from shoal.groupers.prices.problem import make_problem
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.kernels.prices.greedy import Members, greedy
from shoal.measures.losses.ncp import iloss
from shoal.plan.plan import Plan
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.tables.compatibility import faults, refuse
from shoal.tables.domain import Ordered, Taxonomy
from shoal.tables.request import Request
from tests.naive import prices as naive
from tests.stages import without
from tests.tables import encoded

SMALL = settings(max_examples=25, deadline=None)


def gridded(domain, step):
    """An ordered domain whose intervals end at multiples of a step."""
    low = np.floor(domain.points / step) * step
    return replace(domain, ends=(pl.Series(low), pl.Series(np.ceil(domain.points / step) * step)))


@pytest.mark.slow
@SMALL
@given(st.integers(0, 2**32), st.sampled_from(["tt", "ot", "ttt", "t"]), st.integers(2, 4))
def test_never_above_the_best_release(seed, kinds, k):
    data = encoded(np.random.default_rng(seed), 7, kinds, missing=seed % 3 * 0.15)
    best = naive.optimum(data, k) / data.codes.size
    found = lower_bound(data, k)
    assert found.how == "prices"
    assert found.rate <= best + 1e-12
    assert Proof(best, found).above is None or Proof(best, found).above >= 0.0


@pytest.mark.slow
@SMALL
@given(st.integers(0, 2**32), st.sampled_from(["tt", "ot", "ttt"]), st.integers(2, 4))
def test_any_prices_prove_what_the_definition_says(seed, kinds, k):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 14, kinds, missing=seed % 3 * 0.15)
    problem = make_problem(data, k, WORK)
    prices = rng.integers(0, int(1.5 * UNIT), problem.count.size) * ~problem.free
    told = naive.bound(data, k, (prices / UNIT)[problem.entry])
    whole = prices + problem.gaps
    last, kept = price_found(problem, whole), price_kept(make_nodes(problem), whole)
    assert last.gain == kept.gain
    assert (last.taken == kept.taken).all()
    assert value(problem, whole, last.gain) / UNIT == pytest.approx(told, abs=1e-6)
    assert value(problem, whole, last.gain) / UNIT <= told + 1e-12


@pytest.mark.slow
@SMALL
@given(st.integers(0, 2**32), st.integers(2, 3))
def test_intervals_of_a_grid_are_priced_as_they_are_published(seed, k):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 10, "oo", missing=0.1)
    data = replace(data, domains=tuple(gridded(domain, 10.0) for domain in data.domains))
    part = shoal.group(data, KAnonymity(k), rng)
    assert lower_bound(data, k).rate <= iloss(data, part).rate + 1e-12


def test_a_table_by_hand():
    tree = Taxonomy.from_rows([(v, v[0], "*") for v in ("a1", "a2", "b1", "b2")], "x")
    codes = np.array([[0], [1], [2], [3]], np.int32)
    data = replace(encoded(np.random.default_rng(0), 4, "t"), codes=codes, domains=(tree,))
    # {a1, a2} and {b1, b2}, each half of the leaves: nothing else is as cheap.
    assert lower_bound(data, 2).rate == pytest.approx(0.5, abs=1e-6)
    assert lower_bound(data, 3).rate == pytest.approx(1.0, abs=1e-6)
    assert lower_bound(data, 5).rate == 0.0


@pytest.fixture(scope="module")
def table():
    return encoded(np.random.default_rng(5), 600, "tttt", missing=0.05, sensitive=(4,))


@pytest.mark.slow
def test_passes_raise_the_bound_and_methods_stay_above_it(table):
    problem = make_problem(table, 5, WORK)
    values = [found.value for found in ascend(make_nodes(problem), 60)]
    assert values == sorted(values)
    assert values[-1] > 1.1 * values[0]
    bound = lower_bound(table, 5).rate
    rng = np.random.default_rng(1)
    for method in (k_member, shoal):
        assert iloss(table, method.group(table, KAnonymity(5), rng)).rate >= bound
    diverse = shoal.group(table, LDiversity(3, "s0"), rng)
    assert iloss(table, diverse).rate >= lower_bound(table, 3).rate
    assert lower_bound(table, 3).rate < bound


def test_nodes_that_are_not_kept_count_at_the_end(table, monkeypatch):
    problem = make_problem(table, 5, WORK)
    full = best_prices(make_nodes(problem), 40)
    assert proved_bound(problem, full.of) == full.value
    monkeypatch.setattr(module, "KEPT", 2 * problem.count.size * len(problem.patterns) // 2)
    nodes = make_nodes(problem)
    assert nodes.others
    part = best_prices(nodes, 40)
    exact = proved_bound(problem, part.of)
    assert exact == value(problem, part.of, price_found(problem, part.of).gain)
    assert exact > 0.8 * full.value


def test_threads_do_not_change_what_is_proved(table, monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        found.append(lower_bound(table, 4).rate)
    assert found[0] == found[1]


def test_levels_hold_every_join_once():
    rng = np.random.default_rng(3)
    for kind in "ttoo":
        data = encoded(rng, 40, kind, missing=0.1)
        look, width = column_levels(data.domains[0], data.codes[:, 0])
        assert look.shape == width.shape
        assert (look[-1] >= 0).all()
        assert (width[-1] == 1.0).all()
        assert (look[:-1, -1] == -1).all()
        # What is told at once is never more than there are: nothing is refused that could be done.
        assert 1 <= _depth(data.domains[0], data.codes[:, 0]) <= len(look)
        assert make_levels(data, len(look)) is not None
        assert make_levels(data, 0.5) is None


def test_columns_without_nodes_have_the_loose_bound_only(table, monkeypatch):
    data = encoded(np.random.default_rng(2), 60, "ts")
    told = []
    bound = lower_bound(data, 3, lambda rate: bool(told.append(rate)))
    assert bound.how == "nearest"
    assert bound.columns == ("s1",)
    made = k_member.group(data, KAnonymity(3), np.random.default_rng(1))
    assert 0.0 < bound.rate <= iloss(data, made).rate
    said = Proof(2 * bound.rate, bound).describe()
    assert "100.0 % above" in said
    assert "'s1' can be published in too many ways" in said
    monkeypatch.setattr("shoal.ext.proof.bound.PAIRS", 1)
    assert "not known" in Proof(0.5, lower_bound(data, 3)).describe()
    points = np.arange(300.0)
    wide = Ordered(pl.Series(points), points)
    assert column_levels(wide, np.arange(300, dtype=np.int32)) is None


def test_the_sentence():
    bound = Bound(0.07129, 10, "prices", 220)
    assert Proof(0.0765, bound).describe() == (
        "Loss 0.0765. No 10-anonymous release with these hierarchies loses less than 0.0712: at "
        "most 7.4 % above the best possible."
    )
    assert Proof(0.07129, bound).describe().endswith("loses less: it is the best possible.")
    assert Proof(0.0, replace(bound, rate=0.0)).above == 0.0
    assert Proof(0.0765, bound).to_dict()["above"] == pytest.approx(0.0765 / 0.07129 - 1)


def test_what_it_says_nothing_about_is_refused_by_name():
    exact = faults(Request(Plan(), find_method("anatomy"), [KAnonymity(3)], prove=True))
    assert any("'anatomy' publishes every quasi-identifier as it is" in fault for fault in exact)
    with pytest.raises(ParameterError, match=r"needs a promise .* Add k-anonymity \(--k\)"):
        refuse(Request(Plan(), find_method("shoal"), [TCloseness(0.2, "s")], prove=True))
    assert smallest_class([TCloseness(0.2, "s"), KAnonymity(4)]) == 4
    assert smallest_class([LDiversity(3, "s")]) == 3


def test_it_can_be_ended_with_what_is_proved(table):
    seen = []

    def tell(rate):
        seen.append(rate)
        return len(seen) == 8

    bound = lower_bound(table, 5, tell)
    assert bound.stopped
    assert bound.passes == 8
    assert bound.rate == pytest.approx(seen[-1])


@pytest.mark.slow
def test_groups_from_prices_are_those_of_a_plain_loop(table):
    rng = np.random.default_rng(4)
    nodes, entries, k = 60, 40, 3
    price, left = rng.integers(1, UNIT, entries), rng.integers(1, 4, entries)
    inside = [np.flatnonzero(rng.random(entries) < 0.2) for _ in range(nodes)]
    inside = [each[np.argsort(-price[each], kind="stable")] for each in inside]
    start = np.cumsum([0, *map(len, inside)])
    cost = rng.integers(0, UNIT, nodes)
    members = Members(start, np.concatenate(inside).astype(np.int32), cost)
    room, after = np.empty((200, 3), np.int64), left.copy()
    heap, key = np.empty(nodes, np.int64), np.empty(nodes)
    groups, told = greedy(members, price, after, k, heap, key, room)
    plain = naive.greedy(inside, cost, price, left, k)
    assert groups == len(plain) > 3
    found = [(int(g), int(t), int(rows)) for g, t, rows in room[:told]]
    assert found == [(g, t, rows) for g, some in enumerate(plain) for t, rows in some]
    assert after.sum() == left.sum() - room[:told, 2].sum()


@pytest.mark.slow
def test_chains_lose_less_than_trials(table, monkeypatch):
    monkeypatch.setitem(EFFORTS, "max", replace(EFFORTS["max"], trials=20.0, chains=2))
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        part = shoal.group(table, KAnonymity(5), np.random.default_rng(2), effort="max")
        found.append(part.labels())
    assert (found[0] == found[1]).all()
    without(monkeypatch, "chains")
    plain = shoal.group(table, KAnonymity(5), np.random.default_rng(2), effort="max")
    assert iloss(table, part).rate < iloss(table, plain).rate
    assert iloss(table, part).rate >= lower_bound(table, 5).rate
