"""The assertion for other people's tests: what passes, what fails, and what is then said."""

import polars as pl
import pytest

from shoal import testing
from shoal.base.errors import InputError, ParameterError, SchemaError

QUASI = ["age", "zip"]
TABLE = pl.DataFrame(
    {
        "age": ["20-30"] * 3 + ["30-40"] * 2,
        "zip": ["12*"] * 5,
        "illness": ["flu", "cold", None, "flu", "*"],
    }
)


def test_a_release_that_keeps_its_promise_passes_and_is_told_of():
    verdict = testing.assert_release(TABLE, quasi=QUASI, k=2)
    assert verdict.achieved == {"k": 2}
    assert testing.assert_release(TABLE[:3], quasi=QUASI, sensitive="illness", k=3, l=2).holds


def test_a_broken_promise_is_told_class_by_class(tmp_path):
    path = tmp_path / "release.csv"
    TABLE.write_csv(path)
    with pytest.raises(AssertionError) as failed:
        testing.assert_release(path, quasi=QUASI, sensitive="illness", k=3, l=2)
    assert str(failed.value).splitlines() == [
        f"{path}: The promise is broken.",
        "  - 1 of 2 classes break the promise that every class has at least 3 rows (k-anonymity).",
        "  - 1 of 2 classes break the promise that every class has at least 2 different values of "
        "'illness' (distinct l-diversity).",
        "  5 rows in 2 classes; the weakest class reaches k = 2, l = 1",
        "  2 rows with age = '30-40', zip = '12*': k-anonymity, l-diversity",
    ]


def test_few_of_many_broken_classes_are_shown():
    alone = pl.DataFrame({"age": [str(age) for age in range(20, 40)]})
    with pytest.raises(AssertionError, match="20 of 20 classes") as failed:
        testing.assert_release(alone, quasi="age", k=2)
    assert str(failed.value).count("1 row with age = ") == 3


def test_rows_of_one_person_are_no_crowd():
    visits = pl.DataFrame({"who": ["a", "a", "a"], "age": ["20-30"] * 3})
    assert testing.assert_release(visits, quasi="age", k=3)
    with pytest.raises(AssertionError, match="people"):
        testing.assert_release(visits, quasi="age", person="who", k=3)


def test_a_plan_can_be_the_promise(tmp_path):
    plan = tmp_path / "plan.toml"
    text = '[columns.age]\nrole = "quasi"\n[[rules]]\nname = "k-anonymity"\nk = 3\n'
    plan.write_text(text)
    ages = TABLE.select("age")
    assert testing.assert_release(ages[:3], plan=plan)
    with pytest.raises(AssertionError, match="at least 3 rows"):
        testing.assert_release(ages, plan=plan)


@pytest.mark.parametrize(
    ("table", "given", "error", "text"),
    [
        (TABLE, {"quasi": QUASI}, ParameterError, "no promise to check.*k=5"),
        (TABLE, {"quasi": QUASI, "k": None}, ParameterError, "no promise to check"),
        (TABLE, {"k": 2}, SchemaError, "needs the quasi-identifiers"),
        (TABLE, {"quasi": "height", "k": 2}, SchemaError, "no quasi-identifier 'height'"),
        (TABLE[:0], {"quasi": "age", "k": 2}, InputError, "no rows"),
        ("nothing.csv", {"quasi": "age", "k": 2}, InputError, "does not exist"),
        (TABLE, {"quasi": "age", "kk": 2, "k": 2}, TypeError, "kk"),
    ],
)
def test_a_question_that_cannot_be_answered_is_no_failed_test(table, given, error, text):
    with pytest.raises(error, match=text):
        testing.assert_release(table, **given)
