"""Trials keep count of every group's sensitive values, and ask the rule before a row moves."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.base.partition import Partition, in_order
from shoal.base.people import People
from shoal.coding.tuples import entries
from shoal.groupers import shoal as method
from shoal.groupers.conditions import conditions_of, sensitive_of
from shoal.groupers.repair import repair
from shoal.groupers.shoal import trials as module
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.groupers.shoal.trials import Trials, refined
from shoal.kernels.boxes import conditions as kernel
from shoal.kernels.boxes import regrow
from shoal.kernels.boxes.covered import YES
from shoal.kernels.boxes.shard import STEP
from shoal.privacy import (
    All,
    BetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from tests.tables import encoded

RULES = [
    All((KAnonymity(3), TCloseness(0.3, "s0"))),
    All((KAnonymity(3), EntropyLDiversity(2.8, "s0"), BetaLikeness(0.9, "s1"))),
]


@pytest.fixture
def in_python(monkeypatch):
    """Let kernels' own functions be called as they are written."""
    inner = ("_miss", "_entropy", "_distance", "_distance_beside_missing", "_excess")
    for name in ("add", "shortfall", *inner):
        monkeypatch.setattr(kernel, name, getattr(kernel, name).py_func)
    for name in ("add", "shortfall"):
        monkeypatch.setattr(regrow, name, getattr(kernel, name))


def table(seed):
    return encoded(np.random.default_rng(seed), 240, "to", sensitive=(4, 3))


def counted(data, labels, groups):
    """Return how often each group has each value, one row at a time."""
    first = np.cumsum([0, *(len(names) for names in data.sensitive_names.values())])
    tally = np.zeros((groups, first[-1]), np.int64)
    for row, group in enumerate(labels):
        for c, codes in enumerate(data.sensitive.values()):
            if codes[row] >= 0:
                tally[group, first[c] + codes[row]] += 1
    return tally


