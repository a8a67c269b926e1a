"""Groups with the table's mix from the start: t-closeness, beta-likeness; nobody beats us there."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.coding.space import make_space
from shoal.groupers import conditions, k_member, mondrian, shoal
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import limits_of
from shoal.groupers.shoal import mix
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.kernels import limits as kernel
from shoal.kernels.limits import new_tally
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    All,
    BetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)
from tests.tables import encoded


def table(seed, n=150):
    return encoded(np.random.default_rng(seed), n, "to", sensitive=(4,))


def far_from(counts, quota, ordered):
    """Return the distance from the table's shares, written down as it is defined.

    The last of five values is the missing one.
    """
    p = np.asarray(counts) / sum(counts)
    if ordered and p.size == 5:
        off, rest = abs(p[4] - quota[4]), 1 - max(p[4], quota[4])
        if not rest:
            return off
        return off + rest * far_from(p[:4], quota[:4] / quota[:4].sum(), True)
    if ordered:
        return np.abs(np.cumsum(p - quota)).sum() / (len(counts) - 1)
    return np.abs(p - quota).sum() / 2


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_a_row_is_banned_only_when_no_way_to_the_target_is_left(distance, gaps, monkeypatch):
    monkeypatch.setattr(kernel, "_stray", kernel._stray.py_func)  # inner kernels have no other door
    data, rule = table(1), TCloseness(0.25, "s0", distance)
    data.sensitive["s0"][np.random.default_rng(7).random(data.rows) < gaps] = -1
    values = 5 if gaps else 4
    quota = conditions.shares(data, rule.reading)
    limits, _ = limits_of(data, rule, 6, {rule.reading: quota})
    rng, ended = np.random.default_rng(2), 0
    for _ in range(200):
        held = rng.integers(0, values, rng.integers(1, 6))
        tally = new_tally(limits)
        for tag in held:
            kernel.note.py_func(limits, tally, tag)
        kernel.ban.py_func(limits, tally, held.size)
        for tag in range(values):
            ways = combinations_with_replacement(range(values), 6 - held.size - 1)
            ends = [np.bincount([*held, tag, *way], minlength=values) for way in ways]
            best = min(far_from(end, quota[:values], distance == "ordered") for end in ends)
            if best <= 0.25:
                assert not tally.banned[tag]
            elif held.size == 5 and (distance == "equal" or not gaps):
                ended += 1
                assert tally.banned[tag]  # the last row settles it: what is let in keeps the rule
    assert ended > 20 or (gaps and distance == "ordered")


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_grown_groups_are_near_the_table_before_any_repair(distance):
    data, rule = table(3), All((KAnonymity(3), TCloseness(0.2, "s0", distance)))
    for size in mix._sizes(data, rule, 3):
        reading = rule.rules[1].reading
        limits, tags = limits_of(data, rule, size, {reading: conditions.shares(data, reading)})
        rows = np.random.default_rng(0).permutation(data.rows)
        members = grow_members(data, make_space(data), limits, tags, rows)
        assert members.shape[0] >= min(4, data.rows // (2 * size))
        for group in members:
            counts = np.bincount(data.sensitive["s0"][group], minlength=4)
            quota = conditions.shares(data, "s0")
            assert far_from(counts, quota, distance == "ordered") <= 0.2 + 1e-9


@pytest.mark.parametrize("enhanced", [False, True])
def test_rare_values_wait_for_a_group_that_can_hide_them(enhanced):
    data, rule = table(3, 400), BetaLikeness(0.7, "s0", enhanced)
    codes = data.sensitive["s0"]
    codes[:] = np.repeat([0, 1, 2, 3], [200, 130, 66, 4])[np.random.default_rng(4).permutation(400)]
    quota = {rule.reading: conditions.shares(data, rule.reading)}
    most = [q * (1 + min(0.7, -np.log(q) if enhanced else 0.7)) for q in (0.5, 0.325, 0.165, 0.01)]
    assert np.allclose(rule.mix(quota[rule.reading]).most[:4], most)
    asked = conditions.asked_mixes(data, rule)
    size = conditions.least_size(asked)
    assert sum(int(share * size + 1e-9) for share in most) >= size
    assert sum(int(share * (size - 1) + 1e-9) for share in most) < size - 1
    rare, needed = mix._rare(data, asked, np.arange(400), 8)
    assert (rare == (codes == 3)).all() and needed == np.ceil(4 / most[3] - 1e-9)
    limits, tags = limits_of(data.take(np.flatnonzero(~rare)), rule, 8, quota)
    kept = data.take(np.flatnonzero(~rare))
    members = grow_members(kept, make_space(kept), limits, tags, np.arange(kept.rows))
    assert members.shape[0] > 10
    for group in members:
        counts = np.bincount(kept.sensitive["s0"][group], minlength=4)
        assert (counts <= np.array(most) * 8 + 1e-9).all()


def test_rows_that_no_group_of_the_size_can_hold_are_left_to_larger_groups():
    data, rule = table(3, 400), BetaLikeness(1.5, "s0")
    data.sensitive["s0"][:] = np.arange(400) % 4  # at most 0.625 of two rows: none of a value
    task = make_task(data, All((KAnonymity(2), rule)), EFFORTS["normal"])
    assert (mix.mixed(task, np.random.default_rng(1), 1) == 0).all()
    made = shoal.group(data, rule, np.random.default_rng(1))
    assert (made.labels() >= 0).all()


def test_groups_end_where_the_rows_left_are_fewer_than_a_group_has(monkeypatch):
    data, rule = encoded(np.random.default_rng(1), 7, "to", sensitive=(6,)), BetaLikeness(0.5, "s0")
    # Two rows have a value that a group of three may hold; all others are too rare for it.
    data.sensitive["s0"][:] = [0, 0, 1, 2, 3, 4, 5]
    tried = []

    def watched(part, rule, size, quota):
        tried.append(size)
        assert sorted(set(tried)) == tried, f"tried again: {tried}"
        return limits_of(part, rule, size, quota)

    monkeypatch.setattr(mix, "limits_of", watched)
    labels = mix.mixed(make_task(data, rule, EFFORTS["normal"]), np.random.default_rng(1), 3)
    assert tried[0] == 3 and (labels == 0).all()


def test_of_too_many_groups_the_cheapest_stay():
    data = table(5)
    task, members = make_task(data, KAnonymity(2), EFFORTS["fast"]), np.arange(60).reshape(12, 5)
    lost = [iloss(data.take(rows), Partition.one(5)).rate for rows in members]
    kept = mix._cheapest(task, members, 7)
    assert {tuple(group) for group in kept} == {tuple(members[i]) for i in np.argsort(lost)[:7]}
    assert (mix._cheapest(task, members, 12) == members).all()


RULES = [
    TCloseness(0.2, "s0"),
    TCloseness(0.2, "s0", "ordered"),
    BetaLikeness(0.8, "s0"),
    EntropyLDiversity(2.5, "s0"),
    RecursiveLDiversity(2, 1.5, "s0"),
]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[-40:])
def test_no_other_method_loses_less_under_a_rule_on_shares(rule):
    for seed, k in ((0, 3), (1, 8)):
        data, both = table(seed), All((KAnonymity(k), rule))
        ours = shoal.group(data, both, np.random.default_rng(seed))
        assert both.holds(data.stats(ours)).all()
        for method in (mondrian, k_member):
            theirs = method.group(data, both, np.random.default_rng(seed))
            assert iloss(data, ours).rate <= iloss(data, theirs).rate + 1e-9


@pytest.mark.parametrize("drawn", [60, 8])
def test_sizes_that_a_sample_has_too_few_groups_of_are_tried_on_the_whole_table(drawn, monkeypatch):
    data = table(6, 120)
    task = make_task(data, All((KAnonymity(2), TCloseness(0.4, "s0"))), EFFORTS["normal"])
    tried, made = [], mix.mixed

    def watched(part, rng, size):
        tried.append((part.data.rows, size))
        return made(part, rng, size)

    monkeypatch.setattr(mix, "mixed", watched)
    monkeypatch.setattr(mix, "SAMPLE", 100)
    monkeypatch.setattr(mix, "DRAWN", drawn)
    labels = mix.balanced(task, np.random.default_rng(1))
    sizes = mix._sizes(data, task.rule, task.k)
    larger = [size for size in sizes if size * mix.JUDGED > drawn]
    assert larger and [size for rows, size in tried if rows == 120][-len(larger) :] == larger
    assert task.rule.holds(data.stats(Partition.from_labels(labels))).all()
    assert (len(larger) == len(sizes)) == (drawn == 8)
    assert {size for rows, size in tried if rows == drawn}.isdisjoint(larger)
