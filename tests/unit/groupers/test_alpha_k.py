"""(alpha, k) clustering: the paper's example, the twin's choices, and always the guarantee."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import Infeasible, ParameterError
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers import alpha_k
from shoal.groupers.gower import coordinates, make_field
from shoal.groupers.limits import limits_of
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, AlphaK, KAnonymity, LDiversity, TCloseness
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from tests.naive import alpha_k as naive
from tests.tables import encoded

WAYS = ["free", "capped", "centroid", "best"]


def grown(data, rule, rng, growth):
    """Cluster in one way, or as alpha-k does, which keeps the best of several."""
    if growth == "best":
        return alpha_k.group(data, rule, rng)
    return alpha_k.grow(data, rule, rng, (growth,))


def patients():
    """The four patients of the paper: age, sex, country | disease."""
    points = np.array([25.0, 28.0, 30.0, 31.0])
    codes = np.array([[0, 1, 1], [2, 0, 0], [1, 1, 1], [3, 0, 0]], np.int32)
    codes.setflags(write=False)
    domains = (Ordered(pl.Series(points), points), Nominal(("F", "M")), Nominal(("Haiti", "USA")))
    disease = {"disease": np.array([2, 1, 2, 0], np.int32)}
    names = {"disease": ("Cancer", "Heart", "Lues")}
    return Encoded(("age", "sex", "country"), codes, domains, disease, names)


def table(seed, rows=None, kinds=None, values=3, blank=0.1):
    rng = np.random.default_rng(seed)
    kinds = kinds or ["tos", "t", "o", "s", "ttoo", "ooo", "sss", "tosto"][seed % 8]
    rows = rows or int(rng.integers(8, 40))
    data = encoded(rng, rows, kinds, missing=[0.0, 0.2, 0.5][seed % 3], sensitive=(values,))
    hidden = data.sensitive["s0"].copy()
    hidden[rng.random(rows) < blank] = -1
    hidden[0] = 0
    return replace(data, sensitive={"s0": hidden})


def top_share(data, names=None):
    hidden = data.sensitive["s0"]
    counts = np.bincount(hidden[hidden >= 0], minlength=len(data.sensitive_names["s0"]))
    wanted = [i for i, n in enumerate(data.sensitive_names["s0"]) if names is None or n in names]
    return max(int(counts[i]) for i in wanted) / int(counts.sum())


def as_sets(partition):
    return {
        frozenset(partition.rows[a:b].tolist())
        for a, b in zip(partition.starts, partition.starts[1:], strict=False)
    }


@pytest.mark.parametrize("growth", WAYS)
@pytest.mark.parametrize("values", [("Lues",), None])
@pytest.mark.parametrize("seed", range(4))
def test_the_four_patients_become_two_mixed_groups(growth, values, seed):
    """Two clusters by distance alone would be {Lues, Lues} and {Heart, Cancer}.

    MultiAnony as written forms no cluster of {Lues, Lues} when it began with the others: one group,
    as table 1(c) of the paper has it.
    """
    data, rule = patients(), AlphaK(0.5, 2, "disease", values)
    part = grown(data, rule, np.random.default_rng(seed), growth)
    whole = Partition.from_labels(np.zeros(4, np.int64))
    assert iloss(data, whole).rate == 1.0
    if growth == "centroid" and seed >= 2:
        assert as_sets(part) == as_sets(whole)
    else:
        assert sorted(part.sizes.tolist()) == [2, 2]
        assert rule.achieved(data.stats(part)) == {"alpha": 0.5, "k": 2}
        assert iloss(data, part).rate < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("growth", WAYS)
@pytest.mark.parametrize("seed", range(20))
def test_exactly_k_rows_left_form_a_cluster(growth, seed):
    """Table 1(b) of the paper: Cancer alone is protected, and the nearest rows stay together."""
    data, rng = patients(), np.random.default_rng(seed)
    part = grown(data, AlphaK(0.5, 2, "disease", ("Cancer",)), rng, growth)
    assert as_sets(part) == {frozenset({0, 2}), frozenset({1, 3})}
    assert iloss(data, part).rate == pytest.approx(1 / 9)
    eight = table(seed, rows=8, kinds="oo", values=4, blank=0.0)
    eight = replace(eight, sensitive={"s0": np.arange(8, dtype=np.int32) % 4})
    part = grown(eight, AlphaK(0.5, 4, "s0"), rng, growth)
    assert part.sizes.tolist() == [4, 4]


def test_distances_by_hand():
    x, numeric = coordinates(patients())
    assert numeric.tolist() == [True, False, False]
    rows = [list(row) for row in x]
    assert naive.distance(rows[0], rows[2], [True, False, False]) == pytest.approx(0.5 / 3)
    assert naive.distance(rows[0], rows[1], [True, False, False]) == pytest.approx((5 / 6 + 2) / 3)


def test_a_column_missing_on_either_side_is_skipped():
    a, b = [0.0, None, 1.0], [0.5, 3.0, 2.0]
    assert naive.distance(a, b, [True, False, False]) == 0.75
    assert naive.distance([None, 2.0], [0.1, None], [True, False]) == 1.0


def test_a_taxonomy_over_numbers_is_numeric_whatever_the_order_of_its_leaves():
    ages = Taxonomy.from_rows([("40", "old", "*"), ("20", "young", "*"), ("30", "young", "*")], "a")
    towns = Taxonomy.from_rows([("Ulm", "*"), ("Bonn", "*")], "b")
    codes = np.array([[0, 0], [1, 1], [2, 2], [3, 0]], np.int32)
    x, numeric = coordinates(Encoded(("a", "b"), codes, (ages, towns), {}, {}))
    assert numeric.tolist() == [True, False]
    assert x[:, 0].tolist() == [1.0, 0.0, 0.5, -1.0]
    assert x[:, 1].tolist() == [0.0, 1.0, -1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("growth", ["free", "capped", "centroid"])
@pytest.mark.parametrize("seed", range(60))
def test_equals_its_twin(seed, growth):
    data = table(seed, blank=[0.0, 0.1][seed % 2], values=[2, 3, 5][seed % 3])
    names = [None, ("x0",), ("x0", "x1")][seed % 3 if seed % 5 else 0]
    share = min(1.0, top_share(data, names) * [1.0, 1.1, 1.4][seed % 3])
    k = int(np.random.default_rng(seed).integers(2, 6))
    shares = {
        i: share for i, name in enumerate(data.sensitive_names["s0"]) if not names or name in names
    }
    rule = AlphaK(share, k, "s0", names)
    if names and len(names) == 2 and share < 1.0:  # each value has a share of its own
        shares[1] = (1 + share) / 2
        rule = All((AlphaK(share, k, "s0", ("x0",)), AlphaK(shares[1], k, "s0", ("x1",))))
    seeds = np.random.default_rng(seed).permutation(data.rows)
    sizes = alpha_k._sizes(data, rule, capped=growth != "free")
    size = sizes[-1 if seed % 2 else 0]
    got = alpha_k._group(data, rule, seeds, growth, size)
    _, tags = limits_of(data, rule)
    _, entry, count = entries(np.column_stack((data.codes, tags)))
    sample = np.empty(count.size, np.int64)
    sample[entry] = np.arange(data.rows)
    _, order = make_field(coordinates(data)[0][sample], coordinates(data)[1])
    rank = np.argsort(order)
    hidden = data.sensitive["s0"].tolist()
    twin = naive.Twin(data, hidden, shares, k, seeds.tolist(), rank[entry].tolist())
    assert sizes == list(dict.fromkeys(twin.sizes(growth)))
    assert as_sets(got) == {frozenset(rows) for rows in twin.run(growth, size)}


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 7),
    slack=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    named=st.booleans(),
    growth=st.sampled_from(WAYS),
    blank=st.sampled_from([0.0, 0.1, 0.6]),
)
def test_always_ends_with_the_guarantee(seed, k, slack, named, growth, blank):
    data = table(seed, rows=8 + seed % 50, values=2 + seed % 4, blank=blank)
    names = ("x0",) if named else None
    rule = AlphaK(min(1.0, top_share(data, names) + slack), k, "s0", names)
    assert rule.obstacle(data.whole()) is None
    part = grown(data, rule, np.random.default_rng(seed), growth)
    assert rule.holds(data.stats(part)).all()
    assert sorted(part.rows.tolist()) == list(range(data.rows))


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), growth=st.sampled_from(WAYS))
def test_other_rules_hold_as_well(seed, growth):
    data = table(seed, rows=40, values=4, blank=0.0)
    alpha = AlphaK(min(1.0, top_share(data, ("x1",)) + 0.1), 3, "s0", ("x1",))
    for other in (LDiversity(2, "s0"), KAnonymity(6), TCloseness(0.3, "s0")):
        rule = All((alpha, other))
        if rule.obstacle(data.whole()) is None:
            part = grown(data, rule, np.random.default_rng(seed), growth)
            assert rule.holds(data.stats(part)).all()


@pytest.mark.parametrize("growth", WAYS)
def test_several_sensitive_columns(growth):
    rng = np.random.default_rng(4)
    data = encoded(rng, 90, "tos", missing=0.1, sensitive=(4, 5))
    rule = All((AlphaK(0.45, 4, "s0"), AlphaK(0.4, 5, "s1", ("x1",))))
    part = grown(data, rule, np.random.default_rng(0), growth)
    assert rule.holds(data.stats(part)).all()
    assert part.sizes.max() < 30


@pytest.mark.parametrize("growth", WAYS)
def test_a_share_that_k_rows_cannot_express_makes_larger_groups_not_one(growth):
    """40 % of the rows have the value; 1 of 3 rows is too few for it, 2 of 5 are enough."""
    data = encoded(np.random.default_rng(7), 200, "oo", missing=0.0, sensitive=(2,))
    hidden = np.repeat(np.array([0, 1], np.int32), [80, 120])
    data = replace(data, sensitive={"s0": hidden})
    rule = AlphaK(0.4, 3, "s0", ("x0",))
    part = grown(data, rule, np.random.default_rng(0), growth)
    assert rule.holds(data.stats(part)).all()
    # MultiAnony as written leaves the rows over whose values fill no cluster.
    assert part.groups > (3 if growth == "centroid" else 30)


@pytest.mark.parametrize("blank", [0.05, 0.3])
@pytest.mark.parametrize("k", [8, 12])
def test_missing_sensitive_values_take_no_room_from_the_others(k, blank):
    """The largest share is 0.23 or 0.22: groups of 8 with a gap could hold one row of 7 only."""
    data = table(5, rows=800, kinds="ot", values=8, blank=blank)
    hidden = data.sensitive["s0"].copy()
    older = data.codes[:, 0] > data.domains[0].size // 2
    hidden[older & (hidden >= 0)] %= 4  # some values crowd together
    data = replace(data, sensitive={"s0": hidden})
    rule = AlphaK(0.25, k, "s0")
    part = alpha_k.group(data, rule, np.random.default_rng(0))
    assert rule.holds(data.stats(part)).all()
    assert part.groups >= 0.9 * (hidden >= 0).sum() / k


def test_one_protected_value_costs_no_more_than_all():
    data = table(3, rows=600, kinds="oot", values=6, blank=0.0)
    losses = {}
    for protect, values in (("one", ("x2",)), ("all", ("x2",)), ("auto", None)):
        rule = AlphaK(0.25, 8, "s0", values)
        part = alpha_k.group(data, rule, np.random.default_rng(1), protect=protect)
        losses[protect] = iloss(data, part).rate
        if protect == "all":
            assert AlphaK(0.25, 8, "s0").holds(data.stats(part)).all()
    assert losses["one"] <= losses["all"] == losses["auto"]


def test_clusters_are_larger_where_that_uses_alpha_better():
    """One row of 5 may have a value at alpha = 0.3, but two of 7."""
    data = table(12, rows=700, kinds="oot", values=8, blank=0.0)
    rule = AlphaK(0.3, 5, "s0")
    assert alpha_k._sizes(data, rule, capped=True) == [5, 7]
    losses = {}
    for growth in ("capped", "best"):
        part = grown(data, rule, np.random.default_rng(2), growth)
        losses[growth] = iloss(data, part).rate
    assert losses["best"] < losses["capped"]


def test_every_value_has_its_own_alpha():
    data = table(13, rows=400, kinds="oot", values=4, blank=0.0)
    hidden = np.repeat(np.arange(4, dtype=np.int32), [20, 160, 120, 100])
    data = replace(data, sensitive={"s0": np.random.default_rng(0).permutation(hidden)})
    rule = All((AlphaK(0.1, 5, "s0", ("x0",)), AlphaK(0.5, 5, "s0", ("x1",))))
    for growth in WAYS:
        part = grown(data, rule, np.random.default_rng(0), growth)
        stats = data.stats(part)
        assert rule.holds(stats).all()
        assert part.groups > 20


def test_best_is_the_better_of_both_ways():
    data = table(6, rows=300, kinds="oot", values=4, blank=0.0)
    rule = AlphaK(0.3, 6, "s0", ("x0",))
    loss = {
        growth: iloss(data, grown(data, rule, np.random.default_rng(2), growth)).rate
        for growth in WAYS
    }
    assert loss["best"] <= min(loss["free"], loss["capped"])


def test_the_papers_algorithms_are_methods():
    data = table(6, rows=300, kinds="oot", values=4, blank=0.0)
    rule = AlphaK(0.3, 6, "s0", ("x0",))
    single = alpha_k.singanony(data, rule, np.random.default_rng(2))
    assert as_sets(single) == as_sets(grown(data, rule, np.random.default_rng(2), "free"))
    every = AlphaK(0.3, 6, "s0")
    several = alpha_k.multianony(data, rule, np.random.default_rng(2))
    assert as_sets(several) == as_sets(grown(data, every, np.random.default_rng(2), "centroid"))
    assert every.holds(data.stats(several)).all()


def test_without_an_alpha_it_is_plain_clustering():
    data = table(11, rows=50)
    part = alpha_k.group(data, KAnonymity(5), np.random.default_rng(0))
    assert part.sizes.min() >= 5
    assert part.groups >= 8


@pytest.mark.parametrize("rows", [5, 6, 11])
def test_equal_rows_and_few_rows(rows):
    data = table(1, rows=rows, kinds="oo", blank=0.0)
    same = replace(data, codes=np.zeros_like(data.codes), sensitive={"s0": np.arange(rows) % 3})
    part = alpha_k.group(same, AlphaK(0.5, 5, "s0"), np.random.default_rng(0))
    assert AlphaK(0.5, 5, "s0").holds(same.stats(part)).all()


def test_same_seed_same_groups():
    data, rule = table(9, rows=120), AlphaK(0.7, 4, "s0", ("x1",))
    once, twice = (alpha_k.group(data, rule, np.random.default_rng(3)) for _ in range(2))
    assert once.rows.tolist() == twice.rows.tolist()
    assert once.starts.tolist() == twice.starts.tolist()


def test_protect_one_needs_a_value():
    with pytest.raises(ParameterError, match=r"protect='one' needs the value.*'s0' names none"):
        alpha_k.group(table(1), AlphaK(0.9, 2, "s0"), np.random.default_rng(0), protect="one")


@pytest.mark.parametrize("protect", ["one", "all"])
def test_protect_needs_the_rule(protect):
    with pytest.raises(ParameterError, match=r"needs the rule 'alpha-k-anonymity'.*'k-anonymity'"):
        alpha_k.group(table(1), KAnonymity(2), np.random.default_rng(0), protect=protect)


def test_protect_all_refuses_a_value_too_frequent_though_not_named():
    data = table(2, rows=30, values=3, blank=0.0)
    hidden = np.array([0] * 20 + [1] * 5 + [2] * 5, np.int32)
    data = replace(data, sensitive={"s0": hidden})
    rule = AlphaK(0.5, 2, "s0", ("x1",))
    with pytest.raises(
        Infeasible, match=r"'x0' has a share of 66\.67%.*or 'alpha-k' with protect='one'"
    ):
        alpha_k.group(data, rule, np.random.default_rng(0), protect="all")
    assert alpha_k.group(data, rule, np.random.default_rng(0), protect="one").groups > 1
