"""Nodes that prices name are opened as in plain Python; chains are combined by component."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.coding.tuples import entries
from shoal.groupers.boxes import make_boxes
from shoal.groupers.shoal import chains
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.groupers.shoal.trials import renumbered
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.judge import Nodes
from shoal.kernels.prices import reopen
from shoal.privacy import KAnonymity
from tests.naive import reopening as naive
from tests.tables import encoded

K = 3


def a_table(seed, rows=36):
    rng = np.random.default_rng(seed)
    data = encoded(rng, rows, ["tot", "tt", "ot"][seed % 3], missing=0.1 * (seed % 2))
    boxes = make_boxes(data, rng.uniform(0.5, 1.5, len(data.domains)))  # nothing costs the same
    task = replace(make_task(data, KAnonymity(K), EFFORTS["max"]), boxes=boxes)
    return task, rng.permutation(rows) // (K + 1), rng


def a_node(task, rng):
    """Some rows with what their join costs a row, missing cells included."""
    data, boxes = task.data, task.boxes
    rows = rng.permutation(data.rows)[: rng.integers(K, 9)]
    state = start_state(boxes, data.codes[rows], np.zeros(rows.size, np.int64))
    gaps = data.codes[rows] == boxes.size
    return rows, float(state.cost.sum()) / max(1, (~gaps).sum()) * data.codes.shape[1]


@pytest.mark.parametrize("seed", range(6))
def test_opening_a_node_equals_its_twin(seed):
    task, labels, rng = a_table(seed)
    data, boxes = task.data, task.boxes
    shard, room = chains.open_shard(task, labels)
    group, stayed = shard.state.chains.group, 0

    def measure(rows):
        return float(start_state(boxes, data.codes[rows], np.zeros(len(rows), np.int64)).cost.sum())

    for _ in range(60):
        rows, cost = a_node(task, rng)
        cost *= rng.uniform(0.3, 1.0)
        chains.look_everywhere(shard, room)
        before, new = group.tolist(), int(shard.state.free[shard.state.live[0] - 1])
        told = [pays.tolist() for pays in (room.now, room.away, room.free)]
        near = shard.work.candidates[shard.entry].tolist()
        wanted = (before, cost, K, shard.most, told, near, measure, new, reopen.MARGIN)
        nodes = Nodes(np.array([0, rows.size]), rows, np.array([cost]))
        change, opened = reopen.open_nodes(shard, nodes, np.zeros(1, np.int64), room, 0.0)
        assert group.tolist() == naive.attempt(rows.tolist(), *wanted)
        assert opened == (group.tolist() != before) == (change < 0.0)
        stayed += opened
    assert stayed > 2
    fresh = start_state(boxes, data.codes, renumbered(group))
    assert fresh.cost.sum() == pytest.approx(shard.state.cost.sum())
    assert not room.offer.have.any() and not room.offer.fate.any()
    assert not room.going.any()


def test_a_warm_node_may_lose_but_no_group_gets_too_small():
    task, labels, rng = a_table(2, rows=120)
    shard, room = chains.open_shard(task, labels)
    before, changes = shard.state.cost.sum(), []
    for _ in range(200):
        rows, cost = a_node(task, rng)
        nodes = Nodes(np.array([0, rows.size]), rows, np.array([cost]))
        chains.look_everywhere(shard, room)
        changes.append(reopen.open_nodes(shard, nodes, np.zeros(1, np.int64), room, 0.5)[0])
    sizes = np.bincount(shard.state.chains.group)
    assert sizes[sizes > 0].min() >= K
    assert shard.state.cost.sum() == pytest.approx(before + sum(changes))
    assert min(changes) < 0.0 < max(changes)


def loss(task, rows, labels):
    """What some rows lose in their groups."""
    own = np.zeros(len(rows), np.int64) + renumbered(labels[rows])
    return float(start_state(task.boxes, task.data.codes[rows], own).cost.sum())


@pytest.mark.parametrize("seed", range(4))
def test_the_cheaper_side_of_every_component_is_taken(seed):
    task, _, rng = a_table(seed, rows=60)
    data = task.data
    alike = entries(data.codes)[1]
    sides = []
    for _ in range(2):  # pieces of the table that both divide by themselves, in their own ways
        pieces = [rng.permutation(12) // 4 + 3 * piece for piece in range(5)]
        sides.append(np.concatenate(pieces))
    best = chains.combined(task, np.arange(60), sides)
    total = 0.0
    for rows in naive.components(*(side.tolist() for side in sides)):
        inside = sorted(rows)
        total += min(loss(task, inside, s) for s in sides)
    assert task.loss(best) == pytest.approx(total)
    # Rows that are the same may change places: there are more components then, and never fewer.
    assert task.loss(chains.combined(task, alike, sides)) <= total + 1e-9


def test_chains_lose_no_more_than_their_start_and_end_when_stopped():
    task, labels, rng = a_table(3, rows=150)
    task = replace(make_task(task.data, KAnonymity(K), replace(EFFORTS["max"], chains=2)))
    nodes = Nodes(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    found = chains.chained(task, labels, nodes, rng)
    assert np.bincount(found).min() >= K
    assert task.loss(found) < task.loss(labels)
    same = chains.chained(replace(task, stop=lambda: True), labels, nodes, rng)
    assert (same == labels).all()
