"""Starts that other methods make for our own: used when they lose less, and never made worse."""

import numpy as np
import pytest

from shoal.groupers import k_member, kaim, mondrian, shoal
from shoal.groupers.shoal import others
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.search import STARTS
from shoal.groupers.shoal.task import make_task
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, AlphaK, KAnonymity, LDiversity, TCloseness
from tests.tables import encoded

SCARCE = [
    LDiversity(5, "s0"),
    All((KAnonymity(6), LDiversity(4, "s0"))),
    AlphaK(0.35, 4, "s0"),
    AlphaK(0.35, 4, "s0", ("x1",)),
    All((AlphaK(0.35, 4, "s0"), LDiversity(4, "s0"))),
]


def table(seed, rows=120):
    return encoded(np.random.default_rng(seed), rows, "tos", sensitive=(5,))


def applying(data, rule, effort="normal"):
    """The names of the starts that apply."""
    task = make_task(data, rule, EFFORTS[effort])
    return {stage.name for stage in STARTS if stage.applies(task)}


@pytest.mark.slow
@pytest.mark.parametrize("rule", SCARCE, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("seed", range(3))
def test_no_start_loses_less_than_the_release(rule, seed):
    data, made = table(seed), []
    task = make_task(data, rule, EFFORTS["normal"])
    for stage in STARTS:
        if stage.applies(task):
            labels = stage.make(task, None, np.random.default_rng(seed))
            made += [] if labels is None else [task.loss(labels)]
    assert len(made) > 1
    ours = shoal.group(data, rule, np.random.default_rng(seed))
    assert rule.holds(data.stats(ours)).all()
    assert task.loss(ours.labels()) <= min(made) + 1e-9


def test_other_methods_are_asked_where_rows_are_few_or_a_rule_has_no_caps():
    few, many = table(1), table(1, 500)
    assert "other methods" in applying(few, KAnonymity(4))
    assert "other methods" not in applying(many, KAnonymity(4))
    assert "other methods" not in applying(many, LDiversity(2, "s0"))
    assert "other methods" in applying(many, TCloseness(0.4, "s0"))
    assert "other methods" not in applying(many, TCloseness(0.4, "s0"), "fast")


def test_where_no_start_was_made_groups_are_grown():
    data = encoded(np.random.default_rng(2), 100, "tt")
    task = make_task(data, KAnonymity(5), EFFORTS["fast"])
    other = np.zeros(100, np.int64)
    assert others.GROWN.make(task, other, np.random.default_rng(1)) is None
    made = others.GROWN.make(task, None, np.random.default_rng(1))
    assert np.bincount(made).min() >= 5


@pytest.mark.parametrize("columns", [4, 16])
def test_a_table_with_many_columns_is_grown_as_well(columns):
    data = encoded(np.random.default_rng(2), 100, "t" * columns)
    task = make_task(data, KAnonymity(5), EFFORTS["fast"])
    other = np.zeros(100, np.int64)
    made = others.GROWN.make(task, other, np.random.default_rng(1))
    assert (made is not None) == (columns > 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "kinds", "method"), [(200, "ot", mondrian), (200, "ot", kaim), (600, "oo", mondrian)]
)
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_nobody_loses_less_where_columns_are_numbers_or_rows_few(rows, kinds, method, effort):
    data = encoded(np.random.default_rng(3), rows, kinds)
    for k in (2, 5, 40):
        theirs = method.group(data, KAnonymity(k), np.random.default_rng(k))
        ours = shoal.group(data, KAnonymity(k), np.random.default_rng(k), effort=effort)
        assert iloss(data, ours).rate <= iloss(data, theirs).rate + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("effort", ["fast", "normal"])
@pytest.mark.parametrize("kinds", ["sss", "sos", "tss", "oo"])
def test_k_member_never_loses_less_where_columns_are_sets_or_numbers(effort, kinds):
    data = encoded(np.random.default_rng(3), 200 if "s" in kinds else 500, kinds)
    for k in (2, 5, 11):
        rule = KAnonymity(k)
        theirs = k_member.group(data, rule, np.random.default_rng(k))
        ours = shoal.group(data, rule, np.random.default_rng(k), effort=effort)
        assert iloss(data, ours).rate <= iloss(data, theirs).rate + 1e-9
