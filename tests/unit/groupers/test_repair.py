"""Repair ends with the guarantee, joins cheaply, and counts unions rightly."""

import numba
import numpy as np
import pytest

from shoal.base.errors import Infeasible
from shoal.base.partition import Partition
from shoal.coding.space import make_space
from shoal.groupers import repair as module
from shoal.groupers.repair import partners, repair, unions
from shoal.kernels.space.covers import cover_groups, join_cost, new_covers
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, EntropyLDiversity, KAnonymity, LDiversity, TCloseness
from tests.tables import encoded


@numba.njit
def cost_of_joining(space, covers, a, b):
    """What only kernels can call, for a caller in Python."""
    return join_cost(space, covers, a, b, np.inf)


RULES = [
    KAnonymity(7),
    LDiversity(3, "s0"),
    EntropyLDiversity(2.5, "s0"),
    TCloseness(0.3, "s0"),
    All((KAnonymity(5), LDiversity(2, "s0"), LDiversity(3, "s1"))),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[:30])
@pytest.mark.parametrize("seed", range(4))
def test_repair_ends_with_the_guarantee(rule, seed):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 80, "tos", sensitive=(4, 6))
    part = repair(data, Partition.from_labels(rng.integers(0, 40, 80)), rule)
    assert rule.holds(data.stats(part)).all()
    assert sorted(part.rows.tolist()) == list(range(80))
    assert part.groups > 1


