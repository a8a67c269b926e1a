"""The contract that every method of the catalog keeps: one suite over all of them."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.base.partition import Partition
from shoal.catalog import METHODS
from shoal.coding.encode import Encoded
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
from shoal.tables.domain import Nominal, flat
from tests.tables import encoded

GROUPERS = [name for name, entry in METHODS.items() if entry.release == "generalized"]

RULES = {
    "k": KAnonymity(4),
    "l": All((KAnonymity(4), LDiversity(3, "s0"))),
    "entropy": EntropyLDiversity(2.0, "s0"),
    "recursive": RecursiveLDiversity(2, 3.0, "s0"),
    "frequency": FrequencyLDiversity(2, "s0"),
    "alpha": AlphaK(0.5, 4, "s0"),
    "alpha one": AlphaK(0.4, 3, "s0", ("x0",)),
    "t": All((KAnonymity(3), TCloseness(0.4, "s0"))),
    "t ordered": TCloseness(0.3, "s0", "ordered"),
    "beta": BetaLikeness(2.0, "s0"),
    "two columns": All((KAnonymity(3), LDiversity(2, "s0"), LDiversity(2, "s1"))),
}


def parts(rule):
    return rule.rules if isinstance(rule, All) else (rule,)


def serves(name, rule):
    """Whether the catalog says that this method takes these rules."""
    entry = METHODS[name]
    names = [part.name for part in parts(rule)]
    able = entry.rules is None or all(part in entry.rules for part in names)
    return able and (not entry.needs or any(part in entry.needs for part in names))


def rule_for(name, wish="k"):
    """A rule the method can serve: the one wished for, or the first it accepts."""
    if serves(name, RULES[wish]):
        return RULES[wish]
    return next(rule for rule in RULES.values() if serves(name, rule))


def table(kinds="tto", n=90, missing=0.15, seed=0, gaps=0.0, values=(5, 4)):
    rng = np.random.default_rng(seed)
    data = encoded(rng, n, kinds, missing=missing, sensitive=values)
    for codes in data.sensitive.values():
        codes[rng.random(n) < gaps] = -1
        codes.setflags(write=False)
    return data


def for_method(name, data):
    """Sets become flat taxonomies for the methods that the catalog says so of."""
    if not METHODS[name].flat_sets:
        return data
    domains = tuple(
        flat(domain.values, "set") if isinstance(domain, Nominal) else domain
        for domain in data.domains
    )
    return replace(data, domains=domains)


def run(name, data, rule, seed=1):
    data = for_method(name, data)
    return data, METHODS[name].load()(data, rule, np.random.default_rng(seed))


def keeps_contract(data, part, rule):
    assert isinstance(part, Partition)
    assert sorted([*part.rows.tolist(), *part.left_out.tolist()]) == list(range(data.rows))
    assert (part.sizes > 0).all()
    assert rule.holds(data.stats(part)).all()
    rate = iloss(data, part).rate
    assert 0.0 <= rate <= 1.0
    return rate


PAIRS = [(name, wish) for name in GROUPERS for wish in RULES if serves(name, RULES[wish])]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wish"), PAIRS)
@pytest.mark.parametrize("gaps", [0.0, 0.2], ids=["known", "sensitive gaps"])
def test_every_rule_holds_with_missing_values_everywhere(name, wish, gaps):
    data, part = run(name, table("tto", gaps=gaps), RULES[wish])
    keeps_contract(data, part, RULES[wish])


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPERS)
@pytest.mark.parametrize("kinds", ["t", "o", "s", "ttt", "oos", "tos"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_kind_of_column(name, kinds, missing):
    rule = rule_for(name)
    data, part = run(name, table(kinds, missing=missing), rule)
    keeps_contract(data, part, rule)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPERS)
def test_same_seed_same_partition(name):
    rule = rule_for(name)
    _, first = run(name, table(), rule)
    _, second = run(name, table(), rule)
    assert (first.labels() == second.labels()).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPERS)
def test_row_order_carries_nothing(name):
    rule = rule_for(name)
    data = table(n=120)
    order = np.random.default_rng(5).permutation(data.rows)
    shuffled = replace(
        data,
        codes=np.ascontiguousarray(data.codes[order]),
        sensitive={column: codes[order] for column, codes in data.sensitive.items()},
    )
    losses = [keeps_contract(*run(name, one, rule), rule) for one in (data, shuffled)]
    assert abs(losses[0] - losses[1]) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPERS)
def test_all_rows_equal_lose_nothing(name):
    rule = rule_for(name)
    data = table(n=40, missing=0.0)
    same = replace(data, codes=np.repeat(data.codes[:1], 40, axis=0))
    data, part = run(name, same, rule)
    assert keeps_contract(data, part, rule) == 0.0


@pytest.mark.parametrize("name", GROUPERS)
def test_as_few_rows_as_a_group_needs(name):
    rule = rule_for(name)
    data = table(n=4, missing=0.2, seed=3)
    sensitive = {column: np.arange(4, dtype=np.int32) % 4 for column in data.sensitive}
    data, part = run(name, replace(data, sensitive=sensitive), rule)
    keeps_contract(data, part, rule)


@pytest.mark.parametrize("name", GROUPERS)
def test_a_column_entirely_missing(name):
    rule = rule_for(name)
    data = table(n=60)
    codes = data.codes.copy()
    codes[:, 1] = data.domains[1].size
    data, part = run(name, replace(data, codes=codes), rule)
    keeps_contract(data, part, rule)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPERS)
def test_one_sensitive_value_dominates(name):
    """Half of the rows share a value: the limit for frequency-2 and alpha = 0.5."""
    rule = rule_for(name, "frequency")
    data = table(n=80)
    codes = np.concatenate((np.zeros(40), 1 + np.arange(40) % 4)).astype(np.int32)
    data, part = run(name, replace(data, sensitive={"s0": codes, "s1": codes % 4}), rule)
    keeps_contract(data, part, rule)


@pytest.mark.parametrize("name", GROUPERS)
def test_the_input_is_never_changed(name):
    data = table()
    before = data.codes.copy()
    run(name, data, rule_for(name))
    assert not data.codes.flags.writeable
    assert (data.codes == before).all()


def test_the_suite_sees_every_method():
    assert isinstance(table(), Encoded)
    assert {"kaim", "k-member"} <= set(GROUPERS)
    assert {name for name, _ in PAIRS} == set(GROUPERS)
