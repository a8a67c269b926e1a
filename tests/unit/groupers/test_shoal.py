"""Our own method: its kernels against plain Python, its invariants, its options."""

import itertools

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.groupers import k_member, shoal
from shoal.groupers import levels as module
from shoal.groupers.boxes import make_boxes
from shoal.groupers.levels import make_ladders
from shoal.groupers.shoal import peel
from shoal.groupers.shoal.efforts import EFFORTS, Effort
from shoal.groupers.shoal.task import make_task
from shoal.groupers.shoal.trials import Trials, refine, refined
from shoal.kernels.boxes.groups import start_state
from shoal.kernels.boxes.lattice import Frontier
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    All,
    AlphaK,
    BetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.tables.domain import Taxonomy
from tests.naive import joins
from tests.naive import peel as naive
from tests.tables import encoded

RULES = [
    KAnonymity(4),
    LDiversity(3, "s0"),
    EntropyLDiversity(2.5, "s0"),
    RecursiveLDiversity(2, 2.0, "s0"),
    FrequencyLDiversity(3, "s0"),
    AlphaK(0.4, 3, "s0"),
    AlphaK(0.3, 3, "s0", ("x1", "x2")),
    TCloseness(0.4, "s0"),
    TCloseness(0.25, "s0", "ordered"),
    BetaLikeness(1.0, "s0"),
    BetaLikeness(1.5, "s0", enhanced=True),
    All((KAnonymity(3), LDiversity(2, "s0"), LDiversity(2, "s1"))),
]


def table(seed, n=60, kinds="tos", gaps=0.1):
    rng = np.random.default_rng(seed)
    data = encoded(rng, n, kinds, sensitive=(5, 4))
    for codes in data.sensitive.values():
        codes[rng.random(n) < gaps] = -1
    return data


@pytest.mark.parametrize("kinds", ["tos", "ttt", "oo", "sss"])
@pytest.mark.parametrize("seed", range(4))
def test_boxes_cost_what_the_loss_says(kinds, seed):
    """The loss of every group, from its box, is the loss of its cells."""
    data = table(seed, kinds=kinds)
    labels = np.random.default_rng(seed).integers(0, 9, data.rows)
    state = start_state(make_boxes(data, data.weights), data.codes, labels)
    for g in range(9):
        rows = np.flatnonzero(labels == g)
        total = 0.0
        for j, domain in enumerate(data.domains):
            codes = [int(p) for p in data.codes[rows, j]]
            known = sum(p < domain.size for p in codes)
            total += known * joins.width(domain, joins.cover(domain, codes)) if known else 0.0
        assert state.cost[g] == pytest.approx(total)
        assert state.size[g] == rows.size


def test_large_domains_cost_the_same_as_small_ones(monkeypatch):
    data = table(3, kinds="tto")
    labels = np.random.default_rng(3).integers(0, 9, data.rows)
    small = start_state(make_boxes(data, data.weights), data.codes, labels).cost
    monkeypatch.setattr("shoal.groupers.boxes.TABLE_LIMIT", 0)
    large = start_state(make_boxes(data, data.weights), data.codes, labels).cost
    assert large == pytest.approx(small)


def classes(labels):
    """The classes as sets of rows, rows that no class took among them."""
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)}


def walk(ladders):
    """All patterns in the order of the frontier."""
    frontier, met = Frontier(ladders), []
    while (batch := frontier.take(7)).size:
        met += [tuple(int(level) for level in pattern) for pattern in batch]
    return met


@pytest.mark.parametrize("seed", range(5))
def test_patterns_come_cheapest_first_and_each_once(seed):
    data = table(seed, kinds="tot")
    ladders = make_ladders(data, 3, merge=0.0)
    met = walk(ladders)
    everything = set(itertools.product(*(range(count) for count in ladders.levels)))
    assert len(met) == len(set(met))
    assert set(met) == everything
    widths = [sum(ladders.width[j, level] for j, level in enumerate(pattern)) for pattern in met]
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(widths))


def test_a_level_with_nodes_of_all_widths_is_not_lost():
    # 45 nodes of 1 to 45 leaves, one level of the hierarchy: no width is far from the next one.
    paths = [(f"{size}-{i}", f"node {size}", "*") for size in range(1, 46) for i in range(size)]
    domain = Taxonomy.from_rows(paths, "x")
    levels, width = module._tree_levels(domain, domain.width, 0.5)
    assert len(levels) == width.size
    assert width[0] == 0.0
    assert width[-1] == 1.0
    assert (width[3:-1] / width[2:-2] < 2.01).all()
    assert 5 < width.size < 12


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("seed", range(3))
def test_peel_equals_its_twin(rule, seed):
    data = table(seed, n=30, kinds=["tot", "ts", "oo"][seed], gaps=0.15)
    task = make_task(data, rule, EFFORTS["normal"])
    got = peel.peel_off(task, np.random.default_rng(0), 1e9)
    expected = naive.peel(data, rule, task.ladders, walk(task.ladders))
    assert classes(got) == classes(np.array(expected))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[:40])
