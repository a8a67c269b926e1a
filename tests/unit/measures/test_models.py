"""What an audit says of any table, with pycanon as the judge from outside.

How pycanon (1.0) reads the models, and where we differ on purpose:

- it takes rows whose quasi-identifiers are missing out of the table, so it only judges complete
  tables here;
- its entropy l is ``int(exp(entropy))``, which loses one to rounding when the entropy is exactly
  log l; we round down with room for that, and give the exact figure next to it;
- its c sorts the counts the wrong way round, so it compares the *rarest* value with the tail; the
  test repeats that to show that nothing else differs. With the right order c is as it writes it:
  the least whole number above the ratio;
- its enhanced beta is min(largest gain, -ln of the rarest share): the same number whenever some
  beta will do, a number without a meaning when none will (ours is None then);
- its t is the ordered distance for numbers and the equal one for texts, as ours, but a column
  with one number in it divides by zero;
- its delta leaves values out that a class does not have, as ours.
"""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from pycanon.report.json import get_json_report

import shoal
from shoal.measures.models import models
from tests.naive import rules as naive
from tests.unit.privacy.test_rules import GROUPS, stats

ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from("xy"),
        st.sampled_from("aabbcd"),
        st.integers(0, 12),
    ),
    min_size=2,
    max_size=40,
).filter(lambda rows: len({row[3] for row in rows}) > 1)
NAMES = ["q1", "q2", "text", "number"]


def figures(frame, sensitive):
    return shoal.audit(frame, quasi=["q1", "q2"], sensitive=sensitive).to_dict()


def rarest_first(frame, sensitive, l):  # noqa: E741 -- the papers' own letter
    """pycanon's c with the counts in the order of the paper, most frequent first."""
    worst = 0
    for _, group in frame.groupby(["q1", "q2"]):
        for name in sensitive:
            counts = sorted(group[name].value_counts(), reverse=True)
            worst = max(worst, counts[0] / sum(counts[l - 1 :]))
    return math.floor(worst + 1)


@pytest.mark.slow
@settings(max_examples=15)
@given(ROWS, st.sampled_from([["text"], ["number"], ["text", "number"]]))
def test_the_same_figures_as_pycanon_on_complete_tables(rows, sensitive):
    frame = pd.DataFrame(rows, columns=NAMES)
    theirs = json.loads(get_json_report(frame, ["q1", "q2"], sensitive))
    ours = figures(frame, sensitive)
    assert set(theirs) <= set(ours)
    for model, values in theirs.items():
        assert set(values) <= set(ours[model]), model
    assert ours["data"] == theirs["data"]
    assert ours["k_anonymity"] == theirs["k_anonymity"]
    assert ours["alpha_k_anonymity"] == pytest.approx(theirs["alpha_k_anonymity"])
    assert ours["l_diversity"] == theirs["l_diversity"]
    assert ours["basic_beta_likeness"] == pytest.approx(theirs["basic_beta_likeness"], abs=1e-12)
    assert ours["t_closeness"] == pytest.approx(theirs["t_closeness"], abs=1e-12)
    assert ours["delta_disclosure"] == pytest.approx(theirs["delta_disclosure"], abs=1e-12)
    exact = ours["entropy_l_diversity"]["exact"]
    if abs(exact - round(exact)) > 1e-9:
        assert ours["entropy_l_diversity"]["l"] == theirs["entropy_l_diversity"]["l"]
    else:
        assert ours["entropy_l_diversity"]["l"] == round(exact)
    recursive = ours["recursive_c_l_diversity"]
    assert recursive["l"] == theirs["recursive_c_l_diversity"]["l"]
    if recursive["l"] > 1:
        assert recursive["c"] == rarest_first(frame, sensitive, recursive["l"])
        assert recursive["c"] >= theirs["recursive_c_l_diversity"]["c"]
    else:
        assert recursive["c"] is None  # NaN there
    enhanced = ours["enhanced_beta_likeness"]["beta"]
    if enhanced is not None:
        assert enhanced == pytest.approx(theirs["enhanced_beta_likeness"]["beta"], abs=1e-12)


def test_where_the_other_checker_is_wrong():
    # 9 of 10 have the flu: the most frequent value is 9 times the rest, not a ninth of it.
    frame = pd.DataFrame({"q1": 1, "q2": 1, "text": ["flu"] * 9 + ["pox"]})
    assert anonymity.recursive_c_l_diversity(frame, ["q1", "q2"], ["text"]) == (1, 2)
    found = figures(frame, ["text"])["recursive_c_l_diversity"]
    assert found == {"c": 10, "l": 2, "ratio": 9.0}
    # A unique row with a missing quasi-identifier is dropped there; here it is a class of one.
    gap = pd.DataFrame({"q1": [1.0, 1.0, None], "q2": 1, "text": ["a", "b", "c"]})
    assert anonymity.k_anonymity(gap, ["q1", "q2"]) == 2
    assert figures(gap, ["text"])["k_anonymity"] == {"k": 1}
    # Labels of rows are not positions.
    odd = frame.set_axis(range(100, 110))
    assert figures(odd, ["text"]) == figures(frame, ["text"])


