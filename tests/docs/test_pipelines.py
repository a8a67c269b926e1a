"""The examples for dbt and Great Expectations, in DuckDB: they say what an audit says.

Neither library is needed here. dbt turns ``{% test x(...) %}`` into a macro ``test_x`` and renders
it with jinja2, as is done below; an expectation is the SQL that is made without the library.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import duckdb
import jinja2
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
GX = runpy.run_path(str(EXAMPLES / "great_expectations" / "release_expectations.py"))
QUASI = ["age", "zip"]
TABLE = pl.DataFrame(
    {
        "age": ["20-30", "20-30", "20-30", None, None, "30-40", "30-40"],
        "zip": ["12*"] * 7,
        "illness": ["flu", "cold", None, "flu", " Flu", "flu", "*"],
        "who": ["a", "b", "c", "d", "e", "f", "f"],
    }
)


class Refused(Exception):
    """What dbt raises when a macro does not compile."""


def _refuse(text: str) -> None:
    raise Refused(text)


def by_dbt(name: str, **given: Any) -> str:
    """Render a generic test as dbt does."""
    source = (EXAMPLES / "dbt" / "tests" / "generic" / f"{name}.sql").read_text()
    source, tests = re.subn(r"{% test (\w+)\(", r"{% macro test_\1(", source)
    source = source.replace("{% endtest %}", "{% endmacro %}")
    assert tests == 1
    world = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)
    made = world.from_string(
        source,
        globals={
            "adapter": SimpleNamespace(quote=lambda column: f'"{column}"'),
            "exceptions": SimpleNamespace(raise_compiler_error=_refuse),
        },
    )
    return str(getattr(made.module, f"test_{name}")(model="released", **given))


def by_gx(name: str, **given: Any) -> str:
    """Make the SQL of an expectation, with the table where the library puts it."""
    made = "small_classes" if name == "k_anonymous" else "uniform_classes"
    given = {"least" if key == "l" else key: value for key, value in given.items()}
    return str(GX[made](**given)).format(batch="(select * from released) as subselect")


def found(sql: str, table: pl.DataFrame) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        database.register("released", table.to_arrow())
        return sorted(database.execute(sql).fetchall(), key=str)


BOTH = pytest.mark.parametrize("made", [by_dbt, by_gx])


@BOTH
def test_small_classes_are_found_a_missing_cell_being_a_value(made):
    assert found(made("k_anonymous", quasi=QUASI, k=2), TABLE) == []
    assert found(made("k_anonymous", quasi=QUASI, k=3), TABLE) == [
        ("30-40", "12*", 2),
        (None, "12*", 2),
    ]


@BOTH
def test_people_can_be_counted_instead_of_rows(made):
    assert found(made("k_anonymous", quasi=QUASI, k=2, person="who"), TABLE) == [
        ("30-40", "12*", 1)
    ]


@BOTH
def test_classes_with_too_few_values_are_found(made):
    # Neither a gap nor a star is a value, and ' Flu' is the flu.
    asked = {"quasi": QUASI, "sensitive": "illness", "l": 2}
    assert found(made("l_diverse", **asked), TABLE) == [("30-40", "12*", 1), (None, "12*", 1)]
    assert found(made("l_diverse", **asked, nothing=["COLD "]), TABLE) == [
        ("20-30", "12*", 1),
        ("30-40", "12*", 1),
        (None, "12*", 1),
    ]


@BOTH
def test_an_empty_table_keeps_no_promise(made):
    assert found(made("k_anonymous", quasi=QUASI, k=2), TABLE[:0]) == [(None, None, 0)]
    asked = {"quasi": QUASI, "sensitive": "illness", "l": 2}
    assert found(made("l_diverse", **asked), TABLE[:0]) == [(None, None, 0)]


CELLS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["x", "y", "z", "*", None])), min_size=1)


@pytest.mark.slow
@BOTH
@given(rows=ROWS, k=st.integers(2, 4), l=st.integers(2, 3))
@settings(max_examples=12, deadline=None)
def test_the_examples_say_what_an_audit_says(made, rows, k, l):  # noqa: E741 -- the papers' letter
    table = pl.DataFrame(rows, schema=dict.fromkeys(["p", "q", "s"], pl.String), orient="row")
    quasi = ["p", "q"]
    kept = shoal.audit(table, quasi=quasi, sensitive="s", k=k, l=l).rules
    assert (found(made("k_anonymous", quasi=quasi, k=k), table) == []) == kept[0].holds
    sql = made("l_diverse", quasi=quasi, sensitive="s", l=l)
    assert (found(sql, table) == []) == kept[1].holds


@BOTH
@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("k_anonymous", {"quasi": QUASI, "k": 1}, "at least 2; got 1"),
        ("k_anonymous", {"quasi": QUASI, "k": "5"}, "whole number"),
        ("k_anonymous", {"quasi": "age", "k": 5}, "list of columns.*got"),
        ("k_anonymous", {"quasi": [], "k": 5}, "list of columns"),
        ("l_diverse", {"quasi": QUASI, "sensitive": "zip", "l": 2}, "sensitive"),
        ("l_diverse", {"quasi": QUASI, "sensitive": "illness", "l": 1.5}, "whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(made, name, given, text):
    with pytest.raises((Refused, ValueError), match=text):
        made(name, **given)


def test_texts_that_mean_nothing_cannot_leave_their_quotes():
    asked = {"quasi": QUASI, "sensitive": "illness", "l": 2, "nothing": ["it's {none}"]}
    for made in (by_dbt, by_gx):
        assert "'it''s {none}'" in made("l_diverse", **asked)
        assert len(found(made("l_diverse", **asked), TABLE)) == 2


def test_odd_names_of_columns_reach_the_database(monkeypatch):
    odd = pl.DataFrame({'a{"b:c': ["x", "x", "y"]})
    assert found(by_gx("k_anonymous", quasi=odd.columns, k=2), odd) == [("y", 1)]
    # The library itself, as far as it is used: what it is given, it hands to str.format and text().
    library = ModuleType("great_expectations.expectations")
    library.UnexpectedRowsExpectation = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "great_expectations", ModuleType("great_expectations"))
    monkeypatch.setitem(sys.modules, "great_expectations.expectations", library)
    asked = GX["expect_k_anonymity"](odd.columns, 2)
    assert r"b\:c" in asked["unexpected_rows_query"]
    assert asked["description"] == 'Every class of a{"b:c has at least 2 rows.'
    diverse = GX["expect_l_diversity"](["a"], "s", 3)
    assert "different_values < 3" in diverse["unexpected_rows_query"]


def test_the_project_for_dbt_asks_for_tests_and_arguments_that_exist():
    schema = (EXAMPLES / "dbt" / "models" / "schema.yml").read_text()
    named = re.findall(
        r"^      - (\w+):\n          arguments:\n((?:            .*\n)+)", schema, re.M
    )
    assert [name for name, _ in named] == ["k_anonymous", "l_diverse"]
    for name, block in named:
        asked = dict(re.findall(r"(\w+): (.*)", block))
        lists = {"quasi": asked.pop("quasi").strip("[]").split(", ")}
        numbers = {key: int(value) if value.isdigit() else value for key, value in asked.items()}
        assert by_dbt(name, **lists, **numbers)
