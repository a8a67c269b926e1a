"""Kernels count the entries they look at: guards against losing a bound, which no clock is."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.coding.space import make_space
from shoal.groupers import k_member, l_clustering, peeling, shoal
from shoal.groupers.boxes import make_boxes
from shoal.groupers.conditions import conditions_of
from shoal.groupers.growth import grow_groups, grow_members, settle_rows
from shoal.groupers.limits import limits_of
from shoal.groupers.patterns import make_ladders
from shoal.groupers.refinement import refined
from shoal.groupers.repair import partners
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


def started(data, effort):
    k, conditions = conditions_of(data, KAnonymity(10))
    boxes = make_boxes(data, data.weights, "ncp")
    return k, conditions, boxes, make_ladders(data, data.weights, k, effort.merge, "ncp")


@pytest.mark.slow
def test_peel_looks_under_roofs_first(monkeypatch):
    """Without roofs every entry that is left is looked at under every pattern, to the same end."""
    data = encoded(np.random.default_rng(3), 300, "tttttoo", missing=0.02)
    effort, found = shoal.EFFORTS["max"], []
    k, conditions, boxes, ladders = started(data, effort)
    for blocks in ((1, 1), peeling.BLOCKS):
        monkeypatch.setattr(peeling, "BLOCKS", blocks)
        seen, rng = np.zeros(1, np.int64), np.random.default_rng(0)
        args = (data, KAnonymity(10), k, conditions, boxes, ladders, 8000, rng, seen)
        found.append((peeling.peel_off(*args), seen[0] / data.rows))
    (plain, most), (roofed, seen) = found
    assert np.array_equal(plain, roofed)
    assert 0 < seen < 0.6 * most, (seen, most)


def test_a_trial_prices_a_few_groups_and_rows(data):
    """Without the bit sets every group would be priced for every row that a trial frees."""
    effort, seen = shoal.EFFORTS["normal"], np.zeros(1, np.int64)
    k, conditions, boxes, ladders = started(data, effort)
    labels = np.arange(data.rows) // 10
    args = (data, k, conditions, boxes, ladders, labels, effort)
    refined(*args, np.random.default_rng(0), visits=seen)
    trials = effort.trials * data.rows / k
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
