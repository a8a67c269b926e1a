"""What keeps a release from being what its history says: one thing wrong at a time."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from shoal.base.errors import ParameterError
from shoal.base.roles import Role
from shoal.plan.parts import ColumnPart
from shoal.plan.plan import Plan
from shoal.releases.counterfeits import COUNTERFEITS, false_rows
from shoal.releases.history.check import check_history, invariance_faults, set_faults
from shoal.releases.open_release import declared_columns
from shoal.releases.opened import Opened
from shoal.releases.published import read

# Two classes: in the first ann, bob and a counterfeit with flu and gout twice; in the second two.
ROWS = [("[1-5]", "flu"), ("[1-5]", "gout"), ("[1-5]", "flu"), ("[1-5]", "gout")]
ROWS += [("[6-9]", "flu"), ("[6-9]", "polio")]
PEOPLE = [
    ("[1-5]", "ann", "flu", ["flu", "gout"]),
    ("[1-5]", "bob", "gout", ["flu", "gout"]),
    ("[1-5]", "cy", "flu", ["flu", "gout"]),
    ("[6-9]", "dan", "flu", ["flu", "polio"]),
    ("[6-9]", "eve", "polio", ["flu", "polio"]),
]
FALSE = {"[1-5]": 1}
UNEQUAL = " classes do not have the values of the signatures of their people."


def opened(
    rows: Sequence[tuple[str, Any]] = ROWS, false: Mapping[str, int] | None = FALSE
) -> Opened:
    frame = pl.DataFrame(rows, schema=["age", "ill"], orient="row")
    columns = {"age": ColumnPart(role=Role.QUASI), "ill": ColumnPart(role=Role.SENSITIVE)}
    tables = {"release": frame}
    if false is not None:
        tables[COUNTERFEITS] = pl.DataFrame(
            {"age": list(false), COUNTERFEITS: list(false.values())},
            schema={"age": pl.String, COUNTERFEITS: pl.Int64},
        )
    plan = Plan(columns=columns)
    return Opened.from_tables(tables, declared_columns(plan, frame), plan=plan)


def name_of(cell: str) -> str:
    return json.dumps([cell])


def history(people: Sequence[tuple[str, str, Any, list[Any]]] = PEOPLE) -> tuple[Any, Any]:
    """Return the records and the classes of some people."""
    types = {"person": pl.String, "value": pl.String, "signature": pl.List(pl.String)}
    records = pl.DataFrame([p[1:] for p in people], schema=types, orient="row")
    classes = records.select("person", "value").with_columns(
        pl.Series("class", [name_of(p[0]) for p in people], dtype=pl.String)
    )
    return records.with_columns(column=pl.lit("ill")), classes


def faults(
    rows: Sequence[tuple[str, Any]] = ROWS,
    people: Sequence[tuple[str, str, Any, list[Any]]] = PEOPLE,
    false: Mapping[str, int] | None = FALSE,
    **asked: Any,
) -> list[str]:
    records, classes = history(people)
    asked = {"m": 2} | asked
    return invariance_faults(opened(rows, false), "ill", asked.pop("m"), records, classes, **asked)


def changed(place: int, *own: Any) -> list[Any]:
    return [*PEOPLE[:place], own, *PEOPLE[place + 1 :]]


def test_a_release_that_is_what_its_history_says_has_no_fault() -> None:
    assert faults() == []
    assert faults(false=None) == []
    assert faults(crowd=2) == []


def test_a_signature_has_m_values_and_the_own_one_among_them() -> None:
    few = "5 people of the release have a signature of fewer than 3 values"
    assert faults(m=3)[0].startswith(few)
    ones = [(c, p, v, [v]) for c, p, v, _ in PEOPLE]
    assert faults(people=ones)[0].startswith("5 people")
    twice = changed(3, "[6-9]", "dan", "flu", ["flu", "flu"])
    assert faults(people=twice)[0].startswith("1 people")
    gap = changed(3, "[6-9]", "dan", "flu", ["flu", None])
    assert faults(people=gap)[0].startswith("1 people")
    other = changed(3, "[6-9]", "dan", "flu", ["gout", "polio"])
    assert faults(people=other)[0].startswith("1 people")


def test_a_person_without_a_signature_is_a_fault_by_itself() -> None:
    records, classes = history()
    without = records.filter(pl.col("person") != "eve")
    for gone in (without, records.with_columns(column=pl.lit("x"))):
        found = invariance_faults(opened(), "ill", 2, gone, classes)
        assert len(found) == 1 and found[0].endswith("no signature in the history.")
    assert invariance_faults(opened(), "ill", 2, without, classes)[0].startswith("1 people")


@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS[:3], ("[1-5]", "flu"), *ROWS[4:]],
        [*ROWS[:5], ("[6-9]", "gout")],
        [*ROWS[:5], ("[6-9]", None)],
        [*ROWS, ("[6-9]", "typhus")],
    ],
)
def test_a_class_has_the_values_of_the_signatures_of_its_people(rows: list[Any]) -> None:
    assert f"1{UNEQUAL}" in faults(rows, false=None)


def test_missing_values_are_counted_as_one() -> None:
    gaps: list[Any] = [
        ("[6-9]", "dan", None, [None, "flu", "gout"]),
        ("[6-9]", "eve", "flu", [None, "flu", "gout"]),
    ]
    for text in (None, "", "*"):
        rows = [("[6-9]", text), ("[6-9]", "flu"), ("[6-9]", "gout")]
        assert faults(rows, gaps, {"[6-9]": 1}) == []
        assert faults(rows[:2], gaps, None) == [f"1{UNEQUAL}"]


@pytest.mark.parametrize("false", [{"[1-5]": 2}, {"[6-9]": 1}, {"[1-5]": 1, "[6-9]": 1}, {}])
def test_counterfeits_are_as_many_as_rows_are_more_than_people(false: dict[str, int]) -> None:
    assert [f for f in faults(false=false) if f.startswith("The counterfeits of ")]


def test_what_is_wrong_with_the_table_of_counterfeits_is_said() -> None:
    assert "names 1 classes that are not released" in " ".join(faults(false={"[1-9]": 1}))


def test_a_class_of_fewer_rows_than_people_is_seen_without_the_table() -> None:
    more = [
        *PEOPLE,
        ("[6-9]", "fay", "flu", ["flu", "polio"]),
        ("[6-9]", "gus", "polio", ["flu", "polio"]),
    ]
    found = faults(people=more, false=None)
    assert "1 classes have fewer rows than people." in found


def test_counterfeits_make_up_no_crowd() -> None:
    assert faults(crowd=3) == ["1 classes have fewer than 3 people, counterfeits not counted."]
    assert "2 classes have fewer than 4" in faults(crowd=4)[0]


def test_records_keep_their_signatures() -> None:
    before, _ = history()
    assert faults(before=before) == []
    swapped, _ = history(changed(0, "[1-5]", "ann", "flu", ["gout", "flu"]))
    assert faults(before=swapped) == []  # a set has no order
    other, _ = history(changed(0, "[1-5]", "ann", "flu", ["flu", "typhus"]))
    assert faults(before=other) == ["1 records have another signature than in earlier releases."]
    gone, _ = history([*PEOPLE, ("", "zoe", "flu", ["flu", "gout"])])
    assert faults(before=gone) == ["1 records have another signature than in earlier releases."]
    elsewhere = gone.with_columns(column=pl.lit("job"))
    assert faults(before=elsewhere) == []


# Dummy values

SETS: list[Any] = [
    ("[1-5]", ["flu", "gout"]),
    ("[1-5]", ["flu", "gout"]),
    ("[6-9]", ["flu", "polio"]),
]
OWNERS: list[Any] = [PEOPLE[0], PEOPLE[1], PEOPLE[3]]


def sets(rows: list[Any] = SETS, people: list[Any] = OWNERS, before: Any = None) -> list[str]:
    records, classes = history(people)
    classes = classes.with_columns(column=pl.lit("ill"))
    return set_faults(opened(rows, None), records, classes, before)


def test_sets_are_those_of_the_people_of_a_class() -> None:
    assert sets() == [] and sets(before=history(OWNERS)[0]) == []
    wrong = [*SETS[:2], ("[6-9]", ["flu", "gout"])]
    assert sets(wrong) == [
        "2 sets of 'ill' are not those that the history says of the people of their class."
    ]
    assert len(sets(SETS[:2])) == 1
    moved = [SETS[2], SETS[1], ("[6-9]", ["flu", "gout"])]
    assert len(sets([("[1-5]", ["flu", "polio"]), *moved[1:]])) == 1


def test_a_set_holds_the_value_of_its_record_and_stays() -> None:
    without = [("[1-5]", "ann", "polio", ["flu", "gout"]), *OWNERS[1:]]
    assert sets(people=without) == ["1 people have a set of 'ill' without their value."]
    gap = [("[1-5]", "ann", None, ["flu", "gout"]), *OWNERS[1:]]
    assert sets(people=gap) == []
    other, _ = history([("[1-5]", "ann", "flu", ["flu", "polio"]), *OWNERS[1:]])
    assert sets(before=other) == ["1 records have another signature than in earlier releases."]


# The history as a whole


class Kept:
    """A history of two releases; the release asked about is the second."""

    folder = "kept"

    def __init__(self, about: dict[str, Any], people: list[Any], k: int | None = None) -> None:
        self.records, self.own = history(people)
        release = {} if k is None else {"k": k}
        self.heads = [{"about": {}, "release": {}}, {"about": about, "release": release}]

    def number(self, _frame: pl.DataFrame) -> int:
        return 1

    def classes(self, number: int) -> pl.DataFrame:
        assert number == 1
        return self.own.with_columns(column=pl.lit("ill"))


ABOUT = {"rule": "m-invariance", "sensitive column": "ill", "m": 2}


def asked(kept: Kept, release: Opened | None = None) -> list[str]:
    return check_history(release or opened(), kept)  # type: ignore[arg-type]


def test_a_history_is_asked_for_its_own_rule_m_and_k() -> None:
    assert asked(Kept(ABOUT, PEOPLE)) == [] and asked(Kept(ABOUT, PEOPLE, 2)) == []
    assert "fewer than 3 people" in asked(Kept(ABOUT, PEOPLE, 3))[0]
    assert "fewer than 3 values" in asked(Kept(ABOUT | {"m": 3}, PEOPLE))[0]
    no_m = {key: value for key, value in ABOUT.items() if key != "m"}
    assert asked(Kept(no_m, PEOPLE)) == []
    ones = [(c, p, v, [v]) for c, p, v, _ in PEOPLE]
    assert "fewer than 2 values" in asked(Kept(no_m, ones))[0]


def test_a_history_of_something_else_is_refused() -> None:
    for about in (ABOUT | {"rule": "k-anonymity"}, ABOUT | {"sensitive column": "job"}):
        with pytest.raises(ParameterError, match="asked of m-invariance and a release with that"):
            asked(Kept(about, PEOPLE))
    dummies = {"rule": "dummy values", "sensitive column": ["ill"]}
    assert asked(Kept(dummies, OWNERS), opened(SETS, None)) == []
    with pytest.raises(ParameterError, match="not a sensitive column of this release"):
        asked(Kept(dummies | {"sensitive column": ["job"]}, OWNERS), opened(SETS, None))


# Counterfeits are told by the cells of their class, however a file spells these.

MOMENTS = pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 3, 4), None])


@pytest.mark.parametrize(
    ("cells", "spelled"),
    [
        (MOMENTS, MOMENTS.head(1)),  # by themselves these are days
        (MOMENTS, pl.Series(["2020-01-01"])),
        (MOMENTS, pl.Series(["2020-01-01 00:00:00.000000"])),
        (MOMENTS.dt.cast_time_unit("ms"), pl.Series(["2020-01-01T00:00:00.000"])),
        (MOMENTS.dt.replace_time_zone("UTC"), MOMENTS.head(1).dt.replace_time_zone("UTC")),
        (MOMENTS.dt.date(), pl.Series(["2020-01-01"])),
        (pl.Series([39.0, 2.5, None]), pl.Series(["39.0"])),
        (pl.Series([39.0, 2.5, None]), pl.Series(["39"])),
        (pl.Series(["039", "39", None]), pl.Series(["039"])),
    ],
)
def test_a_class_is_known_by_its_cells_however_they_are_spelled(
    cells: pl.Series, spelled: pl.Series
) -> None:
    published = read(pl.DataFrame({"x": pl.concat([cells, cells])}), ["x"])
    table = pl.DataFrame({"x": spelled, COUNTERFEITS: [1]})
    false, wrong = false_rows(published, table)
    assert wrong == []
    assert false.tolist() == [1, 0, 0]


@pytest.mark.parametrize("cell", ["2020-01-02", "garbage", "2020-01-01 00:00:01"])
def test_a_cell_that_is_none_of_the_release_is_no_class_of_it(cell: str) -> None:
    published = read(pl.DataFrame({"x": pl.concat([MOMENTS, MOMENTS])}), ["x"])
    false, wrong = false_rows(published, pl.DataFrame({"x": [cell], COUNTERFEITS: [1]}))
    assert wrong == ["The table of counterfeits names 1 classes that are not released."]
    assert not false.any()
