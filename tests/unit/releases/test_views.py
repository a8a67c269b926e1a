"""Releases read back: generalized cells spread evenly, questions read, wrong files refused."""

import numpy as np
import polars as pl
import pytest

import shoal
from experiments.views import read_view
from shoal.base.errors import InputError, ParameterError, SchemaError
from shoal.privacy import KAnonymity
from shoal.releases.base import By, Query, View
from shoal.releases.categories import combine, read_by, sort


def released():
    return pl.DataFrame(
        {
            "age": ["[20-29]", "[20-29]", "30", "*"],
            "town": ["{A, B}", "{A, B}", "A", "C"],
            "ill": ["flu", "cold", "flu", None],
        }
    )


def test_cells_are_spread_evenly():
    view = read_view(released(), "ill")
    assert view.estimators == ("uniform",)
    assert view.values("ill") == ("cold", "flu")
    young = [str(age) for age in range(20, 25)]
    assert view.expect(Query("ill", {"age": young})).tolist() == [0.5, 0.5]
    assert view.expect(Query("ill", {"town": ["A"]})).tolist() == [0.5, 1.5]
    assert view.expect(Query("ill", {"age": ["30"], "town": ["A"]})).tolist() == [0, 1]
    assert view.expect(Query("ill")).tolist() == [1, 2]


def test_counts_by_category_add_up():
    view = read_view(released(), "ill")
    counts = view.counts("ill", [By("age", width=10), By("town")])
    assert counts.labels[0] == ("20-29", "A")
    assert counts.count.sum() == pytest.approx(3)
    # The star may be any of the eleven ages.
    assert counts.rows.sum() == pytest.approx(4)
    assert counts.rows[2] == pytest.approx(10 / 11)
    assert (counts.low <= counts.count).all()
    assert (counts.count <= counts.high).all()
    assert view.counts("ill", [By("town", value="A")]).count.tolist() == [[0.5, 1.5]]


def test_leaves_of_a_hierarchy_weigh_alike():
    tree = shoal.Taxonomy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")], "x")
    frame = pl.DataFrame({"x": ["ab", "*", "c", "a"], "s": ["u", "u", "v", "v"]})
    view = read_view(frame, "s", taxonomies={"x": tree})
    assert np.allclose(view.expect(Query("s", {"x": ["a"]})), [1 / 2 + 1 / 3, 1])
    assert np.allclose(view.counts("s", [By("x")]).count[:, 0], [5 / 6, 5 / 6, 1 / 3])
    with pytest.raises(InputError, match=r"'x' holds 'zz', which its hierarchy does not list"):
        read_view(frame.with_columns(x=pl.lit("zz")), "s", taxonomies={"x": tree}).expect(
            Query("s", {"x": ["a"]})
        )


def test_typed_pairs_dates_and_texts_that_look_like_numbers():
    pair = pl.DataFrame({"x_lo": [1, 5, None], "x_hi": [4, 5, None], "s": ["u", "v", "u"]})
    assert np.allclose(read_view(pair, "s").expect(Query("s", {"x": ["1"]})), [1 / 4 + 1 / 5, 0])
    days = pl.DataFrame({"d": ["[2020-01-01-2020-01-04]", "2020-01-02"], "s": ["u", "v"]})
    view = read_view(days, "s")
    assert view.expect(Query("s", {"d": ["2020-01-02"]})).tolist() == [0.25, 1]
    codes = pl.DataFrame({"z": ["007", "*"], "s": ["u", "v"]})
    assert read_view(codes, "s").expect(Query("s", {"z": ["007"]})).tolist() == [1, 1]


def test_a_known_domain_gives_stars_a_meaning():
    frame = pl.DataFrame({"x": ["*"] * 4, "s": ["u"] * 4})
    view = read_view(frame, "s", domains={"x": pl.Series(["a", "b", "c", "d"])})
    assert view.expect(Query("s", {"x": ["a", "b"]})).tolist() == [2]
    ages = pl.DataFrame({"x": ["[1-9]"] * 4, "s": ["u"] * 4})
    view = read_view(ages, "s", domains={"x": pl.Series([1, 2, 8, 20])})
    assert view.expect(Query("s", {"x": ["8"]}))[0] == pytest.approx(4 / 3)


def test_what_is_believed_of_a_class():
    view = read_view(released(), "ill")
    assert view.posterior("ill").beliefs(np.array([0, 2, 3])).tolist() == [
        [0.5, 0.5],
        [0, 1],
        [0, 0],
    ]
    assert view.posterior("ill").risk() == {
        "worst_posterior": 1.0,
        "mean_posterior": pytest.approx(2 / 3),
    }


