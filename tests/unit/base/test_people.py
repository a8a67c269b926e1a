"""People, not rows: what the doors say, and small tables counted by hand."""

import warnings

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import Cautioned, ParameterError, PlanError, SchemaError, ShoalWarning
from shoal.base.partition import Partition
from shoal.base.roles import Role
from shoal.privacy import AlphaK, BetaLikeness, FrequencyLDiversity, KAnonymity, LDiversity
from tests.checking import verify

# Two classes: a has three people in four rows, b has two people in four rows.
RELEASED = pl.DataFrame(
    {"q": ["a"] * 4 + ["b"] * 4, "ill": ["x", "x", "y", "z", "x", "y", "y", "x"]}
)
PERSONS = pl.Series(["p1", "p1", "p2", "p3", "p4", "p4", "p5", "p5"])
ROWS = pl.DataFrame(
    {
        "who": [1, 1, 2, 3, 4, 4, 5, 5, 6, 7],
        "age": [30, 30, 31, 32, 30, 33, 34, 35, 36, 37],
        "ill": list("xxyzxyyxzx"),
    }
)


def verdict(rule, persons=PERSONS):
    return verify(RELEASED, ["q"], [rule], persons=persons, sensitive=["ill"])


def test_a_class_is_as_large_as_it_has_people():
    rows, people = verdict(KAnonymity(3), None), verdict(KAnonymity(3))
    assert rows.holds and rows.achieved == {"k": 4} and rows.people is None
    assert not people.holds and people.achieved == {"k": 2} and people.people == 5
    assert people.rules[0].promise == "every class has at least 3 different people (k-anonymity)"
    assert people.worst[0].size == 2


def test_a_person_has_a_value_once():
    hist = verdict(KAnonymity(2)).stats.histograms["ill"]
    # a: x of p1 once, y of p2, z of p3; b: both people have both values.
    assert hist.counts.tolist() == [1, 1, 1, 2, 2]
    assert hist.people.tolist() == [3, 2]
    assert hist.whole.tolist() == [3, 3, 1]
    assert hist.whole_people == 5


def test_shares_are_of_people():
    # In b everybody has x: half of the rows, all of the people.
    assert verdict(FrequencyLDiversity(2, "ill"), None).holds
    assert verdict(FrequencyLDiversity(2, "ill")).achieved == {"frequency_l": 1.0}
    assert verdict(AlphaK(0.5, 2, "ill"), None).holds
    assert verdict(AlphaK(0.5, 2, "ill")).achieved["alpha"] == 1.0
    # 3 of 5 people have x in the table, 2 of 2 in b.
    assert verdict(BetaLikeness(0.5, "ill")).achieved["beta"] == pytest.approx(1 / 0.6 - 1)


def test_the_values_of_one_person_hide_nobody():
    alone = pl.Series(["p1", "p2", "p3", "p4", "p5", "p5", "p5", "p5"])
    assert verdict(LDiversity(2, "ill"), None).holds
    assert verdict(LDiversity(2, "ill"), alone).achieved == {"l": 1}


