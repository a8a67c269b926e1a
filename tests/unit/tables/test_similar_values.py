"""Values that look alike, and values that count as one because somebody said so."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError, PlanError, ShoalWarning
from shoal.plan.plan import Plan
from shoal.plan.setting import same_groups, same_values
from shoal.tables.cells import merge_values
from shoal.tables.similar_values import look_alikes

SAME = ("HIV=AIDS,HIV infection,hiv",)


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    ills = ["HIV", "hiv ", "HIV infection", "AIDS", "flu", "cold"]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(ills, rows),
        }
    )


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        (["HIV", "hiv ", "HIV infection", "flu"], [["HIV", "hiv ", "HIV infection"]]),
        (["Tumor", "Tumors", "Tümor", "Tuemor"], [["Tuemor", "Tümor"], ["Tumor", "Tumors"]]),
        (["flu", "bird flu", "cold"], []),
        (["I10", "I11", "J45"], []),
    ],
)
def test_spellings_plurals_and_longer_names_look_alike(values, groups) -> None:
    assert look_alikes(pl.Series(values)) == groups


def test_numbers_never_look_alike() -> None:
    assert look_alikes(pl.Series([1.0, 1.5])) == []
    assert merge_values(pl.Series([1, 2]), SAME).to_list() == [1, 2]


def test_only_what_was_named_is_put_together() -> None:
    cells = pl.Series("ill", ["HIV", " HIV", "AIDS", "hiv ", "flu ", "flu", None])
    assert merge_values(cells, SAME).to_list() == ["HIV", "HIV", "HIV", "HIV", "flu ", "flu", None]
    assert merge_values(cells, ()) is cells


def test_groups_are_read_from_one_text_or_several() -> None:
    assert same_groups("HIV=AIDS,HIV infection") == ["HIV=AIDS,HIV infection"]
    assert same_groups("HIV=AIDS,flu=grippe,influenza") == ["HIV=AIDS", "flu=grippe,influenza"]
    assert same_groups(['"a=b,c"', "d=e"]) == ["a=b,c", "d=e"]
    assert same_values(["a=b,c"]) == {"b": "a", "c": "a"}


@pytest.mark.parametrize("wrong", ["HIV", "=AIDS", "HIV=", "a=b,d=b", "a=b,b=c"])
def test_wrong_groups_are_refused(wrong) -> None:
    with pytest.raises(ParameterError, match="same "):
        same_groups(wrong)
    with pytest.raises(PlanError, match="same "):
        Plan.from_toml(f'[release]\nsame = ["{wrong}"]')


@pytest.mark.parametrize("rule", [{"l": 2}, {"t": 0.3}, {"beta": 1.0}])
def test_the_rules_and_the_check_count_them_as_one(rule) -> None:
    asked = {"quasi": ["age", "sex"], "sensitive": "ill", "k": 3, "seed": 1, **rule}
    with pytest.warns(ShoalWarning, match="differ from another one by nothing but spaces"):
        apart = shoal.anonymize(people(), **asked)
    together = shoal.anonymize(people(), same=SAME, **asked)
    assert together.verdict.holds
    assert together.verdict.rules[1].promise.endswith(", counting named values as one (1 group)")
    assert set(together.frame["ill"]) == set(people()["ill"]), "cells are published as they were"
    # The same figures as for cells that were put together by hand.
    names = {"AIDS": "HIV", "hiv": "HIV", "HIV infection": "HIV"}
    ill = pl.col("ill").str.strip_chars().replace(names)
    plain = Plan.from_toml(together.plan.to_toml()).changed({"release": {"same": []}})
    for release in (apart, together):
        by_hand = shoal.audit(release.frame.with_columns(ill), plan=plain)
        verdict = shoal.audit(release.frame, plan=together.plan)
        assert verdict.achieved == by_hand.achieved
        assert verdict.holds is by_hand.holds
    if "l" in rule:
        assert not shoal.audit(apart.frame, plan=together.plan).holds


@pytest.mark.parametrize(
    ("values", "same", "found"),
    [
        ([1, 2, 3, None], ["1=2"], [1, 1, 3, None]),
        ([1.0, 2.0, 2.5], ["9=1,2.50"], [9.0, 2.0, 9.0]),
        ([1, 2, 3], ["low=1,2", "x=y"], [1, 1, 3]),
        ([True, False, None], ["False=true"], [False, False, None]),
        ([date(2024, 1, 2), date(2024, 1, 3)], ["2024-01-03=2024-01-02"], [date(2024, 1, 3)] * 2),
        ([["a"], ["b"]], ["a=b"], [["a"], ["b"]]),
    ],
)
def test_values_that_are_no_texts_count_as_one_too(values, same, found) -> None:
    assert merge_values(pl.Series("ill", values), same).to_list() == found


def test_a_value_that_nobody_has_is_named() -> None:
    asked = {"quasi": ["age", "sex"], "sensitive": "ill", "k": 3, "l": 2, "seed": 2**90}
    with pytest.warns(ShoalWarning, match="'AIDSS' counts as another value, and no sensitive"):
        shoal.anonymize(people(), same=["HIV=AIDSS,HIV infection,hiv"], **asked)


def test_numbers_of_diagnoses_that_count_as_one_hide_nobody_behind_each_other() -> None:
    frame = pl.DataFrame({"age": [30] * 4 + [60] * 4, "ill": [1, 2, 2, 3, 1, 5, 7, 8]})
    asked = {"quasi": "age", "sensitive": "ill", "k": 4, "l": 2, "seed": 2**90}
    apart = shoal.anonymize(frame, **asked)
    assert apart.frame["age"].n_unique() == 2
    together = shoal.anonymize(frame, same=["1=2,3"], **asked)
    assert together.frame["age"].n_unique() == 1
    assert not shoal.audit(apart.frame, plan=together.plan).holds


def test_methods_that_publish_sets_of_values_refuse_it() -> None:
    asked = {"quasi": ["age", "sex"], "sensitive": "ill", "l": 2, "same": SAME}
    with pytest.raises(ParameterError, match="in which each counts"):
        shoal.anonymize(people(), method="dummies", **asked)


def test_look_alikes_are_shown_before_a_run() -> None:
    (note,) = shoal.inspect(people(), sensitive="ill").look_alike_notes
    assert "'HIV', 'hiv ', 'HIV infection'" in note
    assert "--same 'HIV=hiv,HIV infection'" in note
