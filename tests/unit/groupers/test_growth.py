"""The pruned search makes the same choices as trying every row."""

import numpy as np
import pytest

from shoal.coding.space import balanced_weights, make_space
from shoal.coding.tuples import entries
from shoal.groupers import k_member, kaim
from shoal.groupers.growth import grow_groups, in_turns, settle_rows
from shoal.groupers.limits import limits_of
from shoal.kernels.space.build_tree import build_tree
from shoal.measures.losses.ncp import iloss
from shoal.privacy import AlphaK, KAnonymity
from tests.naive import growth, joins
from tests.tables import encoded


def as_sets(partition):
    return {
        frozenset(partition.rows[a:b].tolist())
        for a, b in zip(partition.starts, partition.starts[1:], strict=False)
    }


def twin(data, space, k, seed, cost, distance=None):
    """The naive partition, with the kernel's numbering of the entries as tie-break."""
    distinct, entry, count = entries(data.codes)
    _, order = build_tree(space, distinct, count, np.zeros(count.size, np.int32))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    seeds = np.random.default_rng(seed).permutation(data.rows).tolist()
    groups = growth.grow(range(data.rows), k, seeds, rank[entry].tolist(), cost, distance)
    return {frozenset(group) for group in groups}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))  # every kind of table with every share of gaps
@pytest.mark.parametrize("seeds", ["random", "furthest"])
def test_k_member_equals_its_twin(seed, seeds):
    rng = np.random.default_rng(seed)
    kinds = ["tos", "t", "o", "s", "ttoo", "ooo", "sss", "tosto"][seed % 8]
    data = encoded(rng, int(rng.integers(6, 40)), kinds, missing=[0.0, 0.2, 0.5][seed % 3])
    k = int(rng.integers(2, 6))
    cost = joins.NcpCost(data)
    got = k_member.group(data, KAnonymity(k), np.random.default_rng(seed), seeds=seeds)
    distance = cost.distance if seeds == "furthest" else None
    assert as_sets(got) == twin(data, make_space(data), k, seed, cost, distance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("weights", ["balanced", "unit"])
def test_kaim_equals_its_twin(seed, weights, monkeypatch):
    """Balanced: one start. Unit: equation 12 in full."""
    monkeypatch.setattr(kaim, "PATIENCE", 0)
    rng = np.random.default_rng(100 + seed)
    kinds = ["ttt", "to", "t", "oo", "tto"][seed % 5]
    data = encoded(rng, int(rng.integers(6, 40)), kinds, missing=[0.0, 0.2, 0.5][seed % 3])
    k = int(rng.integers(2, 6))
    factors = balanced_weights(data) if weights == "balanced" else np.ones(len(data.domains))
    got = kaim.group(data, KAnonymity(k), np.random.default_rng(seed), weights=weights)
    space = make_space(data, "entropy", factors)
    cost = joins.KaimCost(data, factors, counted=weights == "unit")
    assert as_sets(got) == twin(data, space, k, seed, cost)


@pytest.mark.slow
def test_kaim_keeps_the_best_of_several_starts_on_few_rows(monkeypatch):
    data = encoded(np.random.default_rng(8), 40, "tto", missing=0.2)
    space = make_space(data, "entropy", balanced_weights(data))
    for seed in range(10):
        rng, starts = np.random.default_rng(seed), []
        while len(starts) - np.argmin([*starts, np.inf]) <= kaim.PATIENCE:
            starts.append(iloss(data, grow_groups(data, space, KAnonymity(3), rng)).rate)
        kept = kaim.group(data, KAnonymity(3), np.random.default_rng(seed))
        assert iloss(data, kept).rate == pytest.approx(min(starts))
        monkeypatch.setattr(kaim, "SMALL", 39)
        once = kaim.group(data, KAnonymity(3), np.random.default_rng(seed))
        monkeypatch.setattr(kaim, "SMALL", 40)
        assert iloss(data, once).rate == starts[0] >= min(starts)


def test_balanced_weights_give_every_column_the_same_average():
    data = encoded(np.random.default_rng(5), 60, "ttto")
    cost = joins.KaimCost(data, [1.0] * 4)
    for j, weight in enumerate(balanced_weights(data)):
        domain = data.domains[j]
        rates = [
            cost.gen_rate(j, joins.cover(domain, [int(p)]), "*")
            for p in data.codes[:, j]
            if p < domain.size
        ]
        assert weight * sum(rates) / len(rates) == pytest.approx(1.0)


def test_missing_drop_leaves_out_the_incomplete_rows():
    data = encoded(np.random.default_rng(2), 60, "to", missing=0.3)
    part = k_member.group(data, KAnonymity(3), np.random.default_rng(0), missing="drop")
    assert set(part.left_out.tolist()) == set(np.flatnonzero(data.missing.any(axis=1)).tolist())
    assert part.sizes.min() >= 3
    assert sorted([*part.rows, *part.left_out]) == list(range(60))


def test_search_visits_few_entries():
    """A guard against losing the pruning: brute force looks at n / 2 entries per row on average."""
    data = encoded(np.random.default_rng(3), 4000, "ttooo", missing=0.02)
    visits = np.zeros(1, np.int64)
    grow_groups(data, make_space(data), KAnonymity(10), np.random.default_rng(0), visits=visits)
    assert visits[0] / data.rows < 400


@pytest.mark.parametrize("seed", range(30))
def test_rows_left_over_settle_as_their_twins_do(seed):
    rng = np.random.default_rng(seed)
    kinds = ["os", "tos", "o", "s", "tto", "sso"][seed % 6]
    data = encoded(rng, int(rng.integers(20, 50)), kinds, missing=0.1, sensitive=(3,))
    codes = data.sensitive["s0"]
    if seed % 2:
        codes[rng.random(codes.size) < 0.2] = -1
    share = [0.4, 0.5, 0.7][seed % 3]
    limits, tags = limits_of(data, AlphaK(share, 3, "s0"))
    order = rng.permutation(data.rows)
    members = order[: 5 * limits.target].reshape(5, -1)
    rest = order[members.size :]
    labels = np.full(data.rows, -1, np.int64)
    labels[members] = np.arange(5)[:, None]
    settle_rows(data, limits, tags, members, rest, labels)

    groups = members.tolist()
    values = [None if c < 0 else int(c) for c in codes]
    rows = in_turns(rest, tags).tolist()
    outside = growth.settle(groups, rows, values, share, joins.JoinCost(data))
    for g, group in enumerate([*groups, outside]):
        assert set(np.flatnonzero(labels == g).tolist()) == set(group)


def test_turns_keep_every_row_and_mix_the_tags():
    rng = np.random.default_rng(0)
    rest, tags = rng.permutation(900)[:600], rng.integers(0, 3, 900).astype(np.int32)
    order = in_turns(rest, tags)
    assert sorted(order.tolist()) == sorted(rest.tolist())
    changes = int((np.diff(tags[order]) != 0).sum())
    assert 100 < changes < 300
    many = in_turns(rest, np.arange(900, dtype=np.int32))
    assert sorted(many.tolist()) == sorted(rest.tolist())