@pytest.mark.slow
@given(GROUPS)
def test_figures_with_missing_values_against_the_definitions(groups):
    table = [value for group in groups for value in group]
    found = models(stats(groups), ["q"])["columns"]["s"]
    some = [group for group in groups if naive.known(group)]
    assert found["missing"] == table.count(None)
    assert found["classes_without_value"] == len(groups) - len(some)
    assert found["l"] == min(len(set(naive.known(group))) for group in groups)
    assert found["entropy_l"] == pytest.approx(min(map(naive.perplexity, groups)))
    full = len(some) == len(groups)  # a class without a known value keeps no promise
    share = float(max(map(naive.largest_share, groups)))
    assert found["alpha"] == (pytest.approx(share) if full else math.inf)
    said, everything = [naive.read(g, "value") for g in groups], naive.read(table, "value")
    gains = [gain for group in said for gain in naive.gains(group, everything).values()]
    gain = pytest.approx(float(max(gains, default=0)), abs=1e-12)
    known = any(naive.known(table))
    assert found["beta"] == (gain if known else math.inf)
    deltas = [naive.delta(group, everything) for group in said]
    assert found["delta"] == pytest.approx(max(deltas, default=0.0), abs=1e-12)
    possible = all(naive.beta_likeness(group, table, 1e9, True) for group in groups)
    assert found["enhanced_beta"] == (found["beta"] if possible else math.inf)
    far = [float(naive.ordered_beside_missing(group, table)) for group in groups]
    assert found["t_ordered"] == (pytest.approx(max(far), abs=1e-12) if known else math.inf)


def test_without_a_sensitive_column_only_k_has_a_figure():
    frame = pl.DataFrame({"q": [1, 1, 2, 2]})
    found = json.loads(shoal.audit(frame, quasi=["q"], k=2).to_json())
    assert found["k_anonymity"] == {"k": 2}
    assert found["l_diversity"] == {"l": None}
    assert found["verdict"]["holds"]
    assert found["classes"] == {
        "number": 2,
        "rows": 4,
        "smallest": 2,
        "largest": 2,
        "mean": 2.0,
        "single": 0,
    }


def test_a_sensitive_column_without_a_known_value():
    frame = pl.DataFrame({"q": [1, 1], "s": [None, None]}, schema_overrides={"s": pl.String})
    found = json.loads(shoal.audit(frame, quasi=["q"], sensitive=["s"], k=2).to_json())
    assert found["l_diversity"] == {"l": 0}
    assert found["recursive_c_l_diversity"]["c"] is None
    assert found["columns"]["s"]["classes_without_value"] == 1


def test_numbers_stand_in_their_order_also_as_texts_and_in_files(tmp_path):
    # By text 10 would stand before 9, and the classes would be further apart.
    rows = {"q": [1, 1, 2, 2], "s": [8, 10, 9, 11]}
    by_number = shoal.audit(pl.DataFrame(rows), quasi=["q"], sensitive=["s"], k=2).models
    assert by_number["columns"]["s"]["t_ordered"] == pytest.approx(1 / 6)
    texts = pl.DataFrame(rows).with_columns(pl.col("s").cast(pl.String))
    pl.DataFrame(rows).write_csv(tmp_path / "x.csv")
    for given_as in (texts, tmp_path / "x.csv"):
        found = shoal.audit(given_as, quasi=["q"], sensitive=["s"], k=2).models
        assert found["t_closeness"] == by_number["t_closeness"]


def test_a_named_sensitive_column_must_be_there():
    frame = pl.DataFrame({"q": [1, 1], "salary": [1, 2]})
    with pytest.raises(
        shoal.SchemaError, match=r"no sensitive column 'salry'.*Did you mean 'salary'"
    ):
        shoal.audit(frame, quasi=["q"], sensitive=["salry"], k=2)


@pytest.mark.slow
def test_many_rows_are_counted_once_and_fast():
    rng = np.random.default_rng(0)
    n = 200_000
    frame = pl.DataFrame(
        {"q": rng.integers(0, 20_000, n), "s": rng.integers(0, 50, n), "z": rng.random(n)}
    )
    found = shoal.audit(frame, quasi=["q"], sensitive=["s", "z"], k=2)
    assert found.models["classes"]["rows"] == n
