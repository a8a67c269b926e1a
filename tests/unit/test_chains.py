"""Nodes that prices name are opened as in plain Python; chains are combined by component."""

import numpy as np
import pytest

from shoal.coding.tuples import entries
from shoal.groupers import shoal
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import conditions_of
from shoal.groupers.patterns import make_ladders
from shoal.groupers.prices import chains
from shoal.groupers.refinement import renumbered
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.prices import reopen
from shoal.privacy import KAnonymity
from tests.naive import reopening as naive
from tests.tables import encoded

K = 3


def a_table(seed, rows=36):
    rng = np.random.default_rng(seed)
    data = encoded(rng, rows, ["tot", "tt", "ot"][seed % 3], missing=0.1 * (seed % 2))
    boxes = make_boxes(data, rng.uniform(0.5, 1.5, len(data.domains)))  # nothing costs the same
    return data, boxes, rng.permutation(rows) // (K + 1), rng


def a_node(data, boxes, rng):
    """Some rows with what their join costs a row, missing cells included."""
    rows = rng.permutation(data.rows)[: rng.integers(K, 9)]
    state = start_state(boxes, data.codes[rows], np.zeros(rows.size, np.int64))
    gaps = data.codes[rows] == boxes.size
    return rows, float(state.cost.sum()) / max(1, (~gaps).sum()) * data.codes.shape[1]


@pytest.mark.parametrize("seed", range(6))
def test_opening_a_node_equals_its_twin(seed):
    data, boxes, labels, rng = a_table(seed)
    shard, room = chains.make_shard(data, K, conditions_of(data, KAnonymity(K))[1], boxes, labels)
    group, stayed = shard.state.chains.group, 0

    def measure(rows):
        return float(start_state(boxes, data.codes[rows], np.zeros(len(rows), np.int64)).cost.sum())

    for _ in range(60):
        rows, cost = a_node(data, boxes, rng)
        cost *= rng.uniform(0.3, 1.0)
        chains.look_everywhere(shard, room)
        before, new = group.tolist(), int(shard.state.free[shard.state.live[0] - 1])
        told = [room.pays[place].tolist() for place in range(3)]
        near = shard.work.candidates[shard.entry].tolist()
        wanted = (before, cost, K, shard.most, told, near, measure, new, reopen.MARGIN)
        nodes = reopen.NodeRows(np.array([0, rows.size]), rows, np.array([cost]))
        change, opened = reopen.open_nodes(shard, nodes, np.zeros(1, np.int64), room, 0.0)
        assert group.tolist() == naive.attempt(rows.tolist(), *wanted)
        assert opened == (group.tolist() != before) == (change < 0.0)
        stayed += opened
    assert stayed > 2
    fresh = start_state(boxes, data.codes, renumbered(group))
    assert fresh.cost.sum() == pytest.approx(shard.state.cost.sum())
    assert not room.counts[:2].any()
    assert not room.going.any()


def test_a_warm_node_may_lose_but_no_group_gets_too_small():
    data, boxes, labels, rng = a_table(2, rows=120)
    shard, room = chains.make_shard(data, K, conditions_of(data, KAnonymity(K))[1], boxes, labels)
    before, changes = shard.state.cost.sum(), []
    for _ in range(200):
        rows, cost = a_node(data, boxes, rng)
        nodes = reopen.NodeRows(np.array([0, rows.size]), rows, np.array([cost]))
        chains.look_everywhere(shard, room)
        changes.append(reopen.open_nodes(shard, nodes, np.zeros(1, np.int64), room, 0.5)[0])
    sizes = np.bincount(shard.state.chains.group)
    assert sizes[sizes > 0].min() >= K
    assert shard.state.cost.sum() == pytest.approx(before + sum(changes))
    assert min(changes) < 0.0 < max(changes)


@pytest.mark.parametrize("seed", range(4))
def test_the_cheaper_side_of_every_component_is_taken(seed):
    data, boxes, _, rng = a_table(seed, rows=60)
    alike = entries(data.codes)[1]
    sides = []
    for _ in range(2):  # pieces of the table that both divide by themselves, in their own ways
        pieces = [rng.permutation(12) // 4 + 3 * piece for piece in range(5)]
        sides.append(np.concatenate(pieces))
    best = chains.combined(data, boxes, np.arange(60), sides)
    loss = 0.0
    for rows in naive.components(*(side.tolist() for side in sides)):
        inside = sorted(rows)
        loss += min(shoal.cost(data.take(inside), boxes, renumbered(s[inside])) for s in sides)
    assert shoal.cost(data, boxes, best) == pytest.approx(loss)
    # Rows that are the same may change places: there are more components then, and never fewer.
    assert shoal.cost(data, boxes, chains.combined(data, boxes, alike, sides)) <= loss + 1e-9


def test_chains_lose_no_more_than_their_start_and_end_when_told(monkeypatch):
    data, _, labels, rng = a_table(3, rows=150)
    monkeypatch.setattr(chains, "ROUNDS", 2)
    boxes = make_boxes(data, data.weights)
    conditions = conditions_of(data, KAnonymity(K))[1]
    shape = (K, conditions, boxes, make_ladders(data, data.weights, K, 0.0))
    nodes = reopen.NodeRows(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    effort = shoal.EFFORTS["max"]
    found = chains.chained(data, shape, labels, nodes, effort, rng)
    assert np.bincount(found).min() >= K
    assert shoal.cost(data, boxes, found) < shoal.cost(data, boxes, labels)
    same = chains.chained(data, shape, labels, nodes, effort, rng, lambda: True)
    assert (same == labels).all()
