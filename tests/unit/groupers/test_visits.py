"""Kernels count the entries they look at: guards against losing a bound, which no clock is."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.coding.space import make_space
from shoal.groupers import k_member, l_clustering
from shoal.groupers.growth import grow_groups, grow_members, settle_rows
from shoal.groupers.levels import make_ladders
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import partners
from shoal.groupers.shoal import peel
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.groupers.shoal.trials import Trials, refined
from shoal.privacy import AlphaK, KAnonymity, LDiversity
from tests.tables import encoded


@pytest.fixture(scope="module")
def data():
    return encoded(np.random.default_rng(3), 4000, "ttooo", missing=0.02, sensitive=(6,))


@pytest.fixture(scope="module")
def tight(data):
    """The same rows with sensitive values of which the first is frequent and the last rare."""
    values = np.minimum(np.random.default_rng(4).geometric(0.35, data.rows) - 1, 5)
    return replace(data, sensitive={"s0": values.astype(np.int32)})


def started(data):
    return make_task(data, KAnonymity(10), EFFORTS["normal"])


@pytest.mark.slow
def test_peel_looks_under_roofs_first(monkeypatch):
    """Without roofs every entry that is left is looked at under every pattern, to the same end."""
    data = encoded(np.random.default_rng(3), 300, "tttttoo", missing=0.02)
    task, found = replace(started(data), ladders=make_ladders(data, 10, merge=0.0)), []
    for blocks in ((1, 1), peel.BLOCKS):
        monkeypatch.setattr(peel, "BLOCKS", blocks)
        seen, rng = np.zeros(1, np.int64), np.random.default_rng(0)
        found.append((peel.peel_off(task, rng, 8000, seen), seen[0] / data.rows))
    (plain, most), (roofed, seen) = found
    assert np.array_equal(plain, roofed)
    assert 0 < seen < 0.6 * most, (seen, most)


def test_a_trial_prices_a_few_groups_and_rows(data):
    """Without the bit sets every group would be priced for every row that a trial frees."""
    wanted, seen, labels = Trials(8, passes=2), np.zeros(1, np.int64), np.arange(data.rows) // 10
    refined(started(data), labels, wanted, np.random.default_rng(0), seen)
    trials = wanted.count * data.rows / 10
    assert 0 < seen[0] / trials < 340


def test_l_clustering_looks_at_few_rows_and_clusters(data):
    seen = np.zeros(1, np.int64)
    l_clustering.cluster(data, LDiversity(3, "s0"), np.random.default_rng(0), seen)
    assert 0 < seen[0] / data.rows < 80


def test_growth_passes_by_rows_whose_values_a_group_holds(tight):
    """A node must forget values that are used up below it, or it is searched for nothing."""
    seen = np.zeros(1, np.int64)
    rule, rng = LDiversity(5, "s0"), np.random.default_rng(0)
    grow_groups(tight, make_space(tight), rule, rng, visits=seen)
    assert 0 < seen[0] / tight.rows < 110


def test_rows_left_over_pass_by_the_groups_that_are_full(tight):
    """A search from one full group to the next would begin hundreds of times for a row."""
    limits, tags = limits_of(tight, AlphaK(0.37, 8, "s0"))
    seeds, seen = np.random.default_rng(0).permutation(tight.rows), np.zeros(1, np.int64)
    members = grow_members(tight, make_space(tight), limits, tags, seeds)
    labels = np.full(tight.rows, -1, np.int64)
    labels[members] = np.arange(members.shape[0])[:, None]
    rest = np.flatnonzero(labels < 0)
    settle_rows(tight, limits, tags, members, rest, labels, seen)
    assert rest.size > 200
    assert 0 < seen[0] / rest.size < 150


def test_repair_looks_at_a_part_of_the_groups_for_each_that_fails(data):
    """When all groups fail at once, all pairs of them would be too many."""
    part = k_member.group(data, KAnonymity(2), np.random.default_rng(0))
    seen = np.zeros(1, np.int64)
    partners(data, make_space(data), part, np.arange(part.groups), 8, seen)
    assert 0 < seen[0] / part.groups < 300 < part.groups / 6
