"""What a class tells of single values: shares against those of the table, and who bounds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.measures.models import models
from shoal.measures.value_disclosure import LEFT_OUT, SHOWN, value_disclosure
from shoal.privacy import AlphaK, BetaLikeness, KAnonymity, LDiversity, TCloseness
from tests.checking import verify
from tests.naive import telling as naive

# 90 people, 5 of them positive: 4 of the 5 in class a, 1 of the 85 in class b.
WORKED = pl.DataFrame(
    {
        "q": ["a"] * 5 + ["b"] * 85,
        "test": ["positive"] * 4 + ["negative"] + ["positive"] + ["negative"] * 84,
    }
)


def opened(frame: pl.DataFrame, **more: str):
    return shoal.open_release(frame, quasi=["q"], sensitive=["test"], **more).local_tables


def random_release(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    return pl.DataFrame(
        {
            "q": rng.integers(0, 5, rows),
            "who": [f"p{person}" for person in rng.integers(0, 25, rows)],
            "test": [None if v == 0 else "abcdef"[v] for v in rng.integers(0, 6, rows)],
        },
        schema_overrides={"test": pl.String},
    )


@pytest.mark.parametrize("counted", ["rows", "people"])
@pytest.mark.parametrize("seed", range(20))
def test_the_shares_are_those_of_the_slow_twin(seed: int, counted: str) -> None:
    frame = random_release(seed)
    persons = frame["who"] if counted == "people" else pl.Series(range(frame.height))
    stats = verify(
        frame,
        ["q"],
        [KAnonymity(2)],
        sensitive=["test"],
        persons=persons if counted == "people" else None,
    ).stats
    told = value_disclosure(opened(frame), stats)["test"]
    expected = naive.shares(frame["q"].to_list(), persons.to_list(), frame["test"].to_list())
    assert told.unit == counted
    assert {one.value for one in told.values} == set(expected)
    for one in told.values:
        table, highest, doubled = expected[one.value]
        assert (one.table, one.highest) == pytest.approx((table, highest))
        assert one.doubled == doubled
    ratios = [one.ratio for one in told.values]
    assert ratios == pytest.approx(sorted(ratios, reverse=True))


def test_a_table_worked_by_hand_as_the_docs_tell_it() -> None:
    rules = [KAnonymity(5), LDiversity(2, "test")]
    verdict = verify(WORKED, ["q"], rules)
    assert verdict.holds
    positive, negative = value_disclosure(opened(WORKED))["test"].values
    assert (positive.value, positive.table, positive.highest) == ("positive", 5 / 90, 4 / 5)
    assert positive.ratio == pytest.approx(14.4)
    assert (negative.table, negative.highest) == (85 / 90, 84 / 85)
    assert (positive.doubled, negative.doubled) == (5, 0)
    belief = shoal.risk(WORKED, quasi=["q"], sensitive=["test"]).attributes["test"]
    assert belief.prior == pytest.approx(85 / 90)
    assert belief.mean == pytest.approx((5 * 4 / 5 + 85 * 84 / 85) / 90)
    docs = (Path(__file__).parents[3] / "docs" / "risk.md").read_text()
    for one in (positive, negative):
        cells = f"{100 * one.table:.3g} % | {100 * one.highest:.3g} % | {one.ratio:.4g}"
        assert f"| {one.value} | {cells} | {one.doubled} |" in docs
    assert f"from {belief.prior:.1%}".replace("%", " %") in docs
    assert f"to {belief.mean:.1%}".replace("%", " %") in docs
    reached = models(verdict.stats, ["q"])["columns"]["test"]
    assert f"| {reached['beta']:.4g} |" in docs and f"| {reached['t_equal']:.4g} |" in docs


@pytest.mark.parametrize(
    "rule",
    [
        AlphaK(k=5, alpha=0.5, column="test", values=("positive",)),
        TCloseness(0.2, "test"),
        BetaLikeness(1.0, "test"),
    ],
    ids=lambda rule: rule.name,
)
def test_each_rule_that_the_sentence_names_refuses_the_worked_table(rule) -> None:
    assert not verify(WORKED, ["q"], [rule]).holds


@pytest.mark.parametrize("seed", range(20))
def test_the_rules_bound_what_the_sentence_says(seed: int) -> None:
    stats = verify(random_release(seed), ["q"], [KAnonymity(2)], sensitive=["test"]).stats
    assert stats is not None
    assert (stats.histograms["test"].known > 0).all()  # else no rule would hold
    reached = models(stats, ["q"])["columns"]["test"]
    values = value_disclosure(opened(random_release(seed)), stats)["test"].values
    assert max(one.highest for one in values) == pytest.approx(reached["alpha"])
    # Shares are of known values, which t and beta bound when they leave out missing ones.
    beta = BetaLikeness(1.0, "test", missing="ignore").achieved(stats)["beta"]
    t = TCloseness(0.2, "test", missing="ignore").achieved(stats)["t"]
    assert max(one.ratio for one in values) == pytest.approx(1 + beta)
    assert max(one.highest - one.table for one in values) <= t + 1e-9


def test_the_sentence() -> None:
    assert value_disclosure(opened(WORKED))["test"].describe() == (
        "In one class 80.0 % have 'positive' in 'test', 14.4 times the share in the whole table "
        "(5.6 %). 5 rows are in classes that at least double its share. Rules that limit this: "
        "alpha (alpha = 0.5: at most half of a class); t (t = 0.2: at most 20 percentage points "
        "above the table, with equal distance); beta (beta = 1: at most twice the share in the "
        "table). k-anonymity and distinct l-diversity hardly limit it."
    )


def test_the_sentence_where_values_are_missing() -> None:
    gap = pl.DataFrame({"q": ["a", "b"], "test": [None, None]}, schema=WORKED.schema)
    sentence = value_disclosure(opened(pl.concat([WORKED, gap])))["test"].describe()
    assert sentence.startswith("In one class 80.0 % of the rows with a known value have 'positive'")
    assert "t and beta bound shares of known values with --missing-sensitive ignore. k" in sentence


def test_exactly_double_is_counted_and_not_yet_said() -> None:
    frame = pl.DataFrame({"q": list("aabb"), "test": list("xxyy")})
    told = value_disclosure(opened(frame))["test"]
    assert [(one.ratio, one.doubled) for one in told.values] == [(2.0, 2), (2.0, 2)]
    assert told.describe() == ""


def test_missing_values_have_no_share() -> None:
    gaps = pl.DataFrame({"q": list("aaabb"), "test": ["x", None, "*", "y", ""]})
    told = value_disclosure(opened(gaps))["test"]
    assert [(one.value, one.table, one.highest) for one in told.values] == [
        ("x", 0.5, 1.0),
        ("y", 0.5, 1.0),
    ]
    assert [one.doubled for one in told.values] == [3, 2]
    assert (
        value_disclosure(opened(gaps.with_columns(test=pl.lit(None, pl.String))))["test"].values
        == ()
    )


def test_the_figures_as_plain_data() -> None:
    told = shoal.risk(WORKED, quasi=["q"], sensitive=["test"]).to_dict()
    column = told["values"]["test"]
    assert set(column) == {"column", "unit", "number", "sentence", "values"}
    assert set(column["values"][0]) == {"value", "table", "highest", "ratio", "doubled"}
    assert column["number"] == 2 and column["sentence"].startswith("In one class 80.0 %")
    assert told["values_left_out"] == ""


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_people_are_counted_where_the_run_counted_them_and_never_for_the_public() -> None:
    rows = pl.DataFrame(
        {
            "who": [1, 1, 2, 3, 4, 4, 5, 5, 6, 7],
            "q": [30, 30, 31, 32, 30, 33, 34, 35, 36, 37],
            "test": list("xxyzxyyxzx"),
        }
    )
    release = shoal.anonymize(rows, quasi=["q"], sensitive=["test"], person="who", k=2, seed=1)
    assert release.risk().values["test"].unit == "people"
    assert "people where doubled" in release.page(attacks=False)
    assert "rows where doubled" in release.page(audience="public")


@pytest.mark.parametrize("audience", ["steward", "public"])
def test_the_report_has_the_highest_ratios_and_the_sentence(audience: str) -> None:
    many = WORKED.with_columns(
        test=pl.Series([*WORKED["test"][:70], *(f"rare{i}" for i in range(20))])
    )
    release = shoal.open_release(many, quasi=["q"], sensitive=["test"])
    page = release.page(audience=audience, attacks=False)
    told = value_disclosure(release.local_tables)["test"]
    assert 'id="values"' in page and 'href="#values"' in page
    part = page.partition('id="values"')[2].partition("<h2")[0]
    assert part.count("<tr>") == 1 + SHOWN
    assert "In one class 80.0 % have" in part and "Rules that limit this" in part
    assert f"{len(told.values) - SHOWN} more values have lower gains." in part


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_releases_that_hide_whose_value_is_whose_are_left_out_with_the_reason() -> None:
    table = pl.DataFrame({"q": range(20), "test": list("abcd") * 5})
    roles = {"quasi": ["q"], "sensitive": ["test"]}
    release = shoal.anonymize(table, **roles, l=2, l_kind="frequency", method="anatomy")
    risks = release.risk()
    assert risks.values == {}
    assert risks.to_dict()["values_left_out"] == LEFT_OUT
    assert 'id="values"' not in release.page(attacks=False)


@pytest.mark.parametrize("audience", ["steward", "public"])
def test_a_report_lists_it_among_the_open_risks(audience: str) -> None:
    release = shoal.open_release(WORKED, quasi=["q"], sensitive=["test"])
    page = release.page(audience=audience)
    assert "In one class 80.0 %" in page.split('id="open"')[1].split('id="details"')[0]
