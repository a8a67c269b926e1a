"""Attacks against plain loops, and on tables where the answer is plain to see."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import ShoalWarning
from shoal.measures.risks.results import percent, wilson
from shoal.tables import demo
from tests.naive import risks as naive

TOWNS, AGES, ILLS = ["A", "B", "C"], [10, 20, 30, 40], ["flu", "cold", "gout"]


def result(found, name):
    return next(each for each in found.results if each.name == name)


def released_cells(town, age, how):
    """A cell each that covers its source, as wide as ``how`` says."""
    first = "*" if town is None or how[0] == 2 else town
    if how[0] == 1 and town is not None:
        first = "{" + ", ".join(sorted({town, "B", "C"})) + "}"
    second = "*" if age is None or how[1] == 2 else str(age)
    if how[1] == 1 and age is not None:
        second = f"[{min(age, 20)}-{max(age, 30)}]"
    return first, second


people = st.tuples(
    st.sampled_from([None, *TOWNS]),
    st.sampled_from([None, *AGES]),
    st.sampled_from([None, *ILLS]),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(people, min_size=2, max_size=14), st.integers(1, 3), st.randoms())
def test_the_loop_finds_the_same(table, m, random):
    if all(row[2] is None for row in table):
        return
    names = {"town": pl.String, "age": pl.Int64, "ill": pl.String}
    original = pl.DataFrame([row[:3] for row in table], schema=names, orient="row")
    cells = [released_cells(*row[:2], row[3]) for row in table]
    hidden = [row[2] for row in table]
    shuffled = list(range(len(table)))
    random.shuffle(shuffled)
    released = pl.DataFrame(
        [(*cells[i], hidden[i]) for i in shuffled],
        schema=dict.fromkeys(names, pl.String),
        orient="row",
    )
    if original["age"].null_count() == len(table):
        return
    found = shoal.attack(
        released, original=original, known=["town", "age"], sensitive="ill", rule_out=m, seed=0
    )
    held = [{row[j] for row in table if row[j] is not None} for j in (0, 1)]

    def fit(j, cell, value):
        return naive.fits(cell, value, gaps="open")

    def width(j, cell):
        # A star fits a missing value too.
        return max(sum(fit(j, cell, value) for value in held[j]) + (cell == "*"), 1)

    known = [row[:2] for row in table]
    expected = naive.attack(cells, hidden, known, hidden, fit, width, m)
    assert result(found, "linkage").success == pytest.approx(np.mean([e[0] for e in expected]))
    told = [e for e, value in zip(expected, hidden, strict=True) if value is not None]
    for place, name in ((1, "homogeneity"), (2, "inference"), (3, "background")):
        assert result(found, name).attempts == len(told)
        assert result(found, name).success == pytest.approx(np.mean([e[place] for e in told]))
    believed = result(found, "background").details["belief_mean"]
    assert believed == pytest.approx(np.mean([e[4] for e in told]))
    assert found.unmatched == 0


def random_table(rng, rows=60):
    return pl.DataFrame(
        {
            "a,ge": rng.integers(20, 60, rows),
            "{*}": rng.choice(["*", "{x, y}", '"q"', None], rows).tolist(),
            "ill": rng.choice(["flu", "cold", "gout", None], rows).tolist(),
        }
    )


NAMES = ["a,ge", "{*}"]
SHAPES = {
    "generalized": ("kaim", [shoal.KAnonymity(4), shoal.LDiversity(2, "ill")]),
    "dummies": ("dummies", [shoal.LDiversity(2, "ill")]),
    "anatomized": ("anatomy", [shoal.FrequencyLDiversity(2, "ill")]),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=4)
@given(st.integers(0, 1000))
def test_what_every_release_promises(shape, seed):
    method, rules = SHAPES[shape]
    frame = random_table(np.random.default_rng(seed))
    outcome = shoal.anonymize(frame, quasi=NAMES, sensitive="ill", method=method, rules=rules)
    found = shoal.attack(
        outcome.frame,
        original=frame,
        st=outcome.tables.get("st"),
        known=NAMES,
        sensitive="ill",
        seed=1,
    )
    assert (found.shape, found.targets, found.unmatched) == (shape, 60, 0)
    linkage, homogeneity, _, background = found.results
    if shape == "generalized":
        k = outcome.achieved["k"]
        assert linkage.success <= 1 / k + 1e-12
        assert linkage.details["highest"] <= 1 / k + 1e-12
        assert linkage.details["candidates_fewest"] >= k
    else:  # every quasi-identifier is as it was
        assert linkage.success > shoal.risk(frame, quasi=NAMES).after.prosecutor_mean / 2
    assert homogeneity.success == 0  # l = 2
    assert background.details["ruled_out"] == 1
    again = shoal.attack(
        outcome.frame.sample(fraction=1, shuffle=True, seed=seed + 1),
        original=frame.sample(fraction=1, shuffle=True, seed=seed),
        st=outcome.tables.get("st"),
        known=NAMES,
        sensitive="ill",
    )
    for one, other in zip(found.results, again.results, strict=True):
        assert one.success == pytest.approx(other.success)
        assert one.baseline == pytest.approx(other.baseline)


def test_a_homogeneous_class_is_found_although_a_star_fits_everybody():
    original = pl.DataFrame(
        {"age": [30, 31, 50, 51, None], "ill": ["flu", "flu", "cold", "gout", "x"]}
    )
    released = pl.DataFrame(
        {"age": ["[30-31]", "[30-31]", "[50-51]", "[50-51]", "*"], "ill": original["ill"]}
    )
    found = shoal.attack(released, original=original, known="age", sensitive="ill")
    assert result(found, "homogeneity").success == 3 / 5  # the two with flu, and the gap itself
    assert result(found, "homogeneity").details["certain"] == 1 / 5
    assert result(found, "background").success == 1.0
    assert result(found, "inference").success == 4 / 5
    # Two equal rows that fit two values each against a star that fits five: 1 / (2 + 2/5).
    assert result(found, "linkage").details["highest"] == 1.0
    assert result(found, "linkage").success == pytest.approx((4 / (2 + 2 / 5) + 1) / 5)


def test_a_gap_is_known_to_the_attacker_and_fits_everybody_else():
    original = pl.DataFrame({"zip": ["1", "1", None]})
    released = pl.DataFrame({"zip": ["1", None, "1"]})
    found = result(shoal.attack(released, original=original, known="zip"), "linkage")
    # Who knows of the gap has one candidate; the others cannot exclude it.
    assert found.details["candidates_fewest"] == 1
    assert found.details["candidates_mean"] == pytest.approx((3 + 3 + 1) / 3)


def test_wrong_and_lacking_knowledge():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": rng.integers(0, 1000, 300), "b": rng.integers(0, 1000, 300)})
    exact = result(shoal.attack(frame, original=frame, known=["a", "b"], seed=1), "linkage")
    assert exact.success > 0.99
    wrong = result(
        shoal.attack(frame, original=frame, known=["a", "b"], seed=1, noise=1.0), "linkage"
    )
    assert wrong.success < 0.05
    assert wrong.details["nothing_fits"] > 0.9
    half = result(
        shoal.attack(frame, original=frame, known=["a", "b"], seed=1, noise=0.5), "linkage"
    )
    assert wrong.success < half.success < exact.success
    blind = result(
        shoal.attack(frame, original=frame, known=["a", "b"], seed=1, gaps=1.0), "linkage"
    )
    assert blind.success == pytest.approx(1 / 300)
    assert "does not do clearly better than guessing" in blind.warning


def test_an_attack_that_learns_nothing_says_so():
    frame = pl.DataFrame({"a": range(100), "ill": ["flu", "flu", "cold", "gout"] * 25})
    hidden = frame.with_columns(a=pl.lit("*"))
    found = shoal.attack(hidden, original=frame, known="a", sensitive="ill")
    inference = result(found, "inference")
    assert inference.success == inference.baseline == 0.5
    assert "does not do clearly better than guessing" in inference.warning
    assert "says nothing about safety" in inference.warning
    assert "found nothing" in result(found, "homogeneity").warning
    assert result(found, "linkage").success == pytest.approx(1 / 100)


def test_what_is_true_of_outsiders_too_is_no_leak():
    rng = np.random.default_rng(2)
    age = rng.integers(20, 80, 600)
    frame = pl.DataFrame({"age": age, "ill": np.where(age < 50, "flu", "gout")})
    half, rest = frame[:300], frame[300:]
    released = half.with_columns(
        age=pl.when(pl.col("age") < 50).then(pl.lit("[20-49]")).otherwise(pl.lit("[50-79]"))
    )
    found = shoal.attack(
        released, original=half, known="age", sensitive="ill", control=rest, seed=1
    )
    inference = result(found, "inference")
    assert inference.success == inference.control == 1.0
    assert inference.excess is None
    assert "works as well on people who are not in the table" in inference.warning
    assert found.control == "outsiders"
    # Without outsiders somebody else's data are the control, and they do not help.
    mine = result(
        shoal.attack(released, original=half, known="age", sensitive="ill", seed=1), "inference"
    )
    assert mine.control < 0.7
    assert mine.warning is None
    assert mine.excess == 1.0


def test_taxonomies_pairs_and_dates_are_understood():
    tree = shoal.Taxonomy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")], "x")
    days = pl.Series(["2020-01-01", "2020-02-01", "2020-03-01"]).str.to_date()
    original = pl.DataFrame({"x": ["a", "b", "c"], "age": [1.5, 2.5, 9.0], "day": days})
    released = pl.DataFrame(
        {
            "x": ["ab", "ab", "c"],
            "age_lo": [1.5, 1.5, 9.0],
            "age_hi": [2.5, 2.5, 9.0],
            "day": ["[2020-01-01-2020-02-01]", "[2020-01-01-2020-02-01]", "2020-03-01"],
        }
    )
    for known in (["x"], ["age"], ["day"], ["x", "age", "day"]):
        found = shoal.attack(released, original=original, known=known, hierarchies={"x": tree})
        assert result(found, "linkage").success == pytest.approx(2 / 3)


def test_everything_can_be_written_down():
    frame = random_table(np.random.default_rng(3))
    found = shoal.attack(
        frame, original=frame, known=["a,ge"], sensitive="ill", seed=7, noise=0.2, gaps=0.1
    )
    again = shoal.attack(
        frame, original=frame, known=["a,ge"], sensitive="ill", seed=7, noise=0.2, gaps=0.1
    )
    assert found.to_json() == again.to_json()
    told = json.loads(found.to_json())
    assert told["known"] == ["a,ge"]
    assert [each["name"] for each in told["results"]] == found.frame()["name"].to_list()
    assert found.frame().height == 4
    for each in found.results:
        assert 0 <= each.low <= each.success <= each.high <= 1
        assert percent(each.success) in each.verdict


def test_rows_that_were_left_out_are_counted():
    original = pl.DataFrame({"age": [30, 31, 99]})
    released = pl.DataFrame({"age": ["[30-31]", "[30-31]"]})
    found = shoal.attack(released, original=original, known="age")
    assert found.unmatched == 1
    assert result(found, "linkage").success == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    padded = pl.concat([released, released])
    with pytest.warns(ShoalWarning, match="1 of 3 targets fit no released row, although"):
        shoal.attack(padded, original=original, known="age")


def test_intervals_are_wilson_s():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(1.0, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0.0, 0) == (0.0, 1.0)


def test_small_shares_stay_visible():
    shown = [percent(x) for x in (0, 1e-6, 2e-5, 0.0051, 0.05, 0.5, 0.9999, 1.0)]
    assert shown == [
        "0 %",
        "less than 0.001 %",
        "0.002 %",
        "0.51 %",
        "5.0 %",
        "50.0 %",
        "more than 99.9 %",
        "100 %",
    ]


@pytest.mark.slow
def test_the_patients_of_the_demo():
    sizes = {}
    for k in (3, 12):
        outcome = shoal.anonymize(
            demo.TABLE,
            quasi=demo.QUASI,
            sensitive=demo.SENSITIVE,
            hierarchies=demo.HIERARCHIES,
            method="mondrian",
            k=k,
        )
        found = shoal.attack(
            outcome.frame,
            original=demo.TABLE,
            known=demo.QUASI,
            sensitive=demo.SENSITIVE,
            hierarchies=demo.HIERARCHIES,
            seed=1,
        )
        assert found.unmatched == 0
        linkage = result(found, "linkage")
        assert 0 < linkage.success <= linkage.details["highest"] <= 1 / k
        assert linkage.baseline < linkage.low
        assert result(found, "inference").low > result(found, "inference").control
        sizes[k] = linkage.success
    assert sizes[12] < sizes[3]