def anonymize(**given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        return shoal.anonymize(ROWS, quasi=["age"], sensitive=["ill"], k=3, seed=2**70, **given)


def test_the_person_is_never_released_and_counted_in_the_figures():
    release = anonymize(person="who")
    assert release.frame.columns == ["age", "ill"]
    assert release.to_dict()["people"] == 7
    assert release.to_dict()["plan"]["columns"]["who"] == {"role": "person", "importance": 1.0}
    assert release.risk().after.counted == "people"
    assert release.risk().after.k == release.achieved["k"] >= 3


def test_rows_without_a_person_are_refused():
    gaps = ROWS.with_columns(pl.when(pl.col("who") > 5).then(None).otherwise("who").alias("who"))
    with pytest.raises(SchemaError, match="2 of 10 rows say nothing in 'who', the column of the"):
        shoal.anonymize(gaps, quasi=["age"], person="who", k=2)


def test_one_column_says_whose_row_it_is():
    with pytest.raises(SchemaError, match="The role 'person' has 2 columns"):
        shoal.open(ROWS, quasi=["age"], person=["who", "ill"]).schema  # noqa: B018


def test_a_column_has_one_role():
    with pytest.raises(PlanError, match="Column 'who' has 2 roles"):
        shoal.open(ROWS, quasi=["age"], identifier=["who"], person="who")


def test_spark_refuses_by_name():
    pytest.importorskip("pyspark")
    from shoal.catalog import find_method
    from shoal.tables.compatibility import refuse
    from shoal.tables.request import Request

    plan = shoal.open(ROWS, quasi=["age"], person="who").plan
    with pytest.raises(ParameterError, match="People cannot be counted on Spark: 'who' says whose"):
        refuse(Request(plan, find_method("shoal"), spark=True))


def test_an_audit_counts_people_by_a_pseudonym_and_says_when_it_cannot():
    named = RELEASED.with_columns(PERSONS.alias("who"))
    counted = shoal.audit(named, quasi=["q"], sensitive=["ill"], person="who", k=3)
    assert counted.people == 5 and not counted.holds
    assert counted.rules[0].achieved == {"k": 2}
    plan = shoal.Plan().changed(
        {"roles": {Role.QUASI: ["q"], Role.SENSITIVE: ["ill"], Role.PERSON: ["who"]}}
    )
    leaked = shoal.audit(named, plan=plan, k=2)
    assert (
        leaked.faults[0]
        == "The release has the column 'who', whose role is 'person': not published. Leave it out, "
        "or change its role."
    )
    blind = shoal.audit(RELEASED, plan=plan, k=3)
    assert not blind.holds and blind.people is None
    assert blind.faults[0].startswith("Rows are counted here, not people")
    assert blind.unknown and blind.headline == "Cannot tell whether the promise is kept."
    assert shoal.audit(RELEASED, plan=plan, k=5).headline == "The promise is broken."


def beside(released, quasi="q", **asked):
    """Audit a release by its original, which says whose rows they are."""
    original = RELEASED.with_columns(PERSONS.alias("who"))
    if quasi == "n":
        original = original.with_columns(n=pl.Series([1, 1, 2, 3, 3, 4, 5, 5]))
    asked = {"sensitive": ["ill"], "person": "who", **asked}
    return shoal.audit(released, quasi=[quasi], original=original, **asked)


def test_an_audit_counts_people_by_the_original_where_each_row_fits_one_class():
    shuffled = RELEASED.sample(fraction=1.0, shuffle=True, seed=3)
    assert beside(shuffled, k=2).holds
    counted = beside(shuffled, k=3)
    assert counted.people == 5 and counted.achieved == {"k": 2} and not counted.holds
    assert beside(shuffled, l=2, l_kind="frequency").achieved == {"frequency_l": 1.0}


def test_an_audit_claims_no_more_people_than_every_way_of_matching_gives():
    # [1-3] may hold p1, p1, p2, p3, p4 (3): at least two people, by rows four; [3-5] p4, p5, p5.
    wide = RELEASED.select("ill", n=pl.Series(["[1-3]"] * 4 + ["[3-5]"] * 4))
    sure = beside(wide, "n", k=2)
    assert sure.holds and sure.people == 5
    assert sure.rules[0].promise == "every class has at least 2 different people (k-anonymity)"
    unsure = beside(wide, "n", k=4)
    assert not unsure.holds and unsure.unknown
    assert "rows of the original fit several classes" in unsure.faults[0]
    # What a class tells of values is not counted by guessing whose they are.
    assert "uncounted" in beside(wide, "n", l=2).models


def test_an_attack_states_its_bound_by_people():
    original = RELEASED.with_columns(PERSONS.alias("who"))
    linkage = shoal.attack(RELEASED, original=original, known=["q"], person="who", seed=1)
    details = linkage.results[0].details
    assert details["bound_people"] == pytest.approx(2 / 5) and details["people_fewest"] == 2
    assert "Every class holds at least 2 different people" in linkage.results[0].verdict
    rows = shoal.attack(RELEASED, original=original, known=["q"], seed=1).results[0]
    assert rows.details["bound"] == 2 / 8 and "different people" not in rows.verdict


def test_risk_counts_people_before_and_after_by_a_pseudonym():
    named = RELEASED.with_columns(PERSONS.alias("who"))
    found = shoal.risk(named, quasi=["q"], person="who", original=named)
    assert found.after.counted == found.before.counted == "people"
    assert (found.after.k, found.after.prosecutor_highest) == (2, 0.5)
    assert found.after.prosecutor_mean == pytest.approx(2 / 5)
    with pytest.warns(ShoalWarning, match="Rows are counted here, not people"):
        shoal.risk(RELEASED, quasi=["q"], person="who")


def test_any_row_of_a_person_is_the_right_one():
    original = RELEASED.with_columns(PERSONS.alias("who"))
    found = shoal.attack(RELEASED, original=original, known=["q"], person="who", seed=1)
    assert found.targets == 5
    # p1 has 2 of 4 rows of a, p2 and p3 one each; p4 and p5 have 2 of 4 each.
    assert found.results[0].success == pytest.approx((2 / 4 + 1 / 4 + 1 / 4 + 2 / 4 + 2 / 4) / 5)
    assert found.results[0].baseline == pytest.approx(8 / 5 / 8)
    with pytest.raises(ParameterError, match="the original has only 5 people"):
        shoal.attack(RELEASED, original=original, known=["q"], person="who", targets=6)


def test_slack_is_refused_where_people_are_counted():
    with pytest.raises(ParameterError, match="may publish two classes alike"):
        anonymize(person="who", plan=shoal.Plan(release={"slack": 0.2}))


def test_unions_of_sets_count_nobody_twice():
    from shoal.groupers.repair import unions

    table = shoal.open(ROWS, quasi=["age"], sensitive=["ill"], person="who").settled
    from shoal.coding.encode import encode

    data = encode(table.frame, table.schema)
    part = Partition.from_labels(np.array([0, 1, 1, 2, 0, 2, 0, 2, 1, 2]))
    joined = Partition.from_labels(np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1]))
    union = data.judged(unions(data.tally(part), np.array([0]), np.array([1])))
    assert union.sizes.tolist() == data.stats(joined).sizes[:1].tolist() == [5]
    assert union.histograms["ill"].counts.tolist() == [2, 2, 1]


