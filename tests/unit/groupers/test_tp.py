"""TP: phases worked by hand, the same choices as its twin, and the bound on the residue."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.base.errors import Infeasible, ParameterError
from shoal.coding.encode import Encoded, encode
from shoal.coding.joins import joins
from shoal.groupers import tp
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, FrequencyLDiversity, KAnonymity, LDiversity
from shoal.releases.generalized.make import generalize
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from shoal.tables.schema import declare
from tests.checking import verify
from tests.naive import tp as naive
from tests.tables import encoded


def table(rows, values=6):
    """A table from pairs (group, sensitive value); -1 is a missing sensitive value."""
    groups = 1 + max(g for g, _ in rows)
    codes = np.array([[g] for g, _ in rows], np.int32)
    domain = Nominal(tuple(f"g{i}" for i in range(groups)))
    hidden = np.array([v for _, v in rows], np.int32)
    return Encoded(("q",), codes, (domain,), {"s": hidden}, {"s": tuple("abcdefgh"[:values])})


def counted(rows):
    groups = {}
    for g, v in rows:
        groups.setdefault(g, Counter())[v] += v >= 0
    return [groups[g] for g in sorted(groups)]


def run(data, l, seed=0, call=tp.group):  # noqa: E741
    return call(data, FrequencyLDiversity(l, "s"), np.random.default_rng(seed))


def residue(data, part):
    """The sensitive values of the rows that lost their quasi-identifiers."""
    if part.cover is None:
        return Counter()
    rows = part.rows[part.starts[-2] :]
    return Counter(data.sensitive["s"][rows].tolist())


tables = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=14)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(tables, st.integers(2, 4))
def test_equals_its_twin_and_keeps_the_bound(rows, l):  # noqa: E741
    whole = Counter(v for _, v in rows)
    data = table(rows)
    if not naive.eligible(whole, l):
        with pytest.raises(Infeasible, match="Frequency l-diversity"):
            run(data, l)
        return
    part = run(data, l)
    groups = counted(rows)
    best = naive.least(groups, l)
    want, phase = naive.tp(groups, l)
    assert residue(data, part) == +want
    assert part.notes == {"residue": sum(want.values()), "phase": phase}
    assert FrequencyLDiversity(l, "s").holds(data.stats(part)).all()
    assert sum(want.values()) <= l * best
    if phase == 1:
        assert sum(want.values()) == best


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.integers(0, 4), min_size=1, max_size=2),
    st.lists(st.sets(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_the_bound_holds_when_all_groups_are_tight(singles, tight):
    """Groups of l different values and few single rows: what leads to phase three."""
    rows = [(g, v) for g, v in enumerate(singles)]
    rows += [(len(singles) + g, v) for g, values in enumerate(tight) for v in values]
    assume(naive.eligible(Counter(v for _, v in rows), 3))
    data = table(rows)
    part = run(data, 3)
    best = naive.least(counted(rows), 3)
    want, phase = naive.tp(counted(rows), 3)
    assert part.notes == {"residue": sum(want.values()), "phase": phase}
    assert best <= sum(want.values()) <= 3 * best


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 7)), min_size=10, max_size=150),
    st.integers(2, 6),
)
def test_equals_its_twin_on_larger_tables(rows, l):  # noqa: E741
    assume(naive.eligible(Counter(v for _, v in rows), l))
    data = table(rows, 8)
    part = run(data, l)
    want, phase = naive.tp(counted(rows), l)
    assert residue(data, part) == +want
    assert part.notes["phase"] == phase


def test_phase_one_is_enough_when_the_residue_is_eligible():
    # Both groups have one row too many, of different values: the two make an eligible residue.
    rows = [(0, 0), (0, 0), (0, 1), (1, 2), (1, 2), (1, 3)]
    part = run(table(rows), 2)
    assert part.notes == {"residue": 2, "phase": 1}
    assert residue(table(rows), part) == Counter({0: 1, 2: 1})


def test_phase_two_takes_the_rarest_value_from_a_group_that_can_spare_it():
    # Group 0 gives an 'a'; group 1 has three different values and can spare one of 'b', 'c', 'd'.
    rows = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 2), (1, 3)]
    part = run(table(rows), 2)
    assert part.notes == {"residue": 2, "phase": 2}
    assert residue(table(rows), part) == Counter({0: 1, 1: 1})


def test_phase_two_lowers_a_tight_group_whole():
    rows = [(0, 0), (1, 1), (1, 2)]
    part = run(table(rows), 2)
    assert part.notes == {"residue": 3, "phase": 2}


def test_phase_three_lets_the_residue_rise():
    # 'a' and 'b' are in the residue; each of the two tight groups has one of them at its height.
    # Lowering the first raises 'a' to 2; then 'b', 'c', 'd' of the second are free to follow.
    rows = [(0, 0), (1, 1), (2, 0), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)]
    data = table(rows)
    part = run(data, 3)
    assert part.notes == {"residue": 8, "phase": 3}
    assert naive.least(counted(rows), 3) == 8


def test_the_residue_is_published_as_stars_and_the_rest_exactly():
    frame = pl.DataFrame(
        {
            "age": [30, 30, 30, 41, 41, 41],
            "sex": ["M", "M", "M", "F", "F", None],
            "town": ["A", "A", "A", "B", "B", "B"],
            "disease": ["flu", "flu", "cold", "cold", "flu", "ulcer"],
        }
    )
    sex = Taxonomy.from_rows([("M", "*"), ("F", "*")], "sex")
    schema = declare(
        frame,
        quasi=["age", "sex", "town"],
        sensitive=["disease"],
        taxonomies=["sex"],
        kinds={"town": "set", "age": "ordered"},
    )
    data = encode(frame, schema, {"sex": sex})
    rule = FrequencyLDiversity(2, "disease")
    part = tp.group(data, rule, np.random.default_rng(0))
    release = generalize(frame, schema, data, part)
    got = release.frame.select("age", "sex", "town").rows()
    # One 'flu' of the first group and the incomplete row, alone among its equals, are suppressed.
    assert got.count(("*", "*", "*")) == 2
    assert got.count(("30", "M", "A")) == 2
    assert got.count(("41", "F", "B")) == 2
    assert iloss(data, part).rate == pytest.approx((3 + 2) / 18)  # the missing cell costs nothing
    verdict = verify(
        *(release.frame, schema.quasi, [rule]),
        original=frame,
        schema=schema,
        taxonomies={"sex": sex},
        order=release.order,
    )
    assert verdict.holds


def test_rows_with_a_missing_sensitive_value_stay_or_go_with_their_group():
    rows = [(0, 0), (0, 1), (0, -1), (1, -1), (2, 2), (2, 3), (2, 4)]
    data = table(rows)
    part = run(data, 2)
    labels = part.labels()
    assert labels[0] == labels[1] == labels[2]
    assert labels[3] == part.groups - 1
    assert FrequencyLDiversity(2, "s").holds(data.stats(part)).all()
    assert sorted(part.rows.tolist()) == list(range(7))


@pytest.mark.parametrize("seed", range(20))
def test_missing_values_everywhere(seed):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 80, "tos", missing=0.3, sensitive=[6])
    hidden = data.sensitive["s0"].copy()
    hidden[rng.random(80) < 0.3] = -1
    data = Encoded(data.names, data.codes, data.domains, {"s0": hidden}, data.sensitive_names)
    rule = FrequencyLDiversity(2, "s0")
    for call in (tp.group, tp.group_plus):
        part = call(data, rule, np.random.default_rng(seed))
        assert sorted(part.rows.tolist()) == list(range(80))
        assert rule.holds(data.stats(part)).all()
        joins(data, part)


def test_tp_plus_cuts_the_residue_and_loses_less():
    data = encoded(np.random.default_rng(5), 400, "too", missing=0.05, sensitive=[8])
    rule = FrequencyLDiversity(3, "s0")
    plain = tp.group(data, rule, np.random.default_rng(1))
    plus = tp.group_plus(data, rule, np.random.default_rng(1))
    assert plus.groups > plain.groups
    assert plus.notes == plain.notes
    assert rule.holds(data.stats(plus)).all()
    assert iloss(data, plus).rate < iloss(data, plain).rate


def test_without_a_residue_nothing_is_lost():
    data = table([(0, 0), (0, 1), (1, 2), (1, 3)])
    for call in (tp.group, tp.group_plus):
        part = run(data, 2, call=call)
        assert part.notes == {"residue": 0, "phase": 1}
        assert iloss(data, part).rate == 0


def test_the_same_seed_gives_the_same_rows():
    data = encoded(np.random.default_rng(5), 300, "to", sensitive=[8])
    parts = [tp.group(data, FrequencyLDiversity(3, "s0"), np.random.default_rng(7)) for _ in "ab"]
    assert (parts[0].rows == parts[1].rows).all()


@pytest.mark.parametrize(
    "rule", [KAnonymity(2), LDiversity(2, "s"), All((FrequencyLDiversity(2, "s"), KAnonymity(2)))]
)
def test_other_rules_are_refused(rule):
    data = table([(0, 0), (0, 1)])
    with pytest.raises(ParameterError, match="TP keeps frequency l-diversity of one sensitive"):
        tp.group(data, rule, np.random.default_rng(0))


def test_an_ordered_column_without_values_is_no_obstacle():
    nothing = Ordered(pl.Series([], dtype=pl.Int64), np.array([]))
    data = table([(0, 0), (1, 1)])
    data = Encoded(("q",), data.codes * 0, (nothing,), data.sensitive, data.sensitive_names)
    assert run(data, 2).groups == 1
