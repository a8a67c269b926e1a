"""Anatomy: groups of different values, drawn at random; two tables that count right."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from experiments.views import read_view
from shoal.base.errors import Infeasible, ParameterError, SchemaError, ShoalWarning
from shoal.groupers import anatomy
from shoal.kernels.anatomy import largest_buckets
from shoal.privacy import FrequencyLDiversity
from shoal.releases.base import By, Query
from tests.naive import estimates as naive
from tests.tables import encoded


def table(rng, counts, gaps=0):
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    codes = np.concatenate((codes, np.full(gaps, -1))).astype(np.int32)
    data = encoded(rng, codes.size, "o", sensitive=[len(counts)])
    data.sensitive["s0"] = codes
    return data


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=2, max_size=7), st.integers(2, 4))
def test_the_kernel_equals_its_twin(left, l):  # noqa: E741
    found = largest_buckets(np.array(left, np.int64), l)
    assert (found == naive.largest_buckets(left, l)).all()
    assert found.shape[0] == naive.largest_buckets(left, l).shape[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=3, max_size=8), st.integers(2, 3), st.integers(0, 6))
def test_no_group_has_a_value_twice(counts, l, gaps):  # noqa: E741
    if max(counts) * l > sum(counts):
        return
    data = table(np.random.default_rng(sum(counts)), counts, gaps)
    rule = FrequencyLDiversity(l, "s0")
    part = anatomy.group(data, rule, None)
    assert sorted(part.rows.tolist()) == list(range(data.rows))
    stats = data.stats(part)
    assert (stats.histograms["s0"].counts == 1).all()
    assert rule.holds(stats).all()
    assert part.notes["residue"] < l


def eight():
    return pl.DataFrame(
        {
            "age": [23, 27, 35, 59, 61, 65, 65, 70],
            "sex": ["m", "m", "m", "m", "f", "f", "f", "f"],
            "ill": ["lungs", "stomach", "stomach", "lungs", "flu", "gastritis", "flu", "cold"],
        }
    )


def go(frame, l=2, **more):  # noqa: E741
    options = {"quasi": ["age", "sex"], "sensitive": "ill", "method": "anatomy"}
    return shoal.anonymize(frame, rules=[FrequencyLDiversity(l, "ill")], **(options | more))


def test_eight_rows_make_four_groups_of_two():
    outcome = go(eight())
    qit, values = outcome.tables["release"], outcome.tables["st"]
    assert qit.columns == ["age", "sex", "group_id"]
    assert values.columns == ["group_id", "ill", "count"]
    assert values["count"].to_list() == [1] * 8
    assert sorted(values["ill"]) == sorted(eight()["ill"])
    assert qit["group_id"].value_counts()["count"].to_list() == [2] * 4
    assert outcome.achieved == {"frequency_l": 2.0}


@pytest.mark.slow
def test_groups_are_random():
    """Every partner is met: the first row's group is no function of its place."""
    partners = set()
    for _ in range(25):
        released = go(eight()).frame
        group = released.filter(pl.col("age") == 23)["group_id"][0]
        partners |= set(released.filter(pl.col("group_id") == group)["age"])
    assert len(partners) >= 5


def test_missing_values_join_groups_and_add_nothing():
    frame = pl.concat([eight(), eight().with_columns(ill=pl.lit(None, pl.String))])
    outcome = go(frame)
    values = outcome.tables["st"]
    assert values.filter(pl.col("ill").is_null())["count"].sum() == 8
    assert outcome.achieved["frequency_l"] == 2.0


def test_requests_that_cannot_be():
    with pytest.raises(Infeasible, match=r"'flu'.* share of 25.00%.*largest l possible is 4"):
        go(eight(), 5)
    two = eight().with_columns(more=pl.col("ill"))
    with (
        pytest.warns(ShoalWarning, match="'more' has no rule of its own"),
        pytest.raises(ParameterError, match="protects one sensitive column"),
    ):
        go(two, sensitive=["ill", "more"])
    with pytest.raises(SchemaError, match="'group_id' already"):
        go(eight().rename({"age": "group_id"}), quasi=["group_id", "sex"])


def hand():
    qit = pl.DataFrame({"sex": ["m", "f", "f", "m"], "age": [1, 2, 3, 4], "group_id": [1, 1, 2, 2]})
    values = pl.DataFrame(
        {"group_id": [1, 1, 2, 2], "ill": ["flu", "cold", "flu", "gout"], "count": [1, 1, 1, 1]}
    )
    return read_view(qit, "ill", table=values)


def test_estimates_and_beliefs_by_hand():
    view = hand()
    assert view.values("ill") == ("cold", "flu", "gout")
    assert view.expect(Query("ill", {"sex": ["f"]})).tolist() == [0.5, 1.0, 0.5]
    counts = view.counts("ill", [By("sex")])
    assert counts.labels == (("f",), ("m",))
    assert counts.count.tolist() == [[0.5, 1.0, 0.5], [0.5, 1.0, 0.5]]
    assert counts.frame().height == 6
    whole = view.counts("ill", [])
    # The whole table is known exactly: the interval has no width.
    assert whole.count.tolist() == whole.low.tolist() == whole.high.tolist() == [[1, 2, 1]]
    assert view.posterior("ill").beliefs(np.array([0, 2])).tolist() == [
        [0.5, 0.5, 0],
        [0, 0.5, 0.5],
    ]
    assert view.posterior("ill").risk() == {"worst_posterior": 0.5, "mean_posterior": 0.5}


@pytest.mark.slow
def test_intervals_hold_the_truth_when_nothing_ties_the_columns():
    rng = np.random.default_rng(7)
    held = []
    for _ in range(30):
        frame = pl.DataFrame(
            {
                "age": rng.integers(0, 3, 300),
                "sex": rng.choice(["f", "m"], 300),
                "ill": rng.choice(["a", "b", "c", "d", "e"], 300),
            }
        )
        outcome = go(frame, 3)
        view = read_view(outcome.frame, "ill", table=outcome.tables["st"])
        counts = view.counts("ill", [By("age")], level=0.9)
        true = frame.group_by("age", "ill").len().sort("age", "ill")["len"].to_numpy()
        held.append((counts.low.ravel() <= true) & (true <= counts.high.ravel()))
    assert 0.86 < np.mean(held) < 0.95
