"""Whole nodes are opened as in plain Python, and lose less than trials on rows where k is large."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.coding.tuples import entries
from shoal.groupers import shoal
from shoal.groupers.boxes import make_boxes
from shoal.groupers.levels import make_ladders
from shoal.groupers.prices import near
from shoal.groupers.shoal import node_search as opening
from shoal.groupers.shoal.efforts import EFFORTS, NodeSearch
from shoal.groupers.shoal.task import make_task
from shoal.kernels.boxes.classes import new_hashed
from shoal.kernels.boxes.judge import Nodes as Listed
from shoal.kernels.boxes.opening import reopen, reopen_listed, start_node_trials
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from tests.naive.opening import Nodes
from tests.stages import without
from tests.tables import encoded


def classes(ladders, pattern, codes):
    """The entries by what they look like, classes in the order of their first entries."""
    found = {}
    for t, row in enumerate(codes.T):
        at = ladders.at + pattern * ladders.step + row
        found.setdefault(tuple(ladders.sign[at].tolist()), []).append(t)
    return found.values()


def cost_of(data, members, codes, weights):
    """What the join of some entries costs a row; next to a gap everything."""
    total = 0.0
    for j, domain in enumerate(data.domains):
        values = codes[j, members]
        if (values == domain.size).any():
            total += weights[j]
        else:
            part = Partition.from_labels(np.zeros(len(members), np.int64))
            some = replace(
                data,
                names=("x",),
                codes=values[:, None],
                domains=(domain,),
                sensitive={},
                importance=(),
            )
            total += weights[j] * iloss(some, part).rate
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_equals_its_twin(seed):
    rng, k = np.random.default_rng(seed), 4
    data = encoded(rng, 40, ["tot", "tt", "ot"][seed % 3], missing=0.1 * (seed % 2))
    weights = rng.uniform(0.5, 1.5, len(data.domains))  # no two ways cost the same
    boxes, ladders = make_boxes(data, weights), make_ladders(data, k, merge=0.0)
    ladders = ladders._replace(width=ladders.width * weights[:, None])
    distinct, _, count = entries(data.codes)
    codes = np.ascontiguousarray(distinct.T)
    open_ = opening.one_node(count, ladders, data.rows // k + 2)
    naive = Nodes(count.tolist(), k, float(weights.sum()), data.rows // k + 2)
    search, hashed = start_node_trials(boxes, codes, count, k, open_, 1), new_hashed(count.size)
    patterns = np.array(list(itertools.product(*map(range, ladders.levels))), np.int8)
    opened = 0
    for turn, pattern in enumerate(patterns[rng.permutation(len(patterns))]):
        found = [some for some in classes(ladders, pattern, codes) if count[some].sum() >= k]
        if turn % 2 and found:  # the same nodes as lists of entries
            start = np.append(0, np.cumsum([len(some) for some in found]))
            listed = Listed(start, np.concatenate(found), np.full(len(found), -1.0))
            opened += reopen_listed(search, listed, np.arange(len(found)), 0.0)
        else:
            opened += reopen(search, ladders, pattern[None], hashed, 0.0)
        for members in found:
            naive.attempt(members, cost_of(data, members, codes, weights))
        assert open_.of.tolist() == naive.of
    assert opened > 3
    assert np.bincount(open_.of, count, minlength=open_.size.size).tolist() == open_.size.tolist()
    assert (np.diff(open_.cost[open_.turn[: np.isfinite(open_.cost).sum()]]) >= 0).all()
    assert (open_.cost[open_.of] * count).sum() == pytest.approx(naive.loss())


@pytest.mark.parametrize("priced", [False, True])
def test_groups_have_k_rows_at_any_heat_and_stopping_is_heard(priced, monkeypatch):
    monkeypatch.setattr(near, "CHOICE", 0)
    data = encoded(np.random.default_rng(3), 300, "tot" if not priced else "ttt", missing=0.1)
    whole = make_task(data, KAnonymity(20), EFFORTS["normal"])

    def labels(search, stop=None):
        effort = replace(whole.effort, nodes=search)
        task = replace(whole, effort=effort, stop=stop, equal_weights=priced)
        return opening.opened(task, np.random.default_rng(1))

    asked = iter([False, True])
    for rounds, heat in ((3, 0.3), (2, 0.0)):
        for passes in (0, 20):
            search = NodeSearch(rounds, heat, 1, passes, 600)
            assert np.bincount(labels(search)).min() >= 20
            assert (labels(search) == labels(search)).all()
    search = NodeSearch(9, 0.1, 9, 0, 600)
    assert np.bincount(labels(search, lambda: next(asked, True))).min() >= 20
    assert next(asked, None) is None


def test_whole_nodes_lose_less_than_trials_on_rows(monkeypatch):
    data = encoded(np.random.default_rng(5), 2_000, "tott")
    rule, losses = KAnonymity(100), []
    for _ in range(2):
        part = shoal.group(data, rule, np.random.default_rng(1), effort="fast")
        assert rule.holds(data.stats(part)).all()
        losses.append(iloss(data, part).rate)
        without(monkeypatch, "whole nodes")
    assert losses[0] < losses[1]
