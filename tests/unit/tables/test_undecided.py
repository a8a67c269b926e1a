"""A column that is undecided or dropped is never published; what is undecided is named."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.base.errors import PlanError, ShoalWarning
from shoal.base.roles import Role
from shoal.ext.web import drafts
from shoal.ext.web.profiles import profile
from shoal.plan.plan import Plan
from shoal.tables.schema import declare
from tests.checking import verify

PLAN = """
[columns.age]
role = "quasi"
[columns.town]
role = "quasi"
[columns.ill]
role = "sensitive"
[columns.gizmo]
role = "undecided"
[[rules]]
name = "k-anonymity"
k = 2
"""
WHY = "neither name nor values suggest a role"


def people() -> pl.DataFrame:
    rows = range(24)
    return pl.DataFrame(
        {
            "age": [20 + i % 6 for i in rows],
            "town": ["AB"[i % 2] for i in rows],
            "ill": [("flu", "cold", "gout")[i % 3] for i in rows],
            "gizmo": [("red", "green", "blue")[i * 7 % 3] for i in rows],
        }
    )


def run(**arguments: object) -> shoal.Release:
    with pytest.warns(ShoalWarning, match="1 column is not released, because nobody has decided"):
        return shoal.anonymize(people(), plan=Plan.from_toml(PLAN), **arguments)


@pytest.mark.parametrize(
    ("method", "rules"),
    [
        ("shoal", None),
        ("mondrian", None),
        ("dummies", [shoal.LDiversity(2, "ill")]),
        ("anatomy", [shoal.FrequencyLDiversity(2, "ill")]),
    ],
)
def test_no_shape_of_release_holds_it(method: str, rules: object) -> None:
    outcome = run(method=method, rules=rules)
    assert all("gizmo" not in table.columns for table in outcome.tables.values())
    assert outcome.verdict.holds


def test_every_output_names_it_with_the_reason() -> None:
    outcome = run()
    assert outcome.made.undecided == {"gizmo": WHY}
    assert outcome.to_dict()["undecided"] == {"gizmo": WHY}
    (told,) = outcome.warnings
    assert told == (
        f"1 column is not released, because nobody has decided what it is ('gizmo': {WHY}). Give "
        "each a role in the plan, or name it with --quasi, --sensitive, --identifier, --keep or "
        "--drop."
    )
    page = outcome.page()
    assert "not decided yet, not published" in page
    assert WHY in page
    assert outcome.plan.columns["gizmo"].role is Role.UNDECIDED  # the plan repeats the run


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("method", ["mondrian", "dummies"])
def test_a_dropped_column_is_left_out_without_a_warning(method: str) -> None:
    roles = {"quasi": ["age", "town"], "sensitive": "ill", "drop": "gizmo"}
    outcome = shoal.anonymize(people(), **roles, method=method, rules=shoal.LDiversity(2, "ill"))
    assert not any("gizmo" in text for text in outcome.warnings)
    assert "gizmo" not in outcome.frame.columns
    assert outcome.plan.columns["gizmo"].role is Role.DROP
    assert "drop, not published" in outcome.page()
    verdict = shoal.audit(outcome.frame.with_columns(gizmo=pl.lit("red")), plan=outcome.plan)
    assert any("whose role is 'drop': not published" in fault for fault in verdict.faults)


def test_a_role_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(PlanError, match=r"'sensitive', 'keep', 'drop', .*\. Got 'other' instead"):
        Plan.from_toml(PLAN.replace("undecided", "other"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        shoal.anonymize(people(), quasi="age", other="gizmo")


def test_a_column_that_looks_like_a_role_says_so() -> None:
    plan = Plan.from_toml(PLAN.replace("gizmo", "sex"))
    with pytest.warns(
        ShoalWarning,
        match=r"'sex': it looks like quasi-identifier \(the column name suggests 'sex'",
    ):
        outcome = shoal.anonymize(people().rename({"gizmo": "sex"}), plan=plan)
    assert "sex" not in outcome.frame.columns


def test_publishing_it_is_a_fault() -> None:
    plan = Plan.from_toml(PLAN)
    said = (
        "The release has the column 'gizmo', whose role is 'not decided yet': not published until"
    )
    leaky = people().with_columns(age=pl.lit("*"), town=pl.lit("*"))
    for original in (None, people()):
        verdict = shoal.audit(leaky, plan=plan, original=original)
        assert not verdict.holds
        assert any(said in fault for fault in verdict.faults)
    schema = declare(people(), quasi=["age", "town"], sensitive=["ill"], undecided=["gizmo"])
    rules = [shoal.KAnonymity(2)]
    assert not verify(leaky, ["age", "town"], rules, schema=schema).holds


def test_publishing_it_beside_sets_is_a_fault() -> None:
    outcome = run(method="dummies", rules=[shoal.LDiversity(2, "ill")])
    assert shoal.audit(outcome.frame, plan=outcome.plan).holds
    leaky = outcome.frame.with_columns(gizmo=pl.lit("red"))
    verdict = shoal.audit(leaky, plan=outcome.plan)
    assert any("whose role is 'not decided yet'" in fault for fault in verdict.faults)


def test_the_three_doors_decide_alike() -> None:
    """The command ``init``, a run without a plan and the page all ask one function."""
    frame = people()
    looked = shoal.inspect(frame)
    wanted = {column.name: column.role for column in looked.schema.columns}
    assert wanted["gizmo"] is Role.UNDECIDED
    with (
        pytest.warns(ShoalWarning, match="Roles were guessed"),
        pytest.warns(ShoalWarning, match="1 column is not released"),
    ):
        outcome = shoal.anonymize(frame, k=2)
    assert {name: part.role for name, part in outcome.plan.columns.items()} == wanted
    draft = drafts.first_draft(profile(frame, looked))
    assert {name: part["role"] for name, part in draft["columns"].items()} == wanted


def test_naming_quasi_identifiers_leaves_the_rest_undecided() -> None:
    looked = shoal.inspect(people(), quasi=["age"])
    assert looked.schema.quasi == ("age",)
    assert looked.schema["town"].role is Role.UNDECIDED
    assert looked.schema["town"].reason.startswith(
        "not named, although the column name suggests 'town'"
    )


def test_the_page_can_decide() -> None:
    frame = people()
    seen = profile(frame, shoal.inspect(frame))
    draft = drafts.first_draft(seen)
    number = next(c["number"] for c in seen["columns"] if c["name"] == "gizmo")
    form = {f"role.{c['number']}": c["role"] for c in seen["columns"]}
    assert drafts.from_form(form, seen, draft)["columns"]["gizmo"] == {"role": "undecided"}
    decided = drafts.from_form({**form, f"role.{number}": "keep"}, seen, draft)
    assert decided["columns"]["gizmo"] == {"role": "keep"}
