"""All rows of a person alike, and pseudonyms in place of the persons."""

import warnings
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.base.errors import Infeasible, ParameterError, PlanError, SchemaError
from shoal.base.pseudonyms import pseudonyms, read_key
from shoal.catalog import METHODS
from shoal.measures.exposure import exposure
from shoal.releases.linked import linked_faults
from shoal.releases.published import read

KEY = b"a key that is long enough"
# Forty people with one to four rows each; what they are does not change between rows.
PEOPLE = pl.DataFrame(
    [
        (f"n{person}", 20 + person % 13, "abc"[person % 3], "xyz"[(person + row) % 3])
        for person in range(40)
        for row in range(person % 4 + 1)
    ],
    schema=["who", "age", "town", "ill"],
    orient="row",
)
ASKED = {"quasi": ["age", "town"], "sensitive": ["ill"], "person": "who", "k": 4, "seed": 2**70}


def release(frame=PEOPLE, **given):
    with warnings.catch_warnings(action="ignore"):
        return shoal.anonymize(frame, **{**ASKED, **given})


def classes_of(out):
    """Return the classes that each pseudonym has rows in."""
    cells = out.frame.select(pl.concat_str("age", "town", separator="|"), "who")
    return cells.group_by("who").agg(pl.col("age").unique())["age"]


GENERALIZING = [
    name
    for name, entry in METHODS.items()
    if entry.release == "generalized" and not entry.rows_only and entry.rules is None
]


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERALIZING)
def test_linked_rows_of_a_person_lie_in_one_class_of_k_people(name):
    entry = METHODS[name]
    rules = {"l": 2} if entry.needs and "l-diversity" in entry.needs else {}
    rules |= {"alpha": 0.9} if entry.needs and "alpha-k-anonymity" in entry.needs else {}
    try:
        out = release(method=name, pseudonym=True, **rules)
    except Infeasible as fault:
        assert "With all rows of a person together" in str(fault)
        return
    assert classes_of(out).list.len().max() == 1
    people = out.frame.group_by("age", "town").agg(pl.col("who").n_unique())
    assert people["who"].min() >= 4
    assert out.frame["who"].n_unique() == 40


@pytest.mark.slow
@pytest.mark.parametrize("rule", [{"l": 3}, {"alpha": 0.8}, {"beta": 1.0}, {"t": 0.4}])
def test_rules_on_values_count_all_rows_of_a_person(rule):
    out = release(pseudonym=True, **rule)
    assert classes_of(out).list.len().max() == 1
    again = shoal.audit(out.frame, plan=out.plan)
    assert again.holds and again.people == 40
    assert again.achieved == out.achieved


def test_together_without_a_pseudonym_publishes_nobody():
    out = release(person_rows="together")
    assert out.frame.columns == ["age", "town", "ill"]
    assert out.plan.release.person_rows == "together"


def test_first_rows_alone_do_not_decide_whether_it_can_be_done():
    frame = PEOPLE.with_columns(
        ill=pl.when(pl.int_range(pl.len()).over("who") == 0).then(pl.lit("x")).otherwise("ill")
    )
    assert release(frame, person_rows="together", l=2).verdict.holds


