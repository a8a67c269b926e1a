"""The attack over several releases: against plain loops, by hand, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import InputError, ParameterError, SchemaError
from tests.naive import intersection as naive
from tests.naive import risks

ASKED: dict[str, Any] = {"known": ["town", "age"], "sensitive": "ill", "person": "id", "seed": 0}
AGES = (10, 20, 30, 40)


def released(town: str | None, age: int | None, how: tuple[int, int]) -> tuple[str, str]:
    """Cells that cover a row, as wide as ``how`` says."""
    first = "*" if town is None or how[0] == 2 else town
    if how[0] == 1 and town is not None:
        first = "{" + ", ".join(sorted({town, "B", "C"})) + "}"
    second = "*" if age is None or how[1] == 2 else str(age)
    if how[1] == 1 and age is not None:
        second = f"[{min(age, 20)}-{max(age, 30)}]"
    return first, second


def tables() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Some of eight people, each with a row of their own time, and how wide its cells are."""
    rows = st.tuples(
        st.sampled_from([None, "A", "B", "C"]),
        st.sampled_from(AGES),
        st.sampled_from([None, "flu", "cold", "gout"]),
        st.tuples(st.integers(0, 2), st.integers(0, 2)),
    )
    # The first one is always there, with a value: somebody can be followed.
    sure = st.tuples(st.just("A"), st.just(10), st.sampled_from(["flu", "cold"]), rows.map(_how))
    others = st.dictionaries(st.sampled_from(range(2, 9)), rows, max_size=7)
    return st.tuples(sure, others).map(lambda p: [(1, *p[0]), *((k, *v) for k, v in p[1].items())])


def _how(row: tuple[Any, ...]) -> Any:
    return row[3]


