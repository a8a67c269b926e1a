"""Groups with the table's mix from the start, for t-closeness; and nobody beats the default."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from shoal.coding.space import make_space
from shoal.groupers import k_member, mixing, mondrian, shoal
from shoal.groupers.growth import grow_members
from shoal.groupers.limits import limits_of
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

pytestmark = pytest.mark.compiled


def table(seed, n=150):
    return encoded(np.random.default_rng(seed), n, "to", sensitive=(4,))


def far_from(counts, quota, ordered):
    """Return the distance from the table's shares, written down as it is defined."""
    p = np.asarray(counts) / sum(counts)
    if ordered:
        return np.abs(np.cumsum(p - quota)).sum() / (len(counts) - 1)
    return np.abs(p - quota).sum() / 2


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_a_row_is_banned_only_when_no_way_to_the_target_is_left(distance, monkeypatch):
    monkeypatch.setattr(kernel, "_stray", kernel._stray.py_func)  # inner kernels have no other door
    data, rule = table(1), TCloseness(0.25, "s0", distance)
    quota = mixing.shares(data, "s0")
    limits, _ = limits_of(data, rule, 6, {"s0": quota})
    rng, ended = np.random.default_rng(2), 0
    for _ in range(200):
        held = rng.integers(0, 4, rng.integers(1, 6))
        tally = new_tally(limits)
        for tag in held:
            kernel.note.py_func(limits, tally, tag)
        kernel.ban.py_func(limits, tally, held.size)
        for tag in range(4):
            ways = combinations_with_replacement(range(4), 6 - held.size - 1)
            ends = [np.bincount([*held, tag, *way], minlength=4) for way in ways]
            best = min(far_from(end, quota, distance == "ordered") for end in ends)
            if best <= 0.25:
                assert not tally.banned[tag]
            elif held.size == 5:
                ended += 1
                assert tally.banned[tag]  # the last row settles it: what is let in keeps the rule
    assert ended > 20


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_grown_groups_are_near_the_table_before_any_repair(distance):
    data, rule = table(3), All((KAnonymity(3), TCloseness(0.2, "s0", distance)))
    for size in mixing._sizes(data, rule, 3):
        limits, tags = limits_of(data, rule, size, {"s0": mixing.shares(data, "s0")})
        rows = np.random.default_rng(0).permutation(data.rows)
        members = grow_members(data, make_space(data), limits, tags, rows)
        assert members.shape[0] > 3
        for group in members:
            counts = np.bincount(data.sensitive["s0"][group], minlength=4)
            quota = mixing.shares(data, "s0")
            assert far_from(counts, quota, distance == "ordered") <= 0.2 + 1e-9


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
