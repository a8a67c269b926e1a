"""Growth keeps the caps of a rule, and every clustering method serves every rule."""

import numpy as np
import pytest

from shoal.groupers import growth, k_member, kaim
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
from tests.tables import encoded

CAPPED = [
    LDiversity(3, "s0"),
    FrequencyLDiversity(3, "s0"),
    AlphaK(0.4, 5, "s0"),
    AlphaK(0.34, 4, "s0", ("x0", "x1")),
    All((KAnonymity(6), LDiversity(3, "s0"), AlphaK(0.5, 2, "s1"))),
]
UNCAPPED = [
    EntropyLDiversity(2.2, "s0"),
    RecursiveLDiversity(2, 2.5, "s0"),
    TCloseness(0.35, "s0"),
    TCloseness(0.3, "s1", "ordered"),
    BetaLikeness(1.5, "s0"),
    All((KAnonymity(5), TCloseness(0.4, "s0"), LDiversity(2, "s1"))),
]


def table(seed, n=150, gaps=0.0):
    rng = np.random.default_rng(seed)
    data = encoded(rng, n, "tot", sensitive=(5, 4))
    for codes in data.sensitive.values():
        codes[rng.random(n) < gaps] = -1
    return data


@pytest.mark.parametrize("rule", CAPPED, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("seed", range(3))
def test_grown_groups_pass_before_any_repair(rule, seed, monkeypatch):
    monkeypatch.setattr(growth, "repair", lambda data, partition, rule: partition)
    data = table(seed)
    part = k_member.group(data, rule, np.random.default_rng(seed))
    failing = ~rule.holds(data.stats(part))
    assert part.groups > 5
    assert failing.sum() <= 1  # the rows that fit nowhere


@pytest.mark.slow
@pytest.mark.parametrize("rule", CAPPED + UNCAPPED, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("method", [kaim, k_member], ids=["kaim", "k-member"])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_every_rule_holds_in_the_end(rule, method, gaps, monkeypatch):
    monkeypatch.setattr(kaim, "PATIENCE", 2)
    data = table(7, n=90, gaps=gaps)
    part = method.group(data, rule, np.random.default_rng(1))
    assert rule.holds(data.stats(part)).all()
    assert sorted(part.rows.tolist()) == list(range(data.rows))
    assert part.groups > 1


def test_caps_cost_less_than_repair():
    """Growing within the caps loses less than growing freely and joining what fails."""
    from shoal.groupers.repair import repair

    data = table(1, n=400)
    rule = All((KAnonymity(4), LDiversity(4, "s0")))
    grown = k_member.group(data, rule, np.random.default_rng(0))
    free = k_member.group(data, KAnonymity(4), np.random.default_rng(0))
    assert iloss(data, grown).rate < iloss(data, repair(data, free, rule)).rate
