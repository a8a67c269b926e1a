"""Names without a hierarchy: guessed hierarchies, and releases without sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import PlanError, SchemaError, ShoalWarning
from shoal.plan.plan import Plan
from shoal.privacy import KAnonymity
from shoal.releases.generalized.check import check
from shoal.tables.domain import STAR
from shoal.tables.guessing.hierarchies import guess_hierarchy
from shoal.tables.hierarchy import write_hierarchy
from shoal.tables.makers import frequencies


@pytest.fixture
def table() -> pl.DataFrame:
    rng = np.random.default_rng(18)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, 60),
            "city": rng.choice(["Bonn", "Jena", "Kiel", "Ulm", "{Hof}", None], 60),
            "team": rng.choice(["a", "b", "c"], 60),
        }
    )


def test_names_of_equal_frequency_stand_together() -> None:
    # f 7 times, e 6, d 5, ... a 2: the commonest three, then the others.
    values = [name for count, name in enumerate("abcdef", 2) for _ in range(count)]
    tree = frequencies(values, "x", few=2)
    assert tree.labels == ("f", "e", "d", "c", "b", "a", "f, e, d", "c, b, a", "*")
    assert frequencies(list("abcde"), "x").labels[5:] == ("*",)  # two groups need six values


def test_no_group_has_two_members_below_the_top() -> None:
    for size in range(2, 80):
        tree = frequencies([f"v{i}" for i in range(size)], "x")
        children = np.bincount(tree.up[:-1], minlength=len(tree.labels))
        assert (children[tree.size : -1] >= 3).all()
        assert len(set(tree.labels)) == len(tree.labels)


def test_a_group_is_never_named_as_a_value_or_another_group_is() -> None:
    values = ["a, b", "c", "d", "a", "b", "c, d", "a, b, c, d"]
    for few in (1, 10):
        labels = frequencies(values, "x", few=few).labels
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("values", "how"),
    [
        ([f"E1{i}.{j}" for i in range(4) for j in range(4)], "prefixes of codes"),
        ([f"{i:05d}" for i in range(10_000, 99_999, 997)], "prefixes of postal codes"),
        (["Bonn", "Jena", "Kiel"], "names of about equal frequency together"),
        ([f"v{i}" for i in range(30)] * 2, "names of about equal frequency together"),
    ],
)
def test_what_is_guessed(values: list[str], how: str) -> None:
    guessed = guess_hierarchy(pl.Series(values), "x")
    assert guessed is not None
    assert guessed[1] == how
    assert set(guessed[0].values) == set(values)


def test_nothing_is_guessed_where_there_is_no_name() -> None:
    assert guess_hierarchy(pl.Series([None, None], dtype=pl.String), "x") is None
    assert guess_hierarchy(pl.Series(["\u00a0", "a"]), "x") is None


@pytest.mark.slow
@pytest.mark.parametrize("method", ["shoal", "mondrian", "k-member", "incognito"])
def test_never_means_one_value_or_nothing(table: pl.DataFrame, method: str) -> None:
    quasi = ["age", "city", "team"]
    made = shoal.anonymize(table, quasi=quasi, k=3, sets="never", method=method, seed=2**80)
    frame = made.frame
    assert set(frame["city"]) <= {"Bonn", "Jena", "Kiel", "Ulm", '"{Hof}"', STAR}
    assert set(frame["team"]) <= {"a", "b", "c", STAR}
    told = made.with_original(table).attack(attacks="readoff").results[0]
    assert told.details["wrong"] == 0


@pytest.mark.filterwarnings("ignore:The sets of values in column")
def test_of_one_column(table: pl.DataFrame) -> None:
    quasi = ["age", "city", "team"]
    made = shoal.anonymize(table, quasi=quasi, k=20, sets={"city": "never"}, seed=2**80)
    frame = made.frame
    assert not frame["city"].str.starts_with("{").any()
    assert frame["team"].str.starts_with("{").any()


def test_a_word_for_all_wins_over_the_plan(table: pl.DataFrame) -> None:
    columns = {"age": {"role": "quasi"}, "team": {"role": "quasi", "sets": "allowed"}}
    plan = Plan(columns=columns)
    made = shoal.anonymize(table, plan=plan, k=5, sets="never", seed=2**80)
    assert not made.frame["team"].str.starts_with("{").any()


def test_the_check_finds_a_set_that_may_not_be(table: pl.DataFrame) -> None:
    made = shoal.anonymize(table, quasi=["age", "team"], k=9, method="mondrian", seed=2**80)
    assert check(made.opened, [KAnonymity(5)]).holds
    never = replace(made.opened, plan=made.plan.changed({"release": {"sets": "never"}}))
    verdict = check(never, [KAnonymity(5)])
    assert not verdict.holds
    assert "Column 'team' is published as a set of values in" in verdict.faults[0]
    assert "its plan says sets = 'never'" in verdict.faults[0]


def test_another_word_is_refused(table: pl.DataFrame) -> None:
    with pytest.raises(PlanError, match=r"must be 'allowed' or 'never'. Got 'sometimes' instead"):
        shoal.open(table, quasi=["team"], sets="sometimes")
    with pytest.raises(PlanError, match=r"sets of column 'taem' was given.*Did you mean 'team'"):
        shoal.open(table, quasi=["team"], sets={"taem": "never"})


def test_a_hierarchy_beside_a_plan_that_says_set_is_told(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    write_hierarchy(frequencies(table["team"], "team"), tmp_path / "team.csv")
    plan = Plan(columns={"team": {"role": "quasi", "kind": "set"}})
    with pytest.warns(ShoalWarning, match="hierarchy of 'team' is not used.*says kind = 'set'"):
        shoal.open(table, plan=plan, hierarchies=tmp_path)


def test_a_plan_given_as_the_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("[data]\n")
    with pytest.raises(shoal.ShoalError, match=r"plan by its name.*--plan .*plan\.toml"):
        shoal.open(tmp_path / "plan.toml", quasi=["age"])


def test_a_grid_with_a_decimal_comma(table: pl.DataFrame) -> None:
    with pytest.raises(SchemaError, match=r"is '2,5'.*Write decimals with a point"):
        shoal.open(table, quasi=["age"], grid={"age": "2,5"})


def test_slack_beyond_certainty() -> None:
    with pytest.raises(PlanError, match=r"at least 0 and at most 1. Got 2.0 instead"):
        Plan().changed({"release": {"slack": 2.0}})


def test_a_label_in_braces_is_no_set() -> None:
    frame = pl.DataFrame({"code": ["{a}"] * 20 + ["{b}"] * 20, "ill": ["x", "y"] * 20})
    tree = shoal.Taxonomy.from_rows([("{a}", "*"), ("{b}", "*")], "code")
    given = {"quasi": "code", "sensitive": "ill", "k": 5, "hierarchies": {"code": tree}}
    release = shoal.anonymize(frame, **given, sets="never")
    assert set(release.frame["code"]) == {"{a}", "{b}"}
    assert release.audit().holds
