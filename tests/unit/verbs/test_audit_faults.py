"""What an audit must not pass: columns by another name, a column twice, tables that do not fit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import BetaLikeness, InputError, ParameterError

PLAN = """
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[columns.patient]
role = "identifier"
[columns.note]
role = "undecided"
"""
RELEASE = {"age": ["[1-9]"] * 10, "ill": ["flu", "cold"] * 5}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


def test_what_a_plan_declares_is_no_fault(plan: Path) -> None:
    assert shoal.audit(pl.DataFrame(RELEASE), plan=plan, k=5).holds
    pair = {"age_lo": [1] * 10, "age_hi": [9] * 10, "ill": RELEASE["ill"]}
    assert shoal.audit(pl.DataFrame(pair), plan=plan, k=5).holds


@pytest.mark.parametrize("name", ["Patient", "note2", "note_lo", "group_id"])
def test_a_column_that_the_plan_does_not_name_is_a_fault(plan: Path, name: str) -> None:
    released = pl.DataFrame(RELEASE | {name: [f"N{row}" for row in range(10)]})
    verdict = shoal.audit(released, plan=plan, k=5)
    assert not verdict.holds
    assert f"has a column {name!r} that was not declared" in " ".join(verdict.faults)
    # Without a plan nobody has said that all columns are declared.
    assert shoal.audit(released, quasi="age", k=5).holds


def test_a_column_published_with_its_ends_is_grouped_by_all_of_them() -> None:
    twice = {"age": ["*"] * 10, "age_lo": range(10), "age_hi": range(10)}
    assert not shoal.audit(pl.DataFrame(twice), quasi="age", k=2).holds


def test_groups_that_two_tables_write_differently_are_told() -> None:
    released = pl.DataFrame({"age": [1, 2], "group_id": [1, 1]})
    second = pl.DataFrame({"group_id": ["01", "01"], "ill": ["a", "b"], "count": [1, 1]})
    with pytest.raises(InputError, match=r"'group_id' is of type Int64 in the first and String"):
        shoal.audit(released, quasi="age", sensitive="ill", st=second, k=2)


def test_an_endless_beta_promises_nothing() -> None:
    with pytest.raises(ParameterError, match=r"'beta' parameter .* Got inf instead"):
        BetaLikeness(float("inf"), "ill")
