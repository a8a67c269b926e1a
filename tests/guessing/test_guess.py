"""Roles guessed from values: what each kind of evidence finds, and what it must not."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from shoal.base.roles import Role
from shoal.tables.guessing.dependencies import derived
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.names import without_prefix
from tests.guessing.values import draw

N = 400


def role(values: list | pl.Series, name: str = "x") -> tuple[Role, str]:
    column = guess(pl.DataFrame({name: values}))[name]
    return column.role, column.reason


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("email", "e-mail addresses"),
        ("iban DE", "bank accounts (IBAN)"),
        ("card", "credit cards"),
        ("ssn", "social security numbers"),
        ("cpf", "tax numbers"),
        ("uuid", "universal identifiers"),
        ("ip", "IP addresses"),
        ("url", "web addresses"),
        ("phone de", "phone numbers"),
        ("phone it", "phone numbers"),
        ("full nl", "names of persons"),
        ("street fr", "streets and houses"),
        ("note pt", "free text, which may name people"),
    ],
)
def test_values_tell_what_names_a_person(kind: str, told: str) -> None:
    guessed, why = role(draw(kind, np.random.default_rng(1)))
    assert guessed is Role.IDENTIFIER
    assert told in why


def test_sixteen_digits_without_the_check_digit_are_no_card() -> None:
    numbers = [str(4 * 10**15 + 7 * i) for i in range(N)]
    assert "credit cards" not in role(numbers)[1]


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1 + i % 28) for i in range(N)],
        [dt.datetime(2020, 1, 1, i % 24) for i in range(N)],
        [f"{1 + i % 28:02d}.03.2021" for i in range(N)],
        [f"3/{1 + i % 28}/21" for i in range(N)],
        [f"{1 + i % 28} Mar 2021" for i in range(N)],
        [f"2021-{1 + i % 12:02d}" for i in range(N)],
        [f"{i % 24:02d}:15" for i in range(N)],
    ],
    ids=["date", "moment", "german", "american", "words", "month", "clock"],
)
def test_dates_and_times_are_known_to_others(values: list) -> None:
    guessed, why = role(values)
    assert guessed is Role.QUASI
    assert "which other people may know" in why


def test_numbers_and_texts_that_rows_are_alone_with() -> None:
    rng = np.random.default_rng(2)
    assert role(rng.normal(25, 4, N).round(3).tolist())[0] is Role.QUASI
    assert role([f"{i * 7919 % 10007:x}" for i in range(N)])[0] is Role.IDENTIFIER
    assert role(rng.permutation(N).tolist())[0] is Role.IDENTIFIER  # a running number
    assert role((10**8 + rng.permutation(10**6)[:N]).tolist())[0] is Role.IDENTIFIER
    assert role([i % 9 for i in range(N)])[0] is Role.UNDECIDED
    assert role(["red", "green"] * (N // 2))[0] is Role.UNDECIDED
    assert role([1.5, 2.5, 3.5])[0] is Role.UNDECIDED  # three rows say nothing


def test_a_harmful_number_that_rows_are_alone_with_is_not_published_as_it_is() -> None:
    pay = np.random.default_rng(3).normal(3000, 900, N).round(2)
    guessed, why = role(pay.tolist(), "salary")
    assert guessed is Role.QUASI
    assert "publishing it unchanged identifies people" in why
    assert role([f"{each} EUR" for each in pay], "salary")[0] is Role.UNDECIDED


def test_rows_numbered_by_r_are_never_published() -> None:
    sparse = np.sort(np.random.default_rng(4).choice(9000, N, replace=False))
    assert role(sparse.tolist(), "rownames")[0] is Role.IDENTIFIER
    assert role(sparse.tolist(), "visit_id")[0] is Role.IDENTIFIER


def test_a_name_beside_first_names() -> None:
    rng = np.random.default_rng(4)
    alone = pl.DataFrame({"nom": draw("last fr", rng)})
    beside = alone.with_columns(pl.Series("prenom", draw("first fr", rng)))
    assert guess(alone)["nom"].role is not Role.IDENTIFIER
    assert guess(beside)["nom"].role is Role.IDENTIFIER
    assert guess(beside)["prenom"].role is Role.IDENTIFIER


def test_postal_codes_by_their_form() -> None:
    rng = np.random.default_rng(5)
    for country in ("de", "en", "nl", "pt"):
        guessed, why = role(draw(f"plz {country}", rng))
        assert (guessed, "postal codes" in why) == (Role.QUASI, True), country


def test_what_is_computed_from_others_is_known_with_them() -> None:
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {
            "weight": rng.normal(75, 12, N).round(),
            "height": rng.normal(171, 9, N).round(),
            "school": rng.choice(["a", "b", "c", "d"], N),
            "unrelated": rng.integers(0, 9, N),
            "gap": pl.Series([None] * N, dtype=pl.Float64),
        }
    ).with_columns(
        q=(pl.col("weight") / (pl.col("height") / 100) ** 2).round(),
        grams=pl.col("weight") * 1000 + 7,
        code=pl.col("school").replace_strict({"a": 3, "b": 1, "c": 1, "d": 2}),
    )
    left = ["q", "grams", "code", "unrelated", "gap"]
    assert derived(frame, left, ["weight", "height", "school"]) == {
        "q": "it is computed from 'weight' and 'height' (correlation 0.998)",
        "grams": "it follows from 'weight'",
        "code": "it follows from 'school'",
    }
    assert guess(frame)["code"].role is Role.QUASI
    assert guess(frame)["unrelated"].role is Role.UNDECIDED


def test_nothing_follows_from_values_that_nobody_shares() -> None:
    frame = pl.DataFrame({"age": range(N), "coin": ["ab"[i % 2] for i in range(N)]})
    assert derived(frame, ["coin"], ["age"]) == {}


def test_what_all_names_begin_with_says_nothing() -> None:
    names = ["iage", "irace", "isex", "istate"]
    assert without_prefix(names) == {
        "iage": "age",
        "irace": "race",
        "isex": "sex",
        "istate": "state",
    }
    assert without_prefix(["wage", "page", "city", "rage"])["wage"] == "wage"
    frame = pl.DataFrame({name: [i % 5 for i in range(N)] for name in names})
    assert guess(frame).quasi == tuple(names)


@pytest.mark.parametrize(
    "name",
    ["Geschlecht", "Alter", "PLZ", "edad", "sexo", "sexe", "âge", "Età", "idade", "leeftijd",
     "pat_alter", "patAlter", "PAT-ALTER", "pat.alter", "Koerpergroesse", "date-naissance",
     "codigoPostal", "estadoCivil", "lieuNaissance", "geboorteland", "Familienstand"],
)  # fmt: skip
def test_words_for_what_others_know(name: str) -> None:
    assert role([str(i % 4) for i in range(N)], name)[0] is Role.QUASI


@pytest.mark.parametrize(
    "name", ["Hauptdiagnose", "diagnostico", "Krankheit", "salaire", "reddito", "doença", "inkomen"]
)
def test_words_for_what_must_not_be_learned(name: str) -> None:
    assert role([str(i % 4) for i in range(N)], name)[0] is Role.SENSITIVE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("male", Role.QUASI), ("educcat", Role.QUASI), ("exper", Role.QUASI),
        ("wrkstat", Role.QUASI), ("kidslt6", Role.QUASI), ("marital_status", Role.QUASI),
        ("ind", Role.QUASI),
        ("realrinc", Role.SENSITIVE), ("smkintensity", Role.SENSITIVE), ("status", Role.SENSITIVE),
        ("arm", Role.SENSITIVE), ("carry_over_ind", Role.UNDECIDED), ("smoker_yn", Role.SENSITIVE),
    ],
)  # fmt: skip
def test_abbreviations_of_surveys_and_trials(name: str, expected: Role) -> None:
    assert role([str(i % 4) for i in range(N)], name)[0] is expected


def test_every_type_of_column_is_looked_at() -> None:
    n = 60
    frame = pl.DataFrame(
        {
            "age": [i % 20 for i in range(n)],
            "true": [i % 2 == 0 for i in range(n)],
            "category": pl.Series([str(i % 3) for i in range(n)], dtype=pl.Categorical),
            "listed": pl.Series(["ab"[i % 2] for i in range(n)], dtype=pl.Enum(["a", "b"])),
            "span": [dt.timedelta(i) for i in range(n)],
            "money": pl.Series([i % 7 for i in range(n)]).cast(pl.Decimal(10, 2)),
            "nan": [float("nan")] * n,
            "bytes": [b"x"] * n,
            "many": [[1]] * n,
            "nothing": [None] * n,
        }
    )
    for part in (frame, frame.head(1), frame.head(0)):
        assert [column.name for column in guess(part).columns] == frame.columns