def test_what_differs_between_rows_of_a_person_is_refused_by_name():
    frame = PEOPLE.with_columns(age=pl.int_range(pl.len()))
    for given in ({"person_rows": "together"}, {"pseudonym": True}):
        with pytest.raises(SchemaError, match="'age' differs between rows of one person, for 30"):
            release(frame, **given)
    gap = PEOPLE.with_columns(
        town=pl.when(pl.int_range(pl.len()) > 1).then("town"),
        age=pl.when(pl.int_range(pl.len()) != 2).then("age"),
    )
    with pytest.raises(SchemaError, match="'age', 'town' differ between rows"):
        release(gap, person_rows="together")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"person": None, "person_rows": "together"}, "no column says whose row it is"),
        ({"person": None, "pseudonym": True}, "a pseudonym was asked for, and no column says"),
        ({"pseudonym": True, "person_rows": "apart"}, "may be hers alone"),
        ({"k": None, "l": 2, "method": "dummies", "pseudonym": True}, "nobody has a class to hide"),
        ({"pseudonym_key": KEY}, "A key for pseudonyms was given, and no pseudonym"),
        ({"pseudonym": True, "pseudonym_key": b"short"}, "has 5 bytes, and needs 16 at least"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(given, told):
    with pytest.raises(ParameterError, match=told):
        release(**given)


def test_a_plan_says_which_ways_there_are():
    with pytest.raises(PlanError, match=r"must be 'apart' or 'together'. Got 'never' instead"):
        shoal.Plan.from_toml('[release]\nperson_rows = "never"')
    plan = shoal.Plan.from_toml("[release]\npseudonym = true")
    assert shoal.Plan.from_toml(plan.to_toml()).release.together


@pytest.mark.slow
def test_a_key_repeats_pseudonyms_and_without_one_they_are_new():
    one, two = (release(pseudonym=True, pseudonym_key=KEY).frame for _ in range(2))
    assert set(one["who"]) == set(two["who"])
    assert set(release(pseudonym=True).frame["who"]).isdisjoint(one["who"])
    assert one["who"].str.contains("^[0-9a-f]{32}$").all()
    # By hand, so that nobody's pseudonyms change unnoticed.
    assert pseudonyms(["n1"], KEY) == [BY_HAND]


BY_HAND = "e913725d9c42b1b817e8622ee74cd579"


def test_sixteen_bytes_are_a_key_and_fifteen_are_none():
    assert read_key(b"k" * 16) == b"k" * 16
    with pytest.raises(ParameterError, match="has 15 bytes, and needs 16 at least"):
        read_key(b"k" * 15)


@pytest.mark.slow
def test_a_key_is_a_file_of_ones_own(tmp_path):
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n")
    file.chmod(0o644)
    with pytest.raises(ParameterError, match=r"The pseudonym key file .* others may open it"):
        release(pseudonym=True, pseudonym_key=file)
    file.chmod(0o600)
    out = release(pseudonym=True, pseudonym_key=file)
    assert set(out.frame["who"]) == set(release(pseudonym=True, pseudonym_key=KEY).frame["who"])
    told = out.to_json() + out.plan.to_toml()
    assert KEY.decode() not in told and str(file) not in told


def faults_of(out, persons=None, **changed):
    frame = out.opened.frame.with_columns(**changed)
    opened = replace(out.opened, tables={"release": frame})
    return linked_faults(opened, opened.persons if persons is None else persons, None)


@pytest.mark.slow
def test_the_check_finds_rows_that_are_not_alike_and_names():
    out = release(pseudonym=True)
    assert faults_of(out) == []
    first = pl.int_range(pl.len()) == 0
    moved = faults_of(out, age=pl.when(first).then(pl.lit("99")).otherwise("age"))
    assert "Rows of one person lie in several classes" in moved[0]
    named = faults_of(out, who=pl.when(first).then(pl.lit("n1")).otherwise("who"))
    assert "holds other texts than pseudonyms" in " ".join(named)
    lost = faults_of(out, persons=out.frame["who"].replace({out.frame["who"][0]: "z"}).reverse())
    assert "a pseudonym stands for several people" in " ".join(lost)
    true = shoal.audit(PEOPLE.with_columns(pl.col("age").cast(str)), plan=out.plan, original=PEOPLE)
    assert "Column 'who' holds persons of the original, not pseudonyms." in true.faults


def test_linked_rows_are_unique_by_all_of_them_together():
    frame = pl.DataFrame({"q": ["a"] * 5, "x": [1, 2, 1, 2, 1], "who": list("ppqqr")})
    linked = exposure(read(frame, ["q"]), (), ["who"])
    # p and q have the same rows, r has one row of his own.
    assert (linked.unique, linked.columns) == (1, ("x",))
    assert "counting all rows of a person together" in linked.describe()
    assert exposure(read(frame.drop("who"), ["q"])).unique == 0
