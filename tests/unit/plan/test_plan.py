"""Plans: written and read back, overridden, and all faults at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import PlanError
from shoal.base.roles import Kind, Role
from shoal.plan import text as plan_text
from shoal.plan.plan import Plan

names = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable() or "\n" in text)
columns = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10),
    st.fixed_dictionaries(
        {"role": st.sampled_from([role.value for role in Role])},
        optional={
            "kind": st.sampled_from([kind.value for kind in Kind]),
            "hierarchy": st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
            "missing": st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3),
        },
    ),
    max_size=5,
)


@pytest.mark.slow
@given(
    columns, st.none() | st.integers(0, 2**40), st.booleans(), st.text("\n#\x07 '\"\\x", max_size=9)
)
def test_a_plan_survives_its_own_text(
    given: dict[str, dict[str, object]], seed: int | None, typed: bool, reason: str
) -> None:
    plan = (
        Plan().replaced(columns=given).changed({"seed": seed, "release": {"typed": typed}}).final()
    )
    text = plan.to_toml(dict.fromkeys(given, reason))
    assert Plan.from_toml(text) == plan


def test_flags_replace_a_role_whole_and_keep_what_a_column_says() -> None:
    plan = Plan.from_toml(
        '[columns.age]\nrole = "quasi"\nkind = "set"\n[columns.zip]\nrole = "quasi"\n'
        '[columns.flu]\nrole = "sensitive"\n'
    )
    changed = plan.changed({"roles": {Role.QUASI: ["age", "sex"]}})
    assert changed.names(Role.QUASI) == ["age", "sex"]
    assert changed.columns["age"].kind is Kind.SET
    assert "zip" not in changed.columns
    assert changed.names(Role.SENSITIVE) == ["flu"]
    assert plan.names(Role.QUASI) == ["age", "zip"], "the plan itself is unchanged"


def test_a_flag_moves_a_column_to_another_role() -> None:
    plan = Plan.from_toml('[columns.age]\nrole = "quasi"\n[columns.flu]\nrole = "keep"\n')
    assert plan.changed({"roles": {Role.SENSITIVE: ["flu"]}}).names(Role.KEEP) == []


def test_a_column_under_two_roles_is_refused() -> None:
    with pytest.raises(PlanError, match=r"'a' has 2 roles \(quasi, keep\). Choose one"):
        Plan().changed({"roles": {Role.QUASI: ["a", "b"], Role.KEEP: ["a"]}})


def test_rules_and_methods_override() -> None:
    plan = Plan().changed({"promised": [{"name": "k-anonymity", "k": 3}]})
    assert [part.spec for part in plan.rules] == [{"name": "k-anonymity", "k": 3}]
    unit = plan.changed({"method": {"name": "kaim", **{"weights": "unit"}}})
    assert unit.method.options == {"weights": "unit"}
    assert unit.changed({"method": {"name": "kaim"}}).method.options == {"weights": "unit"}
    assert unit.changed({"method": {"name": "k-member"}}).method.options == {}, (
        "another method, its own defaults"
    )
    assert unit.changed({"method": {"name": "k-member"}}).final().method.options == {
        "seeds": "random",
        "missing": "keep",
    }


def test_the_public_plan_has_no_seed() -> None:
    public = Plan(seed=4711).public()
    assert "seed" not in public
    assert "4711" not in str(public)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed = -1", "'seed'"),
        ('seed = "x"', "'seed'"),
        ("colums = {}", r"line 1: unknown key 'colums'. .*Did you mean 'columns'\?"),
        ("[columns.a]\nkind = 'set'", r"'columns.a.role' is missing"),
        ("[method]\nname = 3", "'method.name'"),
        ("[[rules]]\nk = 3", r"'rules.0.name' is missing"),
        ("[release]\ntipped = true", r"line 2: unknown key 'release.tipped'.*typed, mid, shuffle"),
        ("[data]\nmissing = '?'", "line 2: 'data.missing'"),
        ("rules = 3", "'rules'"),
        ("[method]\nname = 'k-membr'", r"line 2: there is no method 'k-membr'.*'k-member'\?"),
    ],
)
def test_faults(text: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        Plan.from_toml(text)


def test_lines_are_found_behind_odd_headers() -> None:
    text = '# [columns.age]\n[ columns . "a.b" ]\nrole = 1\n[[rules]]\nk = 1\n[[rules]]\nk = 2\n'
    assert plan_text.find_line(text, ("columns", "a.b", "role")) == 3
    assert plan_text.find_line(text, ("rules", 1, "k")) == 7
    assert plan_text.find_line(text, ("rules", 0, "name")) == 4, (
        "the table, when the key is not there"
    )
    assert plan_text.find_line(text, ("seed",)) is None


def test_paths_start_at_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans/p.toml").write_text('[data]\nhierarchies = "trees"\n')
    monkeypatch.chdir(tmp_path)
    plan = Plan.read("plans/p.toml")
    assert plan.path("trees") == Path("plans/trees")
    assert plan.relative("trees") == "../trees"
    assert plan.changed({"seed": 3}).path("trees") == Path("plans/trees")


def test_a_named_rule_takes_the_place_of_the_default_but_not_of_a_plans_rules() -> None:
    diverse = {"name": "l-diversity", "l": 3}
    bare = Plan().changed({"seed": 3}).changed({"promised": [diverse]})
    assert [part.spec for part in bare.rules] == [diverse]
    assert [part.spec for part in Plan().changed({"seed": 3}).rules] == [{"name": "k-anonymity"}]
    declared = Plan.from_toml('[[rules]]\nname = "k-anonymity"\nk = 4').changed(
        {"promised": [diverse]}
    )
    assert [part.name for part in declared.rules] == ["k-anonymity", "l-diversity"]
    no_rules = Plan.from_toml("seed = 1").changed({"promised": [diverse]})
    assert [part.name for part in no_rules.rules] == ["l-diversity"]


def test_the_k_of_a_plan_is_that_of_all_its_rules() -> None:
    plan = Plan.from_toml('[[rules]]\nname = "k-anonymity"\nk = 4')
    filled = plan.changed({"promised": [{"name": "alpha-k-anonymity", "alpha": 0.3}]}).final()
    assert [part.spec["k"] for part in filled.rules] == [4, 4]
    alone = Plan().changed({"promised": [{"name": "alpha-k-anonymity", "alpha": 0.3}]}).final()
    assert [part.spec["k"] for part in alone.rules] == [10]


def test_k_anonymity_is_part_of_alpha_k_unless_the_plan_names_it() -> None:
    k, alpha = {"name": "k-anonymity", "k": 5}, {"name": "alpha-k-anonymity", "alpha": 0.3, "k": 5}
    assert [part.name for part in Plan().changed({"promised": [k, alpha]}).rules] == [
        "alpha-k-anonymity"
    ]
    weaker = {**alpha, "k": 4}
    assert len(Plan().changed({"promised": [k, weaker]}).rules) == 2
    declared = Plan.from_toml('[[rules]]\nname = "k-anonymity"\nk = 9').changed(
        {"promised": [k, alpha]}
    )
    assert [part.spec["k"] for part in declared.rules] == [5, 5]