def naive(data, partition, rule):
    """Join failing groups one by one, every cost and every verdict worked out anew."""
    space, rows = (
        make_space(data),
        dict(enumerate(np.split(partition.rows, partition.starts[1:-1]))),
    )

    def short(members):
        if isinstance(rule, KAnonymity):
            return 0.0
        values = data.sensitive["s0"][members]
        counts = np.bincount(values[values >= 0], minlength=5)
        if not counts.any():
            return max(1.0, getattr(rule, "l", 0.0))
        if isinstance(rule, LDiversity):
            return max(0.0, float(rule.l - (counts > 0).sum()))
        whole = np.bincount(data.sensitive["s0"][data.sensitive["s0"] >= 0], minlength=5)
        miss = np.abs(counts / counts.sum() - whole / whole.sum()).sum() / 2 - rule.t
        return miss if miss > 1e-9 else 0.0

    def passes(members):
        small = isinstance(rule, KAnonymity) and members.size < rule.k
        return short(members) == 0.0 and not small

    failing, sweep = [g for g in rows if not passes(rows[g])], 0
    while failing:
        failing.sort(key=lambda g: rows[g].size)
        still = []
        for a in failing:
            if a not in rows:
                continue
            others = [b for b in sorted(rows) if b != a]
            order = np.concatenate([rows[a], *(rows[b] for b in others)])
            starts = np.cumsum([0, rows[a].size, *(rows[b].size for b in others)])
            covers = new_covers(space, len(others) + 2)
            cover_groups(space, covers, data.codes, order, starts)
            costs = [(cost_of_joining(space, covers, 0, i + 1), b) for i, b in enumerate(others)]
            near = sorted(costs)[:32]
            taken = [b for _, b in near if passes(np.concatenate((rows[a], rows[b])))][:1]
            good = bool(taken)
            if not good:
                gains = [
                    short(rows[a]) - short(np.concatenate((rows[a], rows[b]))) for _, b in near
                ]
                pairs = enumerate(zip(near, gains, strict=True))
                worth = [(cost / gain, i) for i, ((cost, _), gain) in pairs if gain > 0]
                taken = [b for _, b in near[: 2 ** (sweep // 5)]]
                if worth:
                    taken = [near[min(worth)[1]][1]]
                still.append(a)
            for b in taken:
                rows[a] = np.concatenate((rows[a], rows.pop(b)))
        failing, sweep = [a for a in still if a in rows], sweep + 1
    return {tuple(sorted(members.tolist())) for members in rows.values()}


@pytest.mark.parametrize("rule", [KAnonymity(7), LDiversity(3, "s0"), TCloseness(0.25, "s0")])
@pytest.mark.parametrize("counted", [0, 10_000])
def test_joining_is_that_of_its_naive_twin(rule, counted, monkeypatch):
    monkeypatch.setattr(module, "COUNTED", counted)  # values of all groups counted, or of rows
    rng = np.random.default_rng(11)
    data = encoded(rng, 120, "tos", sensitive=(5,), missing=0.1)
    part = Partition.from_labels(rng.integers(0, 50, 120))
    made = repair(data, part, rule)
    assert {tuple(sorted(g.tolist())) for g in np.split(made.rows, made.starts[1:-1])} == naive(
        data, part, rule
    )


def test_what_kernels_cannot_judge_is_joined_in_rounds(monkeypatch):
    data = encoded(np.random.default_rng(1), 1800, "to", sensitive=(2,))
    data.sensitive["s0"][:] = np.where(np.arange(1800) < 600, 0, np.arange(1800) % 2)
    labels = np.where(np.arange(1800) < 600, 0, 1 + np.arange(1800) // 4)
    rounds = []
    monkeypatch.setattr(
        module, "partners", lambda *asked: rounds.append(asked[2].groups) or partners(*asked)
    )
    rule = TCloseness(0.2, "s0")  # two thirds have value 0, and half of every small group
    monkeypatch.setattr(TCloseness, "conditions", lambda *_: None)
    part = repair(data, Partition.from_labels(labels), rule)
    assert rule.holds(data.stats(part)).all()
    joined = rounds[0] - part.groups  # far from passing: more and more partners at a time
    assert part.groups > 10 and joined > 50 and len(rounds) < joined / 2


def test_a_passing_partition_is_left_alone():
    data = encoded(np.random.default_rng(0), 40, "to")
    part = Partition.from_labels(np.repeat(np.arange(4), 10))
    assert repair(data, part, KAnonymity(10)) is part


def test_an_impossible_rule_is_refused():
    data = encoded(np.random.default_rng(0), 40, "to", sensitive=(2,))
    with pytest.raises(Infeasible, match="at least 3 different values"):
        repair(data, Partition.from_labels(np.arange(40) // 4), LDiversity(3, "s0"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_join_cost_is_the_growth_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 30, "tos", missing=0.1)
    part = Partition.from_labels(rng.integers(0, 6, 30))
    space = make_space(data)
    covers = new_covers(space, part.groups + 1)
    cover_groups(space, covers, data.codes, part.rows, part.starts)
    scale = 30 * len(data.domains)
    before = iloss(data, part).rate * scale
    costs = {}
    for b in range(1, part.groups):
        labels = part.labels()
        labels[labels == b] = 0
        costs[b] = iloss(data, Partition.from_labels(labels)).rate * scale - before
        assert cost_of_joining(space, covers, 0, b) == pytest.approx(costs[b])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_partners_are_those_that_a_look_at_every_group_finds(seed):
    rng = np.random.default_rng(seed)
    kinds = ["tos", "t", "o", "s", "ttoo", "sso"][seed % 6]
    data = encoded(rng, 150, kinds, missing=[0.0, 0.1, 0.4][seed % 3])
    part = Partition.from_labels(rng.integers(0, 30, 150))
    space = make_space(data)
    covers = new_covers(space, part.groups + 1)
    cover_groups(space, covers, data.codes, part.rows, part.starts)
    wanting, wanted = rng.permutation(part.groups)[:8], 1 + seed % 5
    near = partners(data, space, part, wanting, wanted)
    for a, found in zip(wanting.tolist(), near.tolist(), strict=True):
        others = [b for b in range(part.groups) if b != a]
        costs = sorted((cost_of_joining(space, covers, a, b), b) for b in others)
        assert found == [b for _, b in costs[:wanted]]


def test_what_only_kernels_call_says_so_to_python():
    data = encoded(np.random.default_rng(1), 30, "t")
    space = make_space(data)
    with pytest.raises(TypeError, match="join_cost can be called by kernels alone"):
        join_cost(space, new_covers(space, 3), 0, 1, np.inf)


def test_unions_count_what_the_joined_groups_hold():
    rng = np.random.default_rng(3)
    data = encoded(rng, 60, "t", sensitive=(5,))
    part = Partition.from_labels(rng.integers(0, 6, 60))
    stats = data.stats(part)
    pairs = unions(stats, np.array([0, 2]), np.array([1, 5]))
    labels = part.labels()
    for i, (a, b) in enumerate([(0, 1), (2, 5)]):
        values = data.sensitive["s0"][(labels == a) | (labels == b)]
        hist = pairs.histograms["s0"]
        got = dict(
            zip(
                hist.values[hist.starts[i] : hist.starts[i + 1]].tolist(),
                hist.counts[hist.starts[i] : hist.starts[i + 1]].tolist(),
                strict=True,
            )
        )
        assert got == {v: int((values == v).sum()) for v in np.unique(values).tolist()}
        assert pairs.sizes[i] == values.size
