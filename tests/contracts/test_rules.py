"""The contract that every rule of the catalog keeps: one suite over all of them."""

import math
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from shoal.base.partition import GroupStats, Partition, histogram
from shoal.catalog import RULES, RuleEntry
from shoal.privacy import Rule
from shoal.privacy.base import least_safe, safer_direction
from tests.naive import rules as naive
from tests.tables import encoded

VALUES = ["a", "a", "a", "b", "b", "c", "d", "e", None]
# A few draws are enough for the inner loop.
CASES = [
    pytest.param(seed, name, marks=[pytest.mark.slow] if seed >= 5 else [])
    for name in RULES
    for seed in range(40)
]
# Tables are not anonymized under the others, so that nobody asks them what a table can keep.
GROWING = [case for case in CASES if RULES[case.values[1]].load().grows_safely]


def stats(groups, names="abcde"):
    """Statistics of groups given as lists of sensitive values, None for missing."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    codes = np.array([-1 if v is None else names.index(v) for v in chain(*groups)], np.int32)
    sizes = np.array([len(group) for group in groups], np.int64)
    return GroupStats(sizes, {"s": histogram(labels, codes, len(groups), tuple(names))})


def some_groups(rng, most=9):
    return [
        rng.choice(np.array(VALUES, object), rng.integers(1, most)).tolist()
        for _ in range(rng.integers(1, 8))
    ]


def rule_of(entry: RuleEntry, rng: np.random.Generator) -> Rule:
    """Make the rule with parameters drawn within their declared limits."""
    options = {}
    for param in entry.params:
        if param.choices:
            options[param.name] = str(rng.choice(param.choices))
        elif param.type is bool:
            options[param.name] = bool(rng.integers(2))
        elif param.type is tuple:
            options[param.name] = [None, ("a",), ("b", "c")][rng.integers(3)]
        elif param.type is int:
            options[param.name] = int(rng.integers(max(param.low, 1), max(param.low, 1) + 4))
        else:
            low = max(param.low, 0.0)
            high = min(param.high, low + 3)
            options[param.name] = round(low + (high - low) * rng.integers(1, 11) / 10, 3)
    return entry.make("s", options)


def stricter(param, value):
    """Return a clearly stricter value of a parameter."""
    if param.type is int:
        return math.floor(value) + (1 if param.safer == "more" else -1)
    return value * (1.01 if param.safer == "more" else 0.99)


def as_promise(rule, reached):
    """Return the rule with what was reached as its parameters; recursive c must be above it."""
    values = {}
    for figure, value in reached.items():
        param = next(p for p in rule.params if p.name == rule.figures[figure])
        if param.type is int:
            values[param.name] = math.floor(value + 1e-9)
        else:
            values[param.name] = value * (1 + 1e-6) if param.safer == "less" else value
    return values


@pytest.mark.parametrize("name", RULES)
def test_it_says_which_way_it_is_safer(name):
    rule = RULES[name].load()
    assert rule.name == name
    assert rule.figures
    for figure in rule.figures:
        assert safer_direction(rule, figure) in ("more", "less")
    numbers = [param for param in rule.params if param.type in (int, float)]
    assert all(param.safer for param in numbers)
    assert RULES[name].crowd in (None, *(param.name for param in numbers))
    assert RULES[name].plain.endswith(".")


@pytest.mark.parametrize(("seed", "name"), GROWING)
def test_passing_groups_pass_when_joined(seed, name):
    rng = np.random.default_rng(seed)
    rule, groups = rule_of(RULES[name], rng), some_groups(rng)
    passes = rule.holds(stats(groups))
    good = [group for group, ok in zip(groups, passes, strict=True) if ok]
    rest = [group for group, ok in zip(groups, passes, strict=True) if not ok]
    if good:
        assert rule.holds(stats([list(chain(*good)), *rest]))[0]


def on_a_table(rule, rng, rows=36, groups=6):
    """Return the rule on the column of a random table, the table, and a group for every row."""
    data = encoded(rng, rows, "t", sensitive=(5,), gaps=rng.choice([0.0, 0.3]))
    rule = replace(rule, column="s0") if rule.column else rule
    if getattr(rule, "values", None):
        rule = replace(rule, values=("x0",))
    labels = np.concatenate((np.arange(groups), rng.integers(0, groups, rows - groups)))
    return rule, data, labels


@pytest.mark.parametrize(("seed", "name"), CASES)
def test_it_holds_where_its_naive_twin_does(seed, name):
    rng = np.random.default_rng(seed)
    rule, data, labels = on_a_table(rule_of(RULES[name], rng), rng)
    holds = rule.holds(data.stats(Partition.from_labels(labels)))
    slow = [naive.passes(data, rule, np.flatnonzero(labels == group)) for group in range(6)]
    assert holds.tolist() == slow


@pytest.mark.parametrize(("seed", "name"), CASES)
def test_what_it_reaches_agrees_with_whether_it_holds(seed, name):
    rng = np.random.default_rng(seed)
    rule, found = rule_of(RULES[name], rng), stats(some_groups(rng))
    reached = rule.achieved(found)
    assert set(reached) == set(rule.figures)
    if rule.holds(found).all():
        # What is promised is the least that was reached.
        for figure, value in reached.items():
            promised = getattr(rule, rule.figures[figure])
            way = safer_direction(rule, figure)
            assert least_safe(way, value, promised) == pytest.approx(promised, rel=1e-9)
    if any(math.isinf(value) for value in reached.values()):
        assert not rule.holds(found).all()
        return
    params = {param.name: param for param in rule.params}
    values = as_promise(rule, reached)
    if all(params[p].low <= v <= params[p].high and v > 0 for p, v in values.items()):
        assert replace(rule, **values).holds(found).all(), (rule, reached)


@pytest.mark.parametrize(("seed", "name"), CASES)
def test_a_stricter_promise_is_never_easier(seed, name):
    rng = np.random.default_rng(seed)
    rule, found = rule_of(RULES[name], rng), stats(some_groups(rng))
    for param in rule.params:
        if param.safer is None:
            continue
        tight = stricter(param, getattr(rule, param.name))
        if param.low <= tight <= param.high and tight > 0:
            tighter = replace(rule, **{param.name: tight})
            assert not (tighter.holds(found) & ~rule.holds(found)).any()


@pytest.mark.parametrize(("seed", "name"), GROWING)
def test_an_obstacle_tells_a_value_that_can_be_met(seed, name):
    rng = np.random.default_rng(seed)
    rule, table = rule_of(RULES[name], rng), list(chain(*some_groups(rng, 5)))
    whole = stats([table])
    obstacle, passes = rule.obstacle(whole), bool(rule.holds(whole)[0])
    if not set(getattr(rule, "values", None) or ()) <= set(table):
        assert obstacle is not None  # a value to protect that is not there
        return
    assert (obstacle is None) == passes
    params = {param.name: param for param in rule.params}
    possible = {limit.param: limit.value for limit in rule.limits(whole)}
    if any(value < params[p].low for p, value in possible.items()) or not naive.known(table):
        return
    nearest = replace(rule, **possible) if possible else rule
    assert nearest.holds(whole)[0]
    for limit in rule.limits(whole):
        assert limit.why
        tight = stricter(params[limit.param], limit.value)
        if params[limit.param].low <= tight <= params[limit.param].high and tight > 0:
            assert not replace(nearest, **{limit.param: tight}).holds(whole)[0]


@pytest.mark.parametrize("name", naive.TWINS)
def test_a_sentence_states_the_bound_that_a_table_meets_exactly(name):
    """The rule holds on the bound and not beyond it, and the sentence names that bound."""
    options, group, bound = naive.TWINS[name]
    rest = ["b", "b", "b", "a"] if name in ("t-closeness", "beta-likeness") else []
    table = stats([group, rest] if rest else [group])
    rule = RULES[name].make("s", options)
    assert rule.holds(table)[0]
    assert str(bound) in rule.describe()
    for param in rule.params:
        if param.safer is not None and param.name in rule.figures.values():
            tight = stricter(param, getattr(rule, param.name))
            if param.low <= tight <= param.high:
                beyond = replace(rule, **{param.name: tight})
                loose = name == "alpha-k-anonymity" and param.name == "k"
                assert loose or not beyond.holds(table)[0]


def test_beta_means_one_plus_beta_times_as_frequent():
    rule = RULES["beta-likeness"].make("s", {"beta": 2.99})
    # A third of the table, all of a class: three times as frequent, a gain of 2.
    table = stats([["a", "a"], ["b", "c", "b", "c"]])
    assert rule.achieved(table) == {"beta": pytest.approx(2.0)}
    assert "more than 3.99 times as frequent" in rule.describe()


def test_every_rule_has_a_naive_twin_and_a_table_that_meets_its_sentence():
    assert set(RULES) == set(naive.TWINS)