def test_refinement_keeps_the_rule_and_lowers_the_loss(rule, monkeypatch):
    data = table(8, n=500, kinds="ttos")  # smaller ones start again until nothing improves
    losses = []
    for trials in (0.1, 20):
        monkeypatch.setitem(EFFORTS, "test", Effort(0.0, trials, passes=1))
        part = shoal.group(data, rule, np.random.default_rng(2), effort="test")
        assert rule.holds(data.stats(part)).all()
        assert sorted(part.rows.tolist()) == list(range(data.rows))
        losses.append(iloss(data, part).rate)
    assert losses[1] < losses[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_state_stays_true_while_it_changes(seed):
    """After many trials the sizes, boxes and costs are those of the groups there are."""
    data = table(seed, n=400, kinds="ttos")
    rule = All((KAnonymity(3), LDiversity(2, "s0")))
    task = make_task(data, rule, EFFORTS["normal"])
    boxes = task.boxes
    labels = k_member.group(data, rule, np.random.default_rng(seed)).labels()
    state = start_state(boxes, data.codes, labels)
    rng = np.random.default_rng(seed)
    refine(task, state, Trials(25, heat=0.5 * seed), 0, rng)
    fresh = start_state(boxes, data.codes, state.chains.group)
    used = state.size > 0
    groups = np.flatnonzero(used)
    assert (state.size[groups] == fresh.size[groups]).all()
    assert state.cost[groups] == pytest.approx(fresh.cost[groups])
    part = Partition.from_labels(np.unique(state.chains.group, return_inverse=True)[1])
    scale = data.rows * len(data.domains)
    assert state.cost[groups].sum() / scale == pytest.approx(iloss(data, part).rate)
    assert rule.holds(data.stats(part)).all()


def test_it_loses_less_than_greedy_growth():
    data = table(1, n=600, kinds="ttoo")
    ours = shoal.group(data, KAnonymity(5), np.random.default_rng(0))
    theirs = k_member.group(data, KAnonymity(5), np.random.default_rng(0))
    assert iloss(data, ours).rate < 0.9 * iloss(data, theirs).rate


@pytest.mark.slow
def test_a_spent_budget_leaves_the_rest_to_growth():
    data = table(4, n=300)
    task, rng = make_task(data, KAnonymity(5), EFFORTS["normal"]), np.random.default_rng(0)
    labels = peel.peel_off(task, rng, 0)
    assert (labels < 0).all()
    sizes = np.bincount(peel.place_rest(task, labels, rng))
    assert sizes[sizes > 0].min() >= 5
    assert sizes.size > 10


@pytest.mark.slow
def test_importance_protects_a_column():
    data = table(5, n=400, kinds="too")
    plain = iloss(data, shoal.group(data, KAnonymity(5), np.random.default_rng(0)))
    heavy = type(data)(**{**vars(data), "importance": (1.0, 20.0, 1.0)})
    weighed = iloss(data, shoal.group(heavy, KAnonymity(5), np.random.default_rng(0)))
    assert weighed.by_column["o1"] < plain.by_column["o1"]


@pytest.mark.slow
def test_the_entropy_objective_is_another_one():
    data = table(6, n=400, kinds="tto")
    parts = [
        shoal.group(data, KAnonymity(5), np.random.default_rng(0), objective=objective)
        for objective in ("ncp", "entropy")
    ]
    assert iloss(data, parts[0]).rate < iloss(data, parts[1]).rate


def test_it_stops_when_told():
    data = table(7, n=400)
    asked = []

    def stop():
        asked.append(1)
        return len(asked) >= 3

    part = shoal.group(data, KAnonymity(5), np.random.default_rng(0), stop=stop)
    assert len(asked) >= 3
    assert part.sizes.min() >= 5


def test_shards_and_threads_change_nothing_but_time(monkeypatch):
    data, found = table(2, n=500), []
    task = make_task(data, KAnonymity(4), EFFORTS["normal"])
    for threads in (1, 2):
        monkeypatch.setenv("SHOAL_THREADS", str(threads))
        wanted = Trials(10, passes=2, shard=100)
        found.append(refined(task, np.arange(500) // 5, wanted, np.random.default_rng(3)))
    assert (found[0] == found[1]).all()
    assert np.bincount(found[0]).min() >= 4


@pytest.mark.slow
def test_a_lattice_too_large_to_walk_is_asked_of_the_rows(monkeypatch):
    data = table(9, n=400, kinds="ttoo")
    monkeypatch.setattr(peel, "LATTICE", 1)
    monkeypatch.setattr(peel, "WALK", 1)
    asked = shoal.group(data, KAnonymity(4), np.random.default_rng(0))
    greedy = k_member.group(data, KAnonymity(4), np.random.default_rng(0))
    assert asked.sizes.min() >= 4
    assert iloss(data, asked).rate < iloss(data, greedy).rate