VISITS = pl.DataFrame(
    {"patient": [f"n{i // 2}" for i in range(30)], "name": ["Ann"] * 30, "age": range(30)}
)


def test_an_identifier_that_repeats_is_a_warning_and_strict_an_error():
    told = r"People have several rows: 30 rows of 15 different 'patient', and k counts rows"
    asked = {"quasi": ["age"], "identifier": ["patient", "name"]}
    with pytest.warns(ShoalWarning, match=told):
        release = shoal.anonymize(VISITS, **asked, k=3, seed=2**70)
    assert any("People have several rows" in text for text in release.warnings)
    with pytest.raises(Cautioned, match=told), pytest.warns(ShoalWarning):
        shoal.anonymize(VISITS, **asked, k=3, strict=True)
    assert "30 rows of 15 different 'patient'" in shoal.inspect(VISITS, **asked).not_people


def test_names_repeat_and_prove_nothing():
    table = shoal.open(VISITS.drop("patient"), quasi=["age"], identifier=["name"])
    assert table.warnings == ()
    assert shoal.open(VISITS, quasi=["age"], person="patient").warnings == ()


def visits(name, codes=None):
    """Thirty rows of fifteen people under a name that nobody may have declared."""
    return VISITS.select(pl.Series(name, codes or [5000 + i // 2 for i in range(30)]), "age")


def test_remarks_that_repeat_number_nobody():
    # Of a column of remarks what repeats has no number, and what has a number is there once.
    remark = ["none"] * 10 + [f"see file {i}" for i in range(20)]
    table = pl.DataFrame({"age": [30, 40] * 15, "remark": remark})
    release = shoal.anonymize(table, quasi="age", identifier="remark", k=5)
    assert not any("several rows" in text for text in release.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["patient_nbr", "PatientID", "Subject", "client no", "Kundennummer", "id", "paciente"]
)
def test_a_number_of_persons_that_nobody_named_is_told(name):
    told = f"People have several rows: 30 rows of 15 different '{name}', and k counts rows"
    with pytest.warns(ShoalWarning, match=told):
        shoal.anonymize(visits(name), quasi=["age"], k=3, seed=2**70)
    plan = shoal.Plan().changed({"roles": {Role.QUASI: ["age"], Role.UNDECIDED: [name]}})
    with warnings.catch_warnings(action="ignore"):
        assert any(told in text for text in shoal.open(visits(name), plan=plan).warnings)
    with pytest.raises(Cautioned, match=told), pytest.warns(ShoalWarning):
        shoal.anonymize(visits(name), quasi=["age"], k=3, strict=True)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("patients", None),  # how many
        ("patient_age", None),  # described, not named
        ("ward_id", None),  # of a ward
        ("patient_no", list(range(30))),  # each once
        ("subject", ["maths", "music", "sports"] * 10),  # no number
        ("person_no", [1] * 30),  # within a household
    ],
)
def test_what_numbers_no_persons_is_not_told(name, codes):
    assert shoal.open(visits(name, codes), quasi=["age"]).warnings == ()


SPLIT = {
    "quasi": ["age"],
    "identifier": ["name", "patient"],
    "person": "visit",
}


def by_visit(visits, **more):
    """The visits of fifteen patients, two each, with a column that was taken for the person's."""
    return VISITS.with_columns(visit=pl.Series([f"v{v}" for v in visits]), **more)


@pytest.mark.parametrize(
    "visits",
    [
        range(30),  # a number of its own in every row
        [0, *range(29)],  # in nearly every row
    ],
)
def test_a_person_of_its_own_in_every_row_beside_an_identifier_that_repeats_is_refused(visits):
    table, told = by_visit(visits), "persons 'visit' has a value of its own .* identifier 'patient'"
    with pytest.raises(SchemaError, match=told):
        shoal.anonymize(table, **SPLIT, k=3)
    with pytest.raises(SchemaError, match=told):
        shoal.compare(table, **SPLIT, k=[3])
    with pytest.raises(SchemaError, match=told):
        shoal.anonymize(table, **SPLIT, pseudonym=True, k=3)
    # A name of no role is a warning still, and only the patient's own number is not.
    with pytest.warns(ShoalWarning, match="1[45] of 15 values of .patient. occur with"):
        shoal.open(table, quasi=["age"], person="visit")
    assert shoal.open(table, quasi=["age"], identifier=["visit"], person="patient").warnings == ()


def test_a_rare_identifier_that_repeats_is_refused_too_and_its_gaps_are_no_value():
    phone = pl.Series(["5551", "5551", "5552", *[None] * 27])
    table = by_visit(range(30), phone=phone).drop("patient")
    with pytest.raises(SchemaError, match="3 rows have 2 different values"):
        shoal.open(table, quasi=["age"], identifier=["phone"], person="visit")
    alone = table.with_columns(phone=pl.Series(["5551", "5552", *[None] * 28]))
    assert "several" not in str(
        shoal.open(
            alone.with_columns(visit=pl.Series(VISITS["patient"])),
            quasi=["age"],
            identifier=["phone"],
            person="visit",
        ).warnings
    )


def test_a_person_that_repeats_beside_a_coarser_identifier_is_a_warning():
    family = pl.Series([f"f{i // 6}" for i in range(30)])
    table = VISITS.with_columns(family=family)
    asked = {"quasi": ["age"], "identifier": ["family"], "person": "patient"}
    told = "5 of 5 values of 'family' occur with several different values"
    with pytest.warns(ShoalWarning, match=told):
        release = shoal.anonymize(table, **asked, k=3, seed=2**70)
    assert any(told in text for text in release.warnings)
    assert told in shoal.inspect(table, **asked).not_people
    # A finer one is within the person's rows: more people are hidden than counted.
    finer = {"quasi": ["age"], "identifier": ["patient"], "person": "family"}
    assert shoal.open(table, **finer).warnings == ()


def test_a_person_in_every_row_is_told():
    rows = VISITS.drop("patient").with_columns(row=pl.int_range(30))
    with pytest.warns(ShoalWarning, match="Every row is a different person: no two of the 30 rows"):
        shoal.open(rows, quasi=["age"], person="row")


def _visits(alike: bool) -> pl.DataFrame:
    """Return 60 people of a name of their own with four rows each, or rows of 20 first names."""
    rng = np.random.default_rng(5)
    names = [f"{a}{b}{c}" for a in "ABC" for b in "aeiou" for c in ("na", "li", "ro", "ta")]
    who = np.repeat(np.arange(60), 4) if alike else rng.integers(0, 20, 240)
    return pl.DataFrame(
        {
            "name": [names[i] for i in who],
            "visit": [f"V{i:04}" for i in range(240)],
            "age": 20 + who % 30 if alike else rng.integers(20, 90, 240),
            "sex": who % 2 if alike else rng.integers(0, 2, 240),
        }
    )


def test_names_that_repeat_for_the_same_people_count_as_numbers_do():
    table = _visits(alike=True)
    asked = {"quasi": ["age", "sex"], "identifier": "name", "k": 4}
    with pytest.raises(SchemaError, match=r"'visit' has a value of its own .* identifier 'name'"):
        shoal.anonymize(table, person="visit", **asked)
    with pytest.warns(shoal.ShoalWarning, match="240 rows of 60 different 'name', and k counts"):
        shoal.anonymize(table, **asked)


@pytest.mark.filterwarnings("error:People have several rows")
@pytest.mark.filterwarnings("ignore:Every row is a different person")
def test_first_names_of_different_people_prove_nothing():
    asked = {"quasi": ["age", "sex"], "identifier": "name", "k": 4}
    assert shoal.anonymize(_visits(alike=False), person="visit", **asked).verdict.holds
    shoal.anonymize(_visits(alike=False), **asked)


def test_a_run_and_its_audit_count_the_same_classes_and_a_verdict_has_three_states() -> None:
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(20, 24, 300), "sex": rng.choice(["f", "m"], 300)})
    # k-member makes groups whose published cells are the same: a reader sees them as one.
    with pytest.warns(ShoalWarning, match="can be deduced"):
        release = shoal.anonymize(table, quasi=["age", "sex"], k=3, method="k-member", seed=1)
    assert release.made is not None
    cells = release.frame.select("age", "sex").unique().height
    assert release.made.groups == release.audit().classes == cells
    assert release.audit(k=3).state == "holds"
    assert release.audit(k=300).state == "broken"
    visits = pl.DataFrame(
        {"patient": [i // 2 for i in range(80)], "age": [i % 9 for i in range(80)]}
    )
    verdict = shoal.anonymize(visits, quasi="age", person="patient", k=3, seed=1).audit()
    assert verdict.state == "cannot tell"
    assert repr(verdict).startswith("Verdict(cannot tell (1 reason); 80 rows")
    assert verdict.headline == "Cannot tell whether the promise is kept."
