"""Starts that other methods give to our own: used when they lose less, and never made worse."""

import numpy as np
import pytest

from shoal.groupers import k_member, kaim, mondrian, rivals, shoal
from shoal.groupers.growth import grow_groups
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


def table(seed):
    return encoded(np.random.default_rng(seed), 120, "tos", sensitive=(5,))


@pytest.mark.slow
@pytest.mark.parametrize("rule", SCARCE, ids=lambda rule: rule.describe()[:40])
@pytest.mark.parametrize("seed", range(3))
def test_no_rival_loses_less_than_the_release(monkeypatch, rule, seed):
    data, heard = table(seed), []

    def listening(rule, **few):
        def heard_of(method):
            def made(*args):
                heard.append(method(*args))
                return heard[-1]

            return made

        return list(map(heard_of, rivals.rivals(rule, **few)))

    monkeypatch.setattr(shoal, "rivals", listening)
    made = shoal.group(data, rule, np.random.default_rng(seed))
    assert heard, "a rule on sensitive values has rivals"
    for each in heard:
        assert rule.holds(data.stats(each)).all()
        assert iloss(data, made).rate <= iloss(data, each).rate + 1e-9
    assert rule.holds(data.stats(made)).all()


def test_a_cheaper_start_is_taken(monkeypatch):
    data, rule = table(7), LDiversity(5, "s0")
    (method,) = rivals.rivals(rule)
    best, asked = method(data, rule, np.random.default_rng(0)), []

    def only(rule, **_):
        asked.append(rule)
        return [lambda *_: best]

    dear = lambda data, space, rule, rng: shoal.Partition.from_labels(np.zeros(data.rows, int))  # noqa: E731
    monkeypatch.setattr(shoal, "rivals", only)
    monkeypatch.setattr(shoal, "place_rest", lambda *args: None)
    monkeypatch.setattr(shoal, "grow_groups", dear)
    made = shoal.group(data, rule, np.random.default_rng(0), effort="fast")
    assert asked
    assert iloss(data, made).rate <= iloss(data, best).rate + 1e-9 < 1.0


def test_a_rule_on_shares_is_cut_and_grown_as_well():
    def asked(rule):
        return len(rivals.rivals(rule))

    assert [asked(KAnonymity(4)), asked(TCloseness(0.4, "s0"))] == [0, 2]


def test_l_clustering_is_not_asked_for_groups_far_larger_than_l():
    def asked(k):
        rule = All((KAnonymity(k), LDiversity(3, "s0")))
        return len(rivals.rivals(rule))

    assert [asked(k) for k in (2, 5, 6, 20)] == [1, 1, 0, 0]


def test_the_start_that_refines_better_is_taken(monkeypatch):
    data, rule, chosen = table(3), LDiversity(4, "s0"), []
    real = shoal.refined

    def watching(data, k, conditions, boxes, ladders, labels, effort, *rest):
        found = real(data, k, conditions, boxes, ladders, labels.copy(), effort, *rest)
        chosen.append((shoal.cost(data, boxes, labels), shoal.cost(data, boxes, found)))
        return found

    monkeypatch.setattr(shoal, "refined", watching)
    monkeypatch.setattr(shoal, "FEW", 0)  # nor does it start again
    shoal.group(data, rule, np.random.default_rng(0))
    *first, last = chosen
    assert len(first) == 2
    least = min(after for _, after in first)
    gained = {after: before - after for before, after in first if after <= (1 + shoal.TIE) * least}
    assert last[0] == pytest.approx(max(gained, key=gained.__getitem__))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [4, 16])
def test_a_table_with_many_columns_is_grown_as_well(monkeypatch, columns):
    data, heard = encoded(np.random.default_rng(2), 100, "t" * columns), []

    def listening(*args):
        heard.append(grow_groups(*args))
        return heard[-1]

    monkeypatch.setattr(shoal, "grow_groups", listening)
    made = shoal.group(data, KAnonymity(5), np.random.default_rng(2), effort="fast")
    assert len(heard) == (columns > 4)
    for each in heard:
        assert iloss(data, made).rate <= iloss(data, each).rate


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
