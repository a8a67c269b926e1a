"""The pruned search makes the same choices as trying every row."""

import numpy as np
import pytest

from shoal.groupers import k_member, kaim
from shoal.kernels.plant import plant
from shoal.rules import KAnonymity
from shoal.space import balanced_weights, make_space
from shoal.tuples import entries
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
    _, order = plant(space, distinct, count, np.zeros(count.size, np.int32))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    seeds = np.random.default_rng(seed).permutation(data.rows).tolist()
    groups = growth.grow(range(data.rows), k, seeds, rank[entry].tolist(), cost, distance)
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("seed", range(40))
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


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("weights", ["balanced", "unit"])
def test_kaim_equals_its_twin(seed, weights):
    rng = np.random.default_rng(100 + seed)
    kinds = ["ttt", "to", "t", "oo", "tto"][seed % 5]
    data = encoded(rng, int(rng.integers(6, 40)), kinds, missing=[0.0, 0.2, 0.5][seed % 3])
    k = int(rng.integers(2, 6))
    factors = balanced_weights(data) if weights == "balanced" else np.ones(len(data.domains))
    got = kaim.group(data, KAnonymity(k), np.random.default_rng(seed), weights=weights)
    space = make_space(data, "entropy", factors)
    assert as_sets(got) == twin(data, space, k, seed, joins.KaimCost(data, factors))


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
    from shoal.groupers.growth import grow_groups

    data = encoded(np.random.default_rng(3), 4000, "ttooo", missing=0.02)
    visits = np.zeros(1, np.int64)
    grow_groups(data, make_space(data), KAnonymity(10), np.random.default_rng(0), visits=visits)
    assert visits[0] / data.rows < 400
