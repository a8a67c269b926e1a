"""Risk of re-identification and of beliefs, against plain loops and tables worked by hand."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from experiments.views import read_view
from shoal.base.errors import InputError, ParameterError, SchemaError, ShoalWarning
from shoal.measures.risks.matching import distinct
from shoal.measures.risks.reidentification import assess, attribute_risk
from tests.naive import risks as naive

FIVE = pl.DataFrame({"age": [30, 30, 30, None, None], "sex": ["f", "f", "m", "m", "m"]})


def test_a_table_worked_by_hand():
    found = assess(FIVE, ["age", "sex"], threshold=0.5)
    assert found.per_row.tolist() == [1 / 2, 1 / 2, 1, 1 / 2, 1 / 2]
    assert (found.rows, found.classes, found.k) == (5, 3, 1)
    assert found.prosecutor_highest == found.journalist_highest == 1
    assert found.prosecutor_mean == found.journalist_mean == found.marketer == 3 / 5
    assert found.unique == 1 / 5
    assert found.above == 1 / 5  # a half is not above a half
    assert found.k_map is None
    assert "per_row" not in found.to_dict()
    assert json.dumps(found.to_dict())
    assert "per_row" not in repr(found)


def test_texts_that_mean_missing_are_one_gap():
    frame = pl.DataFrame({"a": ["?", None, "x"]})
    assert assess(frame, ["a"]).unique == 1
    assert assess(frame, ["a"], missing=["?"]).unique == 1 / 3


cells = st.sampled_from([None, "a", "b", "*", "{a, b}", "[x"])
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=12)


@pytest.mark.slow
@given(tables, st.randoms(use_true_random=False))
def test_risk_is_that_of_the_loop_whatever_the_order(rows, random):
    frame = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String}, orient="row")
    found = assess(frame, ["p", "q"])
    assert found.per_row.tolist() == naive.risks(rows)
    assert found.prosecutor_mean == pytest.approx(np.mean(naive.risks(rows)))
    assert found.prosecutor_highest == 1 / found.k
    order = list(range(len(rows)))
    random.shuffle(order)
    again = assess(frame[order], ["p", "q"])
    assert again.per_row.tolist() == [naive.risks(rows)[i] for i in order]
    assert again.to_dict() == found.to_dict()


notated = st.sampled_from([None, "a", "b", "*", "{a, b}", "{b, c}", '"*"'])
values = st.sampled_from([None, "a", "b", "c", "*"])
ranges = st.sampled_from([None, "1", "[1-3]", "[2-9]", "*", "4"])
numbers = st.sampled_from([None, 1, 2, 4, 7])


@pytest.mark.slow
@given(
    st.lists(st.tuples(notated, ranges), min_size=1, max_size=8),
    st.lists(st.tuples(values, numbers), min_size=1, max_size=12),
)
def test_the_population_is_counted_as_the_loop_counts_it(rows, population):
    frame = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String}, orient="row")
    people = pl.DataFrame(population, schema={"p": pl.String, "q": pl.Int64}, orient="row")
    schema = shoal.Schema(
        (
            shoal.Column("p", shoal.Role.QUASI, shoal.Kind.SET),
            shoal.Column("q", shoal.Role.QUASI, shoal.Kind.ORDERED),
        )
    )
    found = assess(frame, ["p", "q"], population=people, schema=schema)

    def fit(j, cell, value):
        return naive.fits(cell, value)

    counts = naive.people(rows, population, fit)
    assert found.k_map == min(counts)
    assert found.per_row_journalist.tolist() == [1 / max(count, 1) for count in counts]
    assert found.marketer == pytest.approx(np.mean(found.per_row_journalist))


@pytest.mark.slow
@given(st.lists(st.tuples(values, numbers), min_size=1, max_size=12))
def test_a_table_is_its_own_population(population):
    frame = pl.DataFrame(population, schema={"p": pl.String, "q": pl.Int64}, orient="row")
    found = assess(frame, ["p", "q"], population=frame, raw=True)
    assert np.allclose(found.per_row, found.per_row_journalist)
    assert found.short == 0


def test_a_hierarchy_says_whom_a_label_covers():
    tree = shoal.Taxonomy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")], "x")
    people = pl.DataFrame({"x": ["a", "a", "b", "c", None]})
    released = pl.DataFrame({"x": ["ab", "c", "*", "a"]})
    found = assess(released, ["x"], population=people, taxonomies={"x": tree})
    assert found.per_row_journalist.tolist() == [1 / 3, 1, 1 / 5, 1 / 2]
    assert found.k_map == 1


def test_typed_pairs_cover_people_too():
    people = pl.DataFrame({"age": [20, 25, 31, None]})
    released = pl.DataFrame({"age_lo": [20, None], "age_hi": [30, None]})
    found = assess(released, ["age"], population=people)
    assert found.per_row_journalist.tolist() == [1 / 2, 1 / 4]


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=20))
def test_different_rows_are_told_apart(rows):
    codes = np.array(rows, np.int64)
    different, which = distinct(codes)
    assert (different[which] == codes).all()
    assert len(different) == len(set(rows))


def test_many_wide_columns_do_not_overflow():
    codes = np.array([[0] * 6, [(1 << 40) - 1] * 6, [0] * 6], np.int64)
    different, which = distinct(codes)
    assert different.shape == (2, 6)
    assert which[0] == which[2] != which[1]


# Beliefs


def test_beliefs_of_every_shape():
    general = pl.DataFrame(
        {"q": ["[1-2]"] * 3 + ["[3-4]"] * 3, "s": ["u", "u", "v", "u", "", None]}
    )
    general = general.with_columns(pl.col("s").replace({"": None}))
    found = attribute_risk(read_view(general, "s"), "s")
    assert found.per_row.tolist() == [2 / 3] * 3 + [1.0] * 3  # gaps hide nobody
    assert (found.worst, found.certain, found.prior) == (1.0, 1 / 2, 3 / 4)
    assert found.above == 1.0
    sets = pl.DataFrame({"q": ["1", "2"], "s": [["u", "v"], ["u", "v"]]})
    found = attribute_risk(read_view(sets, "s"), "s")
    assert found.per_row.tolist() == [1 / 2, 1 / 2]
    assert found.certain == 0
    first = pl.DataFrame({"q": ["1", "2", "3"], "group_id": [1, 1, 1]})
    second = pl.DataFrame({"group_id": [1, 1], "s": ["u", "v"], "count": [2, 1]})
    found = attribute_risk(read_view(first, "s", table=second, quasi=["q"]), "s")
    assert np.allclose(found.per_row, 2 / 3)
    assert json.dumps(found.to_dict())


def test_a_class_without_known_values_is_silent_and_not_safe():
    frame = pl.DataFrame({"q": ["*", "*", "1"], "s": [None, None, "u"]})
    found = attribute_risk(read_view(frame, "s"), "s")
    assert found.silent == 2
    assert np.isnan(found.per_row[:2]).all()
    assert found.mean == 1.0


# From files and frames


@pytest.mark.slow
def test_before_and_after_of_every_shape(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "a,ge": rng.integers(20, 60, 120),
            "{*}": rng.choice(["*", "{x, y}", '"q"', None], 120).tolist(),
            "ill": rng.choice(["flu", "cold", "gout", "?"], 120),
        }
    )
    names = ["a,ge", "{*}"]
    for method, rules in (
        ("kaim", [shoal.KAnonymity(5), shoal.LDiversity(2, "ill")]),
        ("dummies", [shoal.LDiversity(2, "ill")]),
        ("anatomy", [shoal.FrequencyLDiversity(2, "ill")]),
    ):
        outcome = shoal.anonymize(
            frame, quasi=names, sensitive="ill", method=method, rules=rules, missing=["?"]
        )
        found = shoal.risk(
            outcome.frame,
            st=outcome.tables.get("st"),
            quasi=names,
            sensitive="ill",
            original=frame,
            population=frame,
            missing=["?"],
        )
        assert found.population == 120
        assert found.attributes["ill"].worst < 1
        assert found.attributes_before["ill"].worst == 1
        if method == "kaim":
            assert found.after.prosecutor_highest <= 1 / 5
            assert found.after.k_map >= found.after.k
            assert found.after.short == 0
        else:  # the quasi-identifiers are as they were
            assert found.after.prosecutor_mean == found.before.prosecutor_mean
            assert found.after.k_map == found.before.k_map
        assert json.loads(found.to_json())["after"]["rows"] == 120


def test_a_population_without_everybody_is_said_and_counts_as_risk():
    frame = pl.DataFrame({"zip": ["1", "1", "2"]})
    with pytest.warns(ShoalWarning, match=r"3 rows fit fewer people .* does not hold everybody"):
        found = shoal.risk(frame, quasi="zip", population=pl.DataFrame({"zip": ["1"]}))
    assert found.after.k_map == 0
    assert found.after.journalist_highest == 1


def test_what_is_refused():
    with pytest.raises(InputError, match="The table has no rows, so there is no risk"):
        assess(FIVE.head(0), ["age"])
    with pytest.raises(InputError, match="The population has no rows: nobody could be found"):
        assess(FIVE, ["age"], population=FIVE.head(0))
    with pytest.raises(SchemaError, match=r"The population has no column 'sex'\. It has: 'age'"):
        assess(FIVE, ["age", "sex"], population=FIVE.drop("sex"))
    with pytest.raises(SchemaError, match=r"no quasi-identifier 'agee'.* Did you mean 'age'"):
        assess(FIVE, ["agee"])
    with pytest.raises(ParameterError, match=r"'threshold' parameter of risk must be .*\[0, 1\]"):
        assess(FIVE, ["age"], threshold=5)
    with pytest.raises(SchemaError, match="Measuring risk needs the quasi-identifiers, and none"):
        shoal.risk(FIVE)
    with pytest.raises(SchemaError, match=r"The original has no column 'sex'\. It has: 'age'"):
        shoal.risk(FIVE, quasi=["age", "sex"], original=FIVE.drop("sex"))
    with pytest.raises(SchemaError, match=r"The release has no column 'ill' \(declared as sens"):
        shoal.risk(FIVE, quasi=["age"], sensitive=["ill"])
