"""Methods and settings side by side."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from numba.core import event

import shoal
from shoal.api import opening
from shoal.base.errors import MissingExtra, SchemaError, ShoalWarning
from shoal.plan.plan import Plan
from shoal.verbs.compare import running
from shoal.verbs.compare.measuring import figures_of_settings
from shoal.verbs.compare.running import short

QUASI = ["age", "town"]
PROVED = {"lower_bound", "above_best"}  # told only with prove

pytestmark = pytest.mark.slow


def people(n=120, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    town = rng.choice(["Ayr", "Bonn", "Cork", "Dax"], n)
    ill = rng.choice(["flu", "cold", "pox"], n, p=[0.4, 0.35, 0.25])
    gaps = rng.random(n) < 0.1
    ages = pl.Series("age", age).set(pl.Series(gaps), None)
    return pl.DataFrame({"age": ages, "town": town, "ill": ill, "paid": rng.integers(0, 5, n)})


@pytest.fixture(scope="module")
def found():
    return shoal.compare(
        people(),
        quasi=QUASI,
        sensitive="ill",
        keep="paid",
        methods=["mondrian", "k-member", "tp"],
        k=[2, 5, 500],
        seed=4,
    )


def test_a_row_per_setting_in_the_order_asked_for(found):
    assert [each.label for each in found.settings] == [
        f"{method} k={k}" for method in ("mondrian", "k-member", "tp") for k in (2, 5, 500)
    ]
    frame = found.frame()
    assert frame["k"].to_list() == [2, 5, 500] * 3
    assert frame["verified"].to_list() == [True, True, False] * 2 + [False] * 3
    assert set(figures_of_settings()) <= set(frame.columns)
    done = frame.filter("verified")
    for name in set(figures_of_settings()) - PROVED:
        assert done[name].null_count() == 0, name
    assert frame.filter(~pl.col("verified"))["loss"].null_count() == 5


def test_figures_agree_with_the_release(found):
    """Counted by hand from the published rows."""
    setting = found.settings[1]
    release = setting.release.frame
    classes = Counter(release.select(QUASI).iter_rows())
    figures = setting.figures
    assert figures["classes"] == len(classes)
    assert figures["class_size"] == pytest.approx(120 / len(classes))
    assert figures["discernibility"] == sum(size**2 for size in classes.values())
    assert figures["risk_highest"] == 1 / min(classes.values())
    assert figures["risk_mean"] == pytest.approx(len(classes) / 120)
    assert figures["risk_above"] == 0
    assert figures["loss"] == setting.release.loss.rate
    shares = []
    for cells in classes:
        same = [pl.col(name) == cell for name, cell in zip(QUASI, cells, strict=True)]
        held = release.filter(same)["ill"]
        shares.append(max(Counter(held).values()) / len(held))
    assert figures["belief_worst"] == pytest.approx(max(shares))


def test_what_is_not_possible_says_why_and_the_others_go_on(found):
    reasons = {each.label: each.reason for each in found.settings if not each.verified}
    assert reasons["mondrian k=500"] == "k-anonymity with k=500 cannot be met."
    assert "largest k possible is 120" in found.settings[2].detail
    assert reasons["tp k=2"] == "The method 'tp' cannot keep the rule 'k-anonymity'."
    assert found.settings[8].release is None


def test_the_recommended_is_verified_and_explained(found):
    chosen = found.recommended
    assert chosen in found.verified
    assert chosen.figures["risk_highest"] <= 0.2
    allowed = [each for each in found.verified if each.figures["risk_highest"] <= 0.2]
    assert chosen.figures["loss"] == min(each.figures["loss"] for each in allowed)
    assert found.why.startswith(f"{chosen.label} has the least information loss")
    assert chosen in found.frontier


def test_the_classifier_has_its_baselines(found):
    assert found.target == "ill"
    assert set(found.baselines) == {"original", "majority"}
    assert all(0 <= score["accuracy"] <= 1 for score in found.baselines.values())


def test_the_plot_marks_the_recommended_and_the_frontier(found):
    chart = found.plot()
    on = chart.table.filter(pl.col("on the frontier") == "yes")["label"].to_list()
    assert set(on) == {each.label for each in found.frontier}
    assert f"Recommended: {found.recommended.label}" in chart.text
    assert chart.table.height == len(found.verified)
    assert "tp" not in chart.table["group"].to_list()


def test_plain_data_holds_no_value_and_no_seed(found):
    text = found.to_json()
    tree = json.loads(text)
    assert tree["recommended"] == found.recommended.label
    assert tree["seeded"] is True
    assert len(tree["settings"]) == 9
    assert tree["settings"][2]["reason"] == "k-anonymity with k=500 cannot be met."
    for word in ("flu", "pox", "Bonn", '"seed"'):
        assert word not in text


def same(a, b):
    timeless = [name for name in a.frame().columns if "seconds" not in name]
    return a.frame().select(timeless).equals(b.frame().select(timeless)) and a.why == b.why


def test_a_seed_repeats_a_comparison(found):
    again = shoal.compare(
        people(),
        quasi=QUASI,
        sensitive="ill",
        keep="paid",
        methods=["mondrian", "k-member", "tp"],
        k=[2, 5, 500],
        seed=4,
        keep_releases=False,
    )
    assert same(found, again)
    assert again.settings[0].release is None


@pytest.mark.filterwarnings("ignore:Someone who also knows")
def test_a_release_of_a_comparison_is_the_one_that_anonymize_makes(found):
    alone = shoal.anonymize(
        people(), quasi=QUASI, sensitive="ill", keep="paid", method="k-member", k=5, seed=4
    )
    assert found.settings[4].release.frame.equals(alone.frame)


def test_the_table_is_read_and_encoded_once(monkeypatch, tmp_path):
    people().write_csv(tmp_path / "people.csv")
    counts = Counter()
    for module, name in ((opening, "read_data"), (running, "encode")):
        real = getattr(module, name)

        def counted(*args, _real=real, _name=name, **more):
            counts[_name] += 1
            return _real(*args, **more)

        monkeypatch.setattr(module, name, counted)
    shoal.compare(
        tmp_path / "people.csv",
        quasi=QUASI,
        methods=["mondrian", "k-member", "kaim"],
        k=[2, 3],
        queries=0,
    )
    # kaim takes sets as flat trees: another form.
    assert counts == {"read_data": 1, "encode": 2}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_every_shape_of_release():
    found = shoal.compare(
        people(300),
        quasi=QUASI,
        sensitive="ill",
        methods=["mondrian", "tp+", "dummies", "anatomy"],
        rule_values={"l": [2], "l-kind": ["distinct", "frequency"]},
        seed=1,
    )
    verified = {each.label for each in found.verified}
    assert verified == {
        "mondrian l=2 l-kind=distinct",
        "mondrian l=2 l-kind=frequency",
        "tp+ l=2 l-kind=frequency",
        "dummies l=2 l-kind=distinct",
        "anatomy l=2 l-kind=frequency",
    }
    for each in found.verified:
        lacking = set(figures_of_settings()) - PROVED - set(each.figures)
        # Nothing can be read off cells that are exact, and nobody is meant to.
        hidden = each.method in ("dummies", "anatomy")
        assert lacking == ({"read_off", "share_ratio"} if hidden else set())
    # No k was asked for: the belief counts; and exact quasi-identifiers lose nothing by nature.
    assert (found.axes.risk, found.axes.cost) == ("belief", "queries")
    assert found.axes.limit == pytest.approx(
        (1 + people(300)["ill"].value_counts()["count"].max() / 300) / 2
    )
    exact = [each for each in found.verified if each.method in ("dummies", "anatomy")]
    assert [each.figures["loss"] for each in exact] == [0, 0]
    assert any("run with a seed" in text for text in found.warnings)
    if found.recommended in exact:
        assert "people can be found in it" in found.why


def test_without_a_sensitive_column_there_are_no_queries_and_no_classifier():
    found = shoal.compare(people(), quasi=QUASI, methods="mondrian", k=[2, 5])
    assert [note.split(":")[0] for note in found.notes] == ["No query error", "No classifier"]
    frame = found.frame()
    for name in ("query_median", "accuracy", "belief_worst"):
        assert frame[name].null_count() == 2
    assert found.recommended.label == "mondrian k=5"


def test_a_target_that_is_passed_through():
    found = shoal.compare(
        people(), quasi=QUASI, keep="paid", methods="mondrian", k=5, target="paid", queries=0
    )
    assert found.target == "paid"
    assert "accuracy" in found.settings[0].figures
    with pytest.raises(SchemaError, match="'town' cannot be predicted"):
        shoal.compare(people(), quasi=QUASI, k=5, target="town")


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setattr("shoal.ext.learning.classifier.has_library", lambda: False)
    settings = {"quasi": QUASI, "sensitive": "ill", "methods": "mondrian", "k": 5}
    found = shoal.compare(people(), **settings)
    assert found.notes == (
        "No classifier: scikit-learn is not installed (pip install 'shoal[ml]').",
    )
    assert "accuracy" not in found.settings[0].figures
    assert shoal.compare(people(), **settings, classifier=False).notes == ()
    with pytest.raises(MissingExtra, match=r"pip install 'shoal\[ml\]'"):
        shoal.compare(people(), **settings, classifier=True)


@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_every_kind_of_column_can_be_asked_and_learnt_from():
    rng = np.random.default_rng(0)
    n = 200
    frame = pl.DataFrame(
        {
            "day": [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 90, n)],
            "rank": rng.choice(["low", "mid", "high"], n),
            "number": rng.random(n),
            "odd": rng.choice(["*", "[1-2]", "{a, b}", '"'], n),
            "gone": pl.Series([None] * n, dtype=pl.String),
            "ill": rng.choice(["flu", "?", "pox"], n),
        }
    )
    columns = {
        "day": {"role": "quasi"},
        "rank": {"role": "quasi", "order": ["low", "mid", "high"]},
        "number": {"role": "quasi"},
        "odd": {"role": "quasi"},
        "gone": {"role": "quasi"},
        "ill": {"role": "sensitive", "missing": ["?"]},
    }
    for typed in (False, True):
        plan = Plan().replaced(columns=columns).changed({"release": {"typed": typed}})
        with pytest.warns(ShoalWarning, match="entirely missing"):
            found = shoal.compare(frame, plan=plan, methods=["mondrian"], k=[4], seed=0)
        figures = found.settings[0].figures
        assert all(math.isfinite(value) for value in figures.values())
        assert set(figures) == set(figures_of_settings()) - PROVED
        assert found.notes == ()


def test_repeats_are_means_and_the_highest_risk():
    once = [
        shoal.compare(people(), quasi=QUASI, methods="k-member", k=4, seed=7 + i).settings[0]
        for i in range(3)
    ]
    thrice = shoal.compare(people(), quasi=QUASI, methods="k-member", k=4, seed=7, repeats=3)
    losses = [each.figures["loss"] for each in once]
    both = thrice.settings[0]
    assert both.figures["loss"] == pytest.approx(sum(losses) / 3)
    assert both.spread == (min(losses), max(losses))
    assert min(losses) < max(losses)
    assert both.figures["risk_highest"] == max(each.figures["risk_highest"] for each in once)
    assert thrice.frame()["loss_high"].to_list() == [max(losses)]


def test_progress_can_end_it_between_settings():
    told = []

    def stop(label):
        told.append(label)
        return label == "mondrian k=5"

    found = shoal.compare(people(), quasi=QUASI, methods="mondrian", k=[2, 5, 9], progress=stop)
    assert told == ["mondrian k=2", "mondrian k=5"]
    assert [each.label for each in found.settings] == ["mondrian k=2"]
    assert found.stopped
    assert "Stopped early" in found.why


def test_a_setting_that_is_cut_short_does_not_count():
    """The method shoal asks while it refines; groups that were not refined are not compared."""

    asked = Counter()

    def stop(label):
        asked[label] += 1
        return asked[label] > 1

    found = shoal.compare(people(), quasi=QUASI, methods="shoal", k=[2, 5], progress=stop)
    assert asked["shoal k=2"] > 1
    assert found.settings == ()
    assert found.stopped
    assert found.recommended is None
    assert found.frame().height == 0


def test_reasons_are_short_and_hold_no_value():
    assert short("Frequency l-diversity with l=3 cannot be met in column 'ill': 'flu' has ...") == (
        "Frequency l-diversity with l=3 cannot be met in column 'ill'."
    )
    assert short("Alpha = 0.5 is too small. Take more.") == "Alpha = 0.5 is too small."
    assert short("One sentence.") == "One sentence."


def test_compiling_is_not_counted(monkeypatch):
    from shoal.groupers import mondrian

    real = mondrian.group

    def slow(data, rule, rng, **options):
        # The events that numba sends, one compilation inside another, half a second in all.
        with event.trigger_event("numba:compile"):
            time.sleep(0.25)
            with event.trigger_event("numba:compile"):
                time.sleep(0.25)
        return real(data, rule, rng, **options)

    monkeypatch.setattr(mondrian, "group", slow)
    told = []
    found = shoal.compare(
        people(), quasi=QUASI, methods="mondrian", k=5, queries=0, progress=told.append
    )
    assert told == ["mondrian k=5", "compile"]
    spent = found.settings[0].release.made.seconds["total"]
    assert 0 < found.settings[0].figures["seconds"] <= spent - 0.5


def test_what_bounding_a_share_costs_is_shown():
    """The highest share of a value in a class against the table, counted by hand."""
    found = shoal.compare(
        people(), quasi=QUASI, sensitive="ill", methods="mondrian", k=3,
        rule_values={"beta": [0.5, 2.0]}, queries=0, classifier=False, seed=4,
    )  # fmt: skip
    tight, loose = found.settings
    for setting, beta in ((tight, 0.5), (loose, 2.0)):
        rows = setting.release.frame.to_dicts()
        table = Counter(row["ill"] for row in rows)
        classes = Counter((row["age"], row["town"]) for row in rows)
        pairs = Counter((row["age"], row["town"], row["ill"]) for row in rows)
        ratios = [
            many / classes[age, town] / (table[ill] / len(rows))
            for (age, town, ill), many in pairs.items()
        ]
        assert setting.figures["share_ratio"] == pytest.approx(max(ratios))
        assert max(ratios) <= 1 + beta + 1e-9
    assert tight.figures["share_ratio"] < loose.figures["share_ratio"]
    assert tight.figures["loss"] > loose.figures["loss"]


def test_settings_of_the_release_are_those_of_every_setting_compared() -> None:
    asked = {"k": 3, "methods": ["mondrian"], "queries": 0, "classifier": False, "seed": 4}
    with pytest.warns(ShoalWarning):
        found = shoal.compare(
            people(),
            quasi=QUASI,
            sensitive="ill",
            top={"age": 50},
            suppress="5%",
            typed=False,
            **asked,
        )
    (setting,) = found.settings
    assert setting.plan.release.suppress == 0.05
    assert setting.plan.columns["age"].top == 50