def test_a_run_is_asked_like_any_other_release():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"age": rng.integers(20, 60, 200), "sex": rng.choice(["f", "m"], 200)}
    ).with_columns(ill=pl.Series(rng.choice(["flu", "cold", "gout"], 200)))
    outcome = shoal.anonymize(
        frame, quasi=["age", "sex"], sensitive="ill", rules=[KAnonymity(5)], method="mondrian"
    )
    view: View = shoal.open_release(outcome.frame).ask("ill")
    true = frame.filter(pl.col("sex") == "f").height
    assert view.expect(Query("ill", {"sex": ["f"]})).sum() == pytest.approx(true, abs=10)


@pytest.mark.slow
def test_intervals_of_generalized_counts_hold_for_uniform_cells():
    rng = np.random.default_rng(9)
    held = []
    for _ in range(100):
        ages = rng.integers(0, 20, 400)
        frame = pl.DataFrame(
            {
                "x": np.where(ages < 10, "[0-9]", "[10-19]"),
                "s": rng.choice(["u", "v"], 400),
            }
        )
        counts = read_view(frame, "s").counts("s", [By("x", width=4)], level=0.9)
        true = (
            pl.DataFrame({"b": ages // 4, "s": frame["s"]})
            .group_by("b", "s")
            .len()
            .sort("b", "s")["len"]
            .to_numpy()
        )
        held.append((counts.low.ravel() <= true) & (true <= counts.high.ravel()))
    assert 0.86 < np.mean(held) < 0.94


def test_how_questions_are_read():
    columns = ["age", "a:b", "sex"]
    assert read_by("age:10", columns) == By("age", width=10.0)
    assert read_by("a:b", columns) == By("a:b")
    assert read_by("sex=f", columns) == By("sex", value="f")
    with pytest.raises(SchemaError, match=r"no column 'agee' to split by. Did you mean 'age'"):
        read_by("agee:10", columns)
    for wrong in ("0", "-3", "x", "inf"):
        with pytest.raises(ParameterError, match=f"above 0. Got '{wrong}' instead"):
            read_by(f"age:{wrong}", columns)


def test_categories_that_cannot_be():
    towns = pl.Series(["A", "B"])
    with pytest.raises(ParameterError, match=r"cannot be cut into intervals of 5.*'A', 'B'"):
        sort("town", towns, By("town", width=5), gaps=False)
    with pytest.raises(
        ParameterError, match=r"has the value 'C' in column 'town'; it has 'A', 'B'"
    ):
        sort("town", towns, By("town", value="C"), gaps=False)
    wide = sort("n", pl.Series(range(400)), By("n"), gaps=False)
    with pytest.raises(ParameterError, match=r"160,000 combinations.*wider intervals"):
        combine([wide, wide])


def test_missing_quasi_identifiers_are_a_category_of_their_own():
    frame = pl.DataFrame({"t": ["A", None, "A"], "s": pl.Series([["u", "v"]] * 3)})
    counts = read_view(frame, "s").counts("s", [By("t")])
    assert counts.labels == (("A",), ("(missing)",))
    assert counts.rows.tolist() == [2, 1]
    assert read_view(frame, "s").expect(Query("s", {"t": ["A"]})).sum() == pytest.approx(2)


def test_files_that_are_no_release():
    plain = pl.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    with pytest.raises(InputError, match="does not look like a release"):
        read_view(plain, "ill")
    with pytest.raises(SchemaError, match=r"no column 'il' to estimate. Did you mean 'ill'"):
        read_view(plain, "il")
    with pytest.raises(SchemaError, match="give Anatomy's second table with --st"):
        read_view(plain.rename({"ill": "group_id"}), "ill")
    with pytest.raises(InputError, match="not a release of Anatomy"):
        read_view(plain, "ill", table=plain)
    uneven = pl.DataFrame({"q": [1, 2], "s": pl.Series([["a"], ["a", "b"]])})
    with pytest.raises(InputError, match="2 different lengths"):
        read_view(uneven, "s").values("s")
    both = pl.DataFrame({"group_id": [1], "q": [1]})
    table = pl.DataFrame({"group_id": [2], "ill": ["a"], "count": [1]})
    with pytest.raises(InputError, match="1 rows of the release have a group_id that the second"):
        read_view(both, "ill", table=table).values("ill")
    with pytest.raises(SchemaError, match="second table has no sensitive column 'il'"):
        read_view(both, "il", table=table)
    with pytest.raises(SchemaError, match="no quasi-identifier 'z'"):
        read_view(both, "ill", table=table, quasi=["z"])
