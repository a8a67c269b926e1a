"""Nodes near a release are those that gain at its prices; a start from them is refined to less."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal import anonymize
from shoal.ext.proof.nodes import WORK, price_found
from shoal.groupers import shoal
from shoal.groupers.boxes import make_boxes
from shoal.groupers.levels import UNIT
from shoal.groupers.prices import near
from shoal.groupers.prices.problem import make_problem
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.kernels.boxes.covered import bit_place
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.prices.lists import price_lists
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from tests.naive import prices as naive
from tests.stages import without
from tests.tables import encoded


def found_at(problem, prices, most):
    """The nodes that gain at some prices, as lists of entries."""
    return near._listed(problem, near._find(problem, prices), prices, most)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_that_gain_are_those_of_the_definition(seed, monkeypatch):
    monkeypatch.setattr(near, "LEAST", 0.0)
    monkeypatch.setattr(near, "FIRST_ROOM", 1 + 200 * (seed % 2))
    rng, k = np.random.default_rng(seed), 2 + seed % 3
    data = encoded(rng, 16, ["tt", "ot", "ttt"][seed % 3], missing=seed % 2 * 0.15)
    problem = make_problem(data, k, WORK)
    prices = rng.integers(0, 3 * UNIT, problem.count.size) * ~problem.free
    of = (prices / UNIT)[problem.entry]
    wanted = set()
    for node, rows in naive.nodes(data, k):
        profits = sorted((of[r] - naive.row_cost(data, node, r) for r in rows), reverse=True)
        if sum(profits[:k]) + sum(max(0.0, profit) for profit in profits[k:]) > 1e-6:
            wanted.add(frozenset(problem.entry[rows].tolist()))
    members = found_at(problem, prices + problem.gaps, 16)
    lists = np.split(members.entry, members.start[1:-1]) if members.cost.size else []
    assert {frozenset(entries.tolist()) for entries in lists} == wanted
    assert len(lists) == len(wanted) > 0
    for entries in lists:
        assert (np.diff((prices + problem.gaps)[entries]) <= 0).all()


@pytest.mark.parametrize(("k", "bins", "dear"), [(4, 64, 1), (4, 1, 1), (30, 64, 3), (30, 3, 3)])
def test_lists_are_priced_as_all_nodes_are(k, bins, dear, monkeypatch):
    monkeypatch.setattr(near, "LEAST", 0.0)
    data = encoded(np.random.default_rng(5), 300, "ttt", missing=0.05)
    problem = make_problem(data, k, WORK)
    rich = np.where(problem.free, 0, 3 * UNIT) + problem.gaps
    members = found_at(problem, rich, 300)
    rng = np.random.default_rng(1)
    for turn in range(3):
        prices = np.where(problem.free, 0, rng.integers(0, dear * UNIT, rich.size))
        prices += problem.gaps
        taken, room = np.zeros(rich.size, np.int64), np.empty(rich.size, np.int32)
        until = np.zeros(members.cost.size, np.int64)
        shape = (members, 0, members.cost.size, prices, problem.count, k, turn, 1e3, until, room)
        shape += (np.empty(bins, np.int64),)
        gain = price_lists(*shape, taken)
        every = price_found(problem, prices)
        assert gain == every.gain > 0
        assert (taken == every.taken)[prices > 0].all()  # rows without a price go uncounted there
        assert until.max() > turn + 1  # what is far from a gain may be passed over
        until[:] = turn + 1
        assert price_lists(*shape, taken) == 0


@pytest.mark.slow
def test_a_start_from_near_nodes_is_refined_to_less(monkeypatch):
    table = encoded(np.random.default_rng(5), 600, "tttt", missing=0.05)
    unchained = replace(EFFORTS["normal"], chained=0, nodes=EFFORTS["fast"].nodes)
    monkeypatch.setitem(EFFORTS, "normal", unchained)
    boxes = make_boxes(table, table.weights)
    labels, nodes = near.near_groups(table, near.near_problem(table, 5), boxes, np.arange(600) // 6)
    sizes = np.bincount(labels[labels >= 0])
    assert sizes[sizes > 0].min() >= 5
    for v in range(0, nodes.cost.size, 37):  # no row under a node would cost more there
        rows = nodes.under[nodes.start[v] : nodes.start[v + 1]]
        state = start_state(boxes, table.codes[rows], 0 * rows)
        assert state.cost.sum() <= rows.size * nodes.cost[v] + 1e-6
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        found.append(shoal.group(table, KAnonymity(5), np.random.default_rng(2)))
    assert (found[0].labels() == found[1].labels()).all()
    without(monkeypatch, "prices")
    plain = shoal.group(table, KAnonymity(5), np.random.default_rng(2))
    assert iloss(table, found[0]).rate < iloss(table, plain).rate
    monkeypatch.undo()
    none = replace(unchained, prices=1)  # too many nodes: it is as without prices
    monkeypatch.setitem(EFFORTS, "normal", none)
    same = shoal.group(table, KAnonymity(5), np.random.default_rng(2))
    assert (same.labels() == plain.labels()).all()


def test_no_nodes_where_they_cannot_be_listed(monkeypatch):
    assert near.near_problem(encoded(np.random.default_rng(2), 60, "ts"), 3) is None
    data = encoded(np.random.default_rng(2), 60, "tt")
    assert near.near_problem(data, 1) is None  # every row is a class by itself
    assert near.near_problem(data, 3) is not None
    monkeypatch.setattr(near, "BITS", 1)
    assert near.near_problem(data, 3) is None


def test_places_of_single_bits():
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    with np.errstate(over="ignore"):
        assert [bit_place.py_func(bit) for bit in bits] == list(range(64))


@pytest.mark.slow
def test_a_column_may_have_more_levels_than_eight_bits_count():
    frame = pl.DataFrame({"age": np.random.default_rng(1).integers(0, 3_000, 2_500)})
    for k in (5, 150):
        made = anonymize(frame, quasi=["age"], k=k, prove=True, seed=2**100 + 7)
        assert made.proof.bound.rate <= made.loss.rate


def test_a_search_without_nodes_worth_opening_goes_by_patterns(monkeypatch):
    monkeypatch.setattr(near, "CHOICE", 0)
    monkeypatch.setattr(near, "WORTH_MANY", -2.0)
    data = encoded(np.random.default_rng(3), 600, "ttt", missing=0.1)
    made = shoal.group(data, KAnonymity(100), np.random.default_rng(1))
    assert made.sizes.min() >= 100
