"""Tiny tables are solved: against all partitions, written down one by one."""

from functools import cache

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.groupers import shoal
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, KAnonymity, LDiversity, TCloseness
from tests.stages import without
from tests.tables import encoded


def partitions(rows):
    """Yield the labels of every partition: each row joins an earlier group or begins one."""
    if not rows:
        yield []
        return
    for labels in partitions(rows - 1):
        for group in range(max(labels, default=-1) + 2):
            yield [*labels, group]


RULES = [
    KAnonymity(2),
    KAnonymity(3),
    All((KAnonymity(2), LDiversity(2, "s0"))),
    TCloseness(0.4, "s0"),
]


@cache
def seven(seed):
    """Return a table of seven rows, and what each of its 877 partitions loses and holds."""
    data = encoded(np.random.default_rng(seed), 7, "tos", sensitive=(3,))
    every = (Partition.from_labels(np.array(labels)) for labels in partitions(7))
    return data, [(iloss(data, each).rate, data.stats(each)) for each in every]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_seven_rows_lose_as_little_as_can_be(rule, effort):
    for seed in range(2):
        data, every = seven(seed)
        if not rule.holds(data.whole()).all():
            continue
        best = min(rate for rate, stats in every if rule.holds(stats).all())
        made = shoal.group(data, rule, np.random.default_rng(seed), effort=effort)
        assert rule.holds(data.stats(made)).all()
        assert iloss(data, made).rate == pytest.approx(best, abs=1e-9)


def test_a_small_table_loses_less_when_it_starts_again(monkeypatch):
    data, rule = encoded(np.random.default_rng(5), 60, "tot"), KAnonymity(3)

    def rate(effort):
        return iloss(data, shoal.group(data, rule, np.random.default_rng(1), effort=effort)).rate

    again = rate("normal")
    assert rate("fast") >= again  # normal goes on from where fast ends
    without(monkeypatch, "restarts")
    assert again < rate("normal") <= rate("fast")
