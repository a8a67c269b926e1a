"""Rows of a person that are to be published alike: what is wrong with them, one fault at a time."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.base.roles import Role
from shoal.plan.parts import ColumnPart, ReleasePart
from shoal.plan.plan import Plan
from shoal.releases.linked import linked_faults
from shoal.releases.open_release import declared_columns
from shoal.releases.opened import Opened
from shoal.tables.original import Original
from shoal.tables.schema import declare

ONE, TWO, THREE = (f"{number:032x}" for number in (10, 11, 12))
PERSONS = ["ann", "ann", "bob", "bob", "cy"]
FRAME = pl.DataFrame({"age": ["[1-5]"] * 4 + ["9"], "who": [ONE, ONE, TWO, TWO, THREE]})
SEVERAL = "Rows of one person lie in several classes (1 too many)"
STANDS = "In column 'who' a pseudonym stands for several people, or one has two."


def faults(
    frame: pl.DataFrame = FRAME,
    persons: list[str] | None = PERSONS,
    original: pl.DataFrame | None = None,
    **release: object,
) -> list[str]:
    columns = {"age": ColumnPart(role=Role.QUASI), "who": ColumnPart(role=Role.PERSON)}
    asked = {"person_rows": "together", "pseudonym": True} | release
    plan = Plan(columns=columns, release=ReleasePart(**asked))
    opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), plan=plan)
    source = None
    if original is not None:
        source = Original(original, declare(original, quasi=["age"], person=["who"]))
    return linked_faults(opened, None if persons is None else pl.Series(persons), source)


def test_rows_that_are_alike_have_no_fault() -> None:
    assert faults() == []
    assert faults(original=pl.DataFrame({"age": [1, 2], "who": ["ann", "bob"]})) == []


def test_without_the_promise_or_without_persons_nothing_is_checked() -> None:
    apart = pl.DataFrame({"age": ["1", "2", "3", "4", "5"], "who": PERSONS})
    assert faults(apart, person_rows=None, pseudonym=None) == []
    assert faults(apart, persons=None) == []


def test_a_person_in_two_classes_is_counted() -> None:
    apart = FRAME.with_columns(age=pl.Series(["[1-5]", "9", "[1-5]", "[1-5]", "9"]))
    found = faults(apart)
    assert len(found) == 1 and found[0].startswith(SEVERAL)
    assert faults(apart, pseudonym=None)[0].startswith(SEVERAL)


def test_pseudonyms_are_checked_only_where_they_were_asked_for() -> None:
    names = FRAME.with_columns(who=pl.Series(PERSONS))
    assert faults(names, pseudonym=None) == []
    assert faults(names) == ["Column 'who' holds other texts than pseudonyms of 32 digits."]


def test_a_release_without_its_column_of_pseudonyms() -> None:
    assert faults(FRAME.drop("who")) == [
        "The release has no column of pseudonyms, which its plan asks for."
    ]


@pytest.mark.parametrize("text", ["ann", ONE[:-1], ONE + "0", ONE.upper() + " ", "g" * 32])
def test_one_text_that_is_no_pseudonym_is_enough(text: str) -> None:
    one = FRAME.with_columns(who=pl.Series([ONE, ONE, TWO, TWO, text]))
    assert faults(one) == ["Column 'who' holds other texts than pseudonyms of 32 digits."]


def test_a_person_of_the_original_is_no_pseudonym() -> None:
    original = pl.DataFrame({"age": [1, 2, 3], "who": ["ann", "bob", THREE]})
    assert faults(original=original) == [
        "Column 'who' holds persons of the original, not pseudonyms."
    ]


@pytest.mark.parametrize(
    "pseudonyms", [[ONE, TWO, TWO, TWO, THREE], [ONE, ONE, ONE, ONE, THREE], [ONE] * 4 + [TWO]]
)
def test_a_pseudonym_stands_for_one_person_who_has_one(pseudonyms: list[str]) -> None:
    assert faults(FRAME.with_columns(who=pl.Series(pseudonyms))) == [STANDS]