def written(table: list[tuple[Any, ...]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the original and its release."""
    names = {"id": pl.Int64, "town": pl.String, "age": pl.Int64, "ill": pl.String}
    original = pl.DataFrame([row[:4] for row in table], schema=names, orient="row")
    cells = [(*released(row[1], row[2], row[4]), row[3]) for row in reversed(table)]
    shown = {"town": pl.String, "age": pl.String, "ill": pl.String}
    return original, pl.DataFrame(cells, schema=shown, orient="row")


def beliefs_of(person: int, table: list[tuple[Any, ...]]) -> dict[str, float]:
    """Return what is believed of a person of a table, by loops."""
    held = [{row[j] for row in table if row[j] is not None} for j in (1, 2)]

    def fit(j: int, cell: str | None, value: object) -> bool:
        return risks.fits(cell, value, gaps="open")

    def width(j: int, cell: str | None) -> int:
        return max(sum(fit(j, cell, value) for value in held[j]) + (cell == "*"), 1)

    rows = [released(row[1], row[2], row[4]) for row in table]
    known = next(row[1:3] for row in table if row[0] == person)
    return naive.belief((rows, [row[3] for row in table]), known, fit, width)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(tables(), min_size=2, max_size=4))
def test_the_loop_finds_the_same(history: list[list[tuple[Any, ...]]]) -> None:
    now, *before = history
    made = [written(table) for table in history]
    found = shoal.attack(
        made[0][1],
        original=made[0][0],
        attacks="intersection",
        against=[release for _, release in made[1:]],
        against_original=[original for original, _ in made[1:]],
        **ASKED,
    ).results[0]
    hits, alone, left, none = [], [], [], []
    for row in now:
        there = [table for table in before if row[0] in [other[0] for other in table]]
        if not there or row[3] is None:
            continue
        own = beliefs_of(row[0], now)
        weights = naive.left([own, *(beliefs_of(row[0], table) for table in there)])
        none.append(not weights)
        hits.append(naive.hit(weights or own, row[3]))
        alone.append(naive.hit(own, row[3]))
        left.append(len(weights or own))
    assert found.attempts == len(hits)
    assert found.success == pytest.approx(np.mean(hits))
    assert found.details["alone"] == pytest.approx(np.mean(alone))
    assert found.details["left"] == pytest.approx(np.mean(left))
    assert found.details["none_left"] == pytest.approx(np.mean(none))


NOW = pl.DataFrame(
    {"id": [1, 2, 3, 4], "town": ["A"] * 4, "age": [20, 21, 30, 31], "ill": list("uvwx")}
)
NOW_CELLS = NOW.drop("id").with_columns(age=pl.Series(["[20-21]"] * 2 + ["[30-31]"] * 2))
OLD = pl.DataFrame(
    {"id": [1, 3, 9], "town": ["A"] * 3, "age": [20, 30, 31], "ill": ["u", "w", "w"]}
)
OLD_CELLS = OLD.drop("id").with_columns(age=pl.Series(["[20-30]", "[20-30]", "31"]))


def attacked(**given: Any) -> Any:
    known: dict[str, Any] = {"against": [OLD_CELLS], "against_original": [OLD], **ASKED, **given}
    return shoal.attack(NOW_CELLS, original=NOW, attacks="intersection", **known)


@pytest.mark.slow
def test_two_releases_by_hand(tmp_path: Path) -> None:
    # Persons 1 and 3 were there before, in one class with the values u and w. Now 1 is in a class
    # of u and v, 3 in one of w and x: one value is left to each, and it is theirs. With what is
    # known of the other one, the value left is the other one's.
    found = attacked()
    (result,) = found.results
    assert (result.attempts, result.success, result.control) == (2, 1.0, 0.0)
    assert result.baseline == pytest.approx(0.25)
    told = result.details
    assert (told["alone"], told["left_before"], told["left"]) == (0.5, 2.0, 1.0)
    assert told["left_fewest"] == 1
    assert (told["one_value_before"], told["one_value"], told["certain"]) == (0.0, 1.0, 1.0)
    assert "The newest release alone gives 50.0 %" in result.verdict
    # The nouns: a release that was put beside its table brings its original along.
    old = shoal.open_release(OLD_CELLS, quasi=["town", "age"], sensitive="ill", original=OLD)
    opening = {"quasi": ["town", "age"], "sensitive": "ill", "person": "id"}
    now = shoal.open_release(NOW_CELLS, original=NOW, **opening)
    again = now.attack(attacks="intersection", against=[old], seed=0)
    assert again.results == found.results
    # Earlier releases call for the attack by themselves; the report shows it among the others.
    both = now.attack(against=[old], seed=0)
    assert [each.name for each in both.results][-1] == "intersection"
    now.report(tmp_path / "r.html", attacks=both)
    assert "With earlier releases the value of ill" in (tmp_path / "r.html").read_text()
    now.report(tmp_path / "p.html", attacks=both, audience="public")
    assert "With earlier releases" not in (tmp_path / "p.html").read_text()


def test_a_value_that_changed_leaves_nothing_or_something_else() -> None:
    changed = OLD.with_columns(ill=pl.Series(["x", "x", "v"]))
    cells = OLD_CELLS.with_columns(ill=pl.Series(["x", "x", "v"]))
    (result,) = attacked(against=[cells], against_original=[changed]).results
    # Nothing of {u, v} is left to 1, who is guessed by the newest release alone; x to 3, wrongly.
    assert result.success == 0.25
    assert (result.details["none_left"], result.details["certain"]) == (0.5, 0.0)


def test_all_releases_weigh() -> None:
    # u is likelier now (2 of 3), v was much likelier then (4 of 5): together v, by
    # 1/3 x 4/5 > 2/3 x 1/5, which is what the one who was there before has.
    now = pl.DataFrame({"id": [1, 2, 3], "town": ["A"] * 3, "age": [1] * 3, "ill": ["v", "u", "u"]})
    ids = pl.DataFrame({"id": [1, 6, 7, 8, 9], "town": ["A"] * 5, "age": [1] * 5})
    old = ids.with_columns(ill=pl.Series(["v", "u", "v", "v", "v"]))
    known: dict[str, Any] = {"against": [old.drop("id")], "against_original": [old], **ASKED}
    (result,) = shoal.attack(now.drop("id"), original=now, attacks="intersection", **known).results
    assert (result.attempts, result.success, result.details["alone"]) == (1, 1.0, 0.0)


def test_people_who_are_not_in_the_tables_are_a_control() -> None:
    outside = pl.DataFrame({"town": ["A", "A"], "age": [20, 30], "ill": ["v", "w"]})
    found = attacked(control=outside)
    assert (found.control, found.results[0].control) == ("outsiders", 0.5)


@pytest.mark.parametrize(
    ("error", "said", "given"),
    [
        (ParameterError, "needs an earlier release of the same people, and none",
         {"against": []}),
        (ParameterError, "Earlier release 1 has no original.*--against-original",
         {"against_original": []}),
        (ParameterError, "2 originals of earlier releases were given for 1 releases",
         {"against_original": [OLD, OLD]}),
        (SchemaError, r"no column says whose row it is.*--person", {"person": None}),
        (SchemaError, "The original of earlier release 1 has no column 'id'",
         {"against_original": [OLD.drop("id")]}),
        (SchemaError, "The original of earlier release 1 has no column 'age'",
         {"against_original": [OLD.drop("age")]}),
        (SchemaError, "The original of earlier release 1 has 2 rows of people who have several",
         {"against_original": [OLD.with_columns(id=pl.Series([1, 1, 9]))]}),
        (SchemaError, "1 of 3 rows say nothing in 'id'",
         {"against_original": [OLD.with_columns(id=pl.Series([1, None, 9]))]}),
        (SchemaError, "Earlier release 1 cannot be searched.*'ill'",
         {"against": [OLD_CELLS.drop("ill")]}),
        (InputError, "Nobody of the original is in the table of an earlier release by 'id'",
         {"against_original": [OLD.with_columns(id=pl.col("id") + 100)]}),
        (ParameterError, "guesses a sensitive value, and no sensitive column", {"sensitive": None}),
    ],
)  # fmt: skip
def test_what_is_refused(error: type[Exception], said: str, given: dict[str, Any]) -> None:
    if not given.get("against", [1]):
        given = {**given, "against_original": []}
    with pytest.raises(error, match=f"(?s){said}"):
        attacked(**given)


def test_earlier_releases_that_nobody_looks_at() -> None:
    with pytest.raises(ParameterError, match="'intersection' alone looks at"):
        shoal.attack(NOW_CELLS, original=NOW, attacks="linkage", against=[OLD_CELLS],
                     against_original=[OLD], **ASKED)  # fmt: skip
