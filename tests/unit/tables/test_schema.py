"""Schemas: guessed with reasons, declared with every fault at once."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from shoal.base.errors import SchemaError
from shoal.base.roles import Kind, Role
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.names import PERSON, QUASI, matching_word, words
from shoal.tables.guessing.roles import Evidence, role_of
from shoal.tables.schema import Column, Schema, declare, guess_kind

N = 200


def patients() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "patient_id": [f"p{i}" for i in range(N)],
            "row": range(N),
            "age": [i % 60 for i in range(N)],
            "zip": [f"{i % 40:05d}" for i in range(N)],
            "birthDate": [dt.date(1950, 1, 1) + dt.timedelta(i) for i in range(N)],
            "sex": ["f", "m"] * (N // 2),
            "diagnosis": [f"d{i % 9}" for i in range(N)],
            "pulse": [60 + i % 30 for i in range(N)],
            "note": [f"free text {i}" for i in range(N)],
            "blank": pl.Series([None] * N, dtype=pl.String),
            "tags": [["a"]] * N,
        }
    )


def test_roles_are_guessed_with_reasons() -> None:
    schema = guess(patients())
    assert schema.identifier == ("patient_id", "row", "note")
    assert schema.quasi == ("age", "zip", "birthDate", "sex")
    assert schema.sensitive == ("diagnosis", "pulse")
    assert schema.undecided == ("blank", "tags")
    assert schema.keep == ()
    assert schema["age"].reason == (
        "the column name suggests 'age', which other people may know; numbers"
    )
    assert schema["pulse"].role is Role.SENSITIVE
    assert "'id'; 200 different values" in schema["patient_id"].reason
    assert schema["row"].reason == "almost every value is unique"
    assert schema["blank"].reason == "all values are missing"
    assert all(column.reason for column in schema.columns)
    assert {c.name: c.kind for c in schema.columns if c.kind} == {
        "age": Kind.ORDERED,
        "zip": Kind.SET,
        "birthDate": Kind.ORDERED,
        "sex": Kind.SET,
    }


def test_what_is_known_is_not_guessed() -> None:
    schema = guess(
        patients(),
        roles={"pulse": "quasi", "age": "keep"},
        kinds={"zip": "ordered"},
        taxonomies=["sex"],
    )
    assert schema["pulse"].role is Role.QUASI
    assert schema["age"].role is Role.KEEP
    assert schema["sex"].kind is Kind.TAXONOMY
    assert schema["zip"].kind is Kind.ORDERED
    with pytest.raises(SchemaError, match=r"no column 'puls'\. Did you mean 'pulse'\?"):
        guess(patients(), roles={"puls": "quasi"})


@pytest.mark.parametrize(
    ("name", "series", "role"),
    [
        ("admission_type_id", pl.Series([str(i % 8) for i in range(N)]), Role.QUASI),
        ("country_name", pl.Series([f"c{i % 150}" for i in range(3000)]), Role.QUASI),
        ("customer_no_key", pl.Series([f"c{i % 150}" for i in range(3000)]), Role.IDENTIFIER),
        ("weight_kg", pl.Series([1.5 + i for i in range(N)]), Role.QUASI),
        ("score", pl.Series([1.5 + i for i in range(N)]), Role.QUASI),
        ("score", pl.Series([1.5 + i % 9 for i in range(N)]), Role.UNDECIDED),
        ("income", pl.Series([1.5 + i for i in range(N)]), Role.QUASI),
        ("salaries", pl.Series([1, 2]), Role.UNDECIDED),
        ("salary", pl.Series([1, 2]), Role.SENSITIVE),
        ("x", pl.Series(["a", "b"]), Role.UNDECIDED),
        ("", pl.Series(["a", "a"]), Role.UNDECIDED),
    ],
)
def test_names_and_values_together_tell_the_role(name: str, series: pl.Series, role: Role) -> None:
    assert role_of(Evidence(series, name))[0] is role


def test_names_are_split_into_words() -> None:
    assert words("birthDate_2")[:2] == ["birth", "date"]
    assert {"zip", "codes", "code", "zipcodes", "zipcode"} <= {*words("zip codes")}
    assert words("GPPracticeCode")[:3] == ["gp", "practice", "code"]
    assert matching_word("größe", PERSON) is None
    for name in ("größe", "GROESSE", "Grosse", "koerper-groesse", "pat_groesse", "patGroesse"):
        assert matching_word(name, QUASI) is not None, name


@pytest.mark.parametrize(
    ("series", "kind", "why"),
    [
        (pl.Series([1, 2]), Kind.ORDERED, "numbers"),
        (pl.Series([dt.date(2020, 1, 1)]), Kind.ORDERED, "dates or times"),
        (pl.Series([True, False]), Kind.SET, "categories"),
        (pl.Series(["a", "12"]), Kind.SET, "numbers ('12') mixed with texts ('a')"),
        (pl.Series(["b"], dtype=pl.Categorical), Kind.SET, "categories"),
        (pl.Series([None], dtype=pl.Float64), Kind.SET, "all values are missing"),
    ],
)
def test_kinds_are_guessed_with_reasons(series: pl.Series, kind: Kind, why: str) -> None:
    assert guess_kind(series, False) == (kind, why)
    assert guess_kind(series, True)[0] is Kind.TAXONOMY


def test_declared_columns_only_and_in_the_order_of_the_table() -> None:
    schema = declare(
        patients(),
        quasi=["sex", "age", "age"],
        sensitive=["diagnosis"],
        identifier=["patient_id"],
        keep=["pulse"],
        taxonomies=["sex"],
    )
    assert schema.quasi == ("age", "sex")
    assert [column.name for column in schema.columns] == [
        "patient_id", "age", "sex", "diagnosis", "pulse",
    ]  # fmt: skip
    assert schema["sex"].kind is Kind.TAXONOMY
    assert schema["diagnosis"].kind is None
    assert "zip" not in schema
    with pytest.raises(SchemaError, match="The schema has no column 'zip'"):
        schema["zip"]


def test_all_faults_of_a_declaration_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        declare(
            patients(),
            quasi=["agee", "sex"],
            sensitive=["sex", "Diagnosis"],
            kinds={"sex": "sett", "pulse": "set"},
        )
    faults = caught.value.faults
    assert len(faults) == 5
    assert faults[0].startswith("The table has no column 'agee' (declared as quasi).")
    assert "Did you mean 'age'? It has: 'patient_id', 'row', 'age'" in faults[0]
    assert "Column 'sex' has 2 roles (quasi, sensitive). Choose one." in faults[1]
    assert "Did you mean 'diagnosis'?" in faults[2]
    assert "unknown kind 'sett'. Did you mean 'set'? Choose one of 'taxonomy'" in faults[3]
    assert "The declaration of roles has no column 'pulse'" in faults[4]


def test_missing_texts_count_before_the_kind_is_guessed() -> None:
    frame = pl.DataFrame({"age": ["39", "?", "40"], "grade": ["low", "high", "low"]})
    schema = declare(
        frame, quasi=["age", "grade"], missing={"age": ["?"]}, order={"grade": ["low", "high"]}
    )
    assert schema["age"].kind is Kind.ORDERED
    assert schema["age"].missing == ("?",)
    assert schema["grade"].kind is Kind.ORDERED
    assert schema["grade"].reason == "declared; the plan lists its order"
    schema.check(frame)
    assert schema["age"].clean(frame["age"]).to_list() == [39, None, 40]


def test_a_schema_refuses_what_contradicts_itself() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(
            (
                Column("a", Role.QUASI, Kind.SET),
                Column("a", Role.KEEP),
                Column("b", Role.QUASI),
                Column("c", Role.QUASI, Kind.SET, order=("x", "y")),
            )
        )
    text = str(caught.value)
    assert "Column 'a' is declared 2 times (quasi, keep). A column has one role" in text
    assert "Quasi-identifier 'b' has no kind. Choose one of 'taxonomy', 'ordered', 'set'." in text
    assert "Column 'c' lists an order but its kind is set." in text


def test_all_faults_against_a_table_at_once() -> None:
    schema = Schema(
        (
            Column("aeg", Role.QUASI, Kind.ORDERED),
            Column("sex", Role.QUASI, Kind.TAXONOMY),
            Column("diagnosis", Role.QUASI, Kind.ORDERED),
            Column("blank", Role.QUASI, Kind.ORDERED),
            Column("tags", Role.SENSITIVE),
        )
    )
    faults = schema.faults(patients())
    assert len(faults) == 4
    assert "no column 'aeg' (declared as quasi). Did you mean 'age'?" in faults[0]
    assert (
        "'sex' has the kind 'taxonomy' but no hierarchy was given. Give a file sex.csv"
        in (faults[1])
    )
    assert "'diagnosis' has the kind 'ordered' but holds texts, for instance 'd0'" in faults[2]
    assert "'tags' holds values of type List(String); a sensitive column needs" in faults[3]
    with pytest.raises(SchemaError) as caught:
        schema.check(patients())
    assert caught.value.faults == faults
    assert not Schema((Column("age", Role.QUASI, Kind.SET),)).faults(patients())


def test_the_example_of_a_mixed_ordered_column_is_the_text() -> None:
    frame = pl.DataFrame({"age": ["39", "forty"]})
    schema = Schema((Column("age", Role.QUASI, Kind.ORDERED),))
    assert "for instance 'forty'" in schema.faults(frame)[0]
    zips = pl.DataFrame({"age": ["039"]})
    assert "for instance '039'" in schema.faults(zips)[0]


def test_no_quasi_identifier_is_a_fault() -> None:
    schema = Schema((Column("age", Role.KEEP),))
    assert "No column is a quasi-identifier" in schema.faults(patients())[0]