@pytest.mark.parametrize("rule", RULES, ids=["t", "entropy and beta"])
def test_the_count_is_right_after_every_round_and_the_rule_holds(rule, monkeypatch, request):
    data, trials, rounds = table(1), module.trials, []
    said = []
    task = make_task(data, rule, EFFORTS["normal"])

    def watched(shard, *rest):
        gain, stayed = trials(shard, *rest)
        group = shard.state.chains.group
        assert (shard.hidden.tally == counted(data, group, len(shard.hidden.tally))).all()
        known = np.argwhere(shard.hidden.verdict)
        for at in np.random.default_rng(0).choice(len(known), 30):
            g, tag, leaves = known[at]
            row, hist = np.flatnonzero(shard.hidden.alike == tag)[0], shard.hidden.tally[g].copy()
            yes = shard.hidden.verdict[g, tag, leaves] == YES
            said.append((shard.hidden.sens, row, -1 if leaves else 1, hist, yes))
        rounds.append(stayed)
        return gain, stayed

    monkeypatch.setattr(module, "trials", watched)
    start = repair(data, Partition.from_labels(np.arange(240) // 12), rule).labels()
    labels = refined(task, start, Trials(20, passes=2), np.random.default_rng(0))
    request.getfixturevalue("in_python")  # not before: kernels must not be compiled of it
    for *asked, yes in said:
        assert kernel.passes_with.py_func(task.conditions, *asked) == yes
    assert sum(rounds) > 0 and task.loss(labels) < task.loss(start)
    assert rule.holds(data.stats(Partition.from_labels(labels))).all()


def test_without_room_for_the_count_nothing_is_counted_and_the_rule_holds(monkeypatch):
    monkeypatch.setattr(module, "TALLIED", 10)
    data = table(2)
    made = method.group(data, RULES[0], np.random.default_rng(0), effort="fast")
    assert RULES[0].holds(data.stats(made)).all()


@pytest.mark.parametrize("rule", RULES, ids=["t", "entropy and beta"])
def test_a_row_may_join_or_leave_when_the_group_keeps_the_rule_with_the_change(rule, in_python):
    data, rng, answers = table(3), np.random.default_rng(4), []
    _, conditions = conditions_of(data, rule)
    sens = np.column_stack(list(data.sensitive.values())).astype(np.int32)
    for _ in range(40):
        group = rng.choice(240, rng.integers(4, 20), replace=False)
        (hist,) = counted(data.take(group), np.zeros(group.size, int), 1)
        kept, other = hist.copy(), np.setdiff1d(np.arange(240), group)[0]
        for change, row in ((1, other), (-1, group[0])):
            good = kernel.passes_with.py_func(conditions, sens, row, change, hist)
            labels = np.ones(240, np.int64)
            labels[group] = 0
            labels[row] = 1 - labels[row]
            stats = data.stats(Partition.from_labels(labels))
            assert good == All(rule.rules[1:]).holds(stats)[0]
            assert (hist == kept).all()
            answers.append(good)
    assert 5 < sum(answers) < 75


def test_rows_with_the_same_values_are_asked_about_once_a_step(in_python):
    data = table(5)
    _, conditions = conditions_of(data, RULES[0])
    sens = np.column_stack(list(data.sensitive.values())).astype(np.int32)
    alike = entries(sens)[1]
    work = type("Work", (), {})()
    work.asked, work.counters = np.full(alike.max() + 1, -1), np.zeros(4, np.int64)
    hidden = type("Hidden", (), {"sens": sens, "alike": alike})()
    shard = type("Shard", (), {"work": work, "hidden": hidden})()
    for step in range(1, 12):
        work.counters[STEP] = step
        (work.hist,) = counted(data.take(np.arange(2 * step)), np.zeros(2 * step, int), 1)
        short = kernel.shortfall(conditions, work.hist)
        for row in range(60):
            helps = regrow._helps.py_func(shard, conditions, row, short)
            kernel.add(conditions, sens, row, 1, work.hist)
            assert helps == (kernel.shortfall(conditions, work.hist) < short)
            kernel.add(conditions, sens, row, -1, work.hist)


WITH_GAPS = [
    TCloseness(0.25, "s0"),
    TCloseness(0.25, "s0", "ordered"),
    TCloseness(0.2, "s0", "ordered", "ignore"),
    BetaLikeness(0.3, "s0"),
    All((LDiversity(4, "s0"), TCloseness(0.25, "s0"), BetaLikeness(0.9, "s1"))),
]


@pytest.mark.parametrize("persons", [0, 90], ids=["rows", "people"])
@pytest.mark.parametrize("rule", WITH_GAPS, ids=lambda rule: rule.describe()[:60])
def test_kernels_count_missing_values_as_the_rule_does(rule, persons, in_python):
    rng, answers = np.random.default_rng(6), []
    data = encoded(rng, 240, "to", sensitive=(4, 3), gaps=0.25)
    if persons:
        codes = rng.integers(0, persons, 240).astype(np.int32)
        data = replace(data, people=People.from_codes(codes, data.sensitive))
    _, conditions = conditions_of(data, rule)
    sens = sensitive_of(data, conditions)
    for _ in range(60):
        group = rng.choice(240, rng.integers(3, 18), replace=False)
        hist = kernel.room(conditions)
        for row in group:
            kernel.add(conditions, sens, row, 1, hist)
        labels = np.ones(240, np.int64)
        labels[group] = 0
        holds = rule.holds(data.stats(Partition.from_labels(labels)))[0]
        assert (kernel.shortfall(conditions, hist) == 0.0) == holds
        answers.append(holds)
    assert 2 < sum(answers) < 58


def test_a_table_without_missing_values_has_no_columns_for_them():
    data = table(7)
    _, conditions = conditions_of(data, RULES[0])
    assert conditions.base.size - 1 == sensitive_of(data, conditions).shape[1] == 2


@pytest.mark.parametrize("span", [3, 70_000, 2**40])
def test_rows_in_the_order_of_their_labels_are_those_of_a_stable_sort(span):
    labels = np.random.default_rng(span).integers(-1, span, 12_000)
    assert (in_order(labels) == np.argsort(labels, kind="stable")).all()
