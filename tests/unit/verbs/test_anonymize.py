"""Runs in the library: frames of every kind, odd tables, nothing unverified."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal.base.errors import Infeasible, NotVerified, PlanError, SchemaError, ShoalWarning
from shoal.catalog import METHODS
from shoal.groupers.shoal.search import IMPROVEMENTS, STARTS
from shoal.privacy import KAnonymity
from shoal.releases.generalized import make
from shoal.verbs import anonymize as run


def people(rows: int = 30) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(["A", "B", "C", None], rows).tolist(),
            "ill": rng.choice(["flu", "cold"], rows),
        }
    )


def go(frame: Any, **more: Any) -> shoal.Release:
    options = {"quasi": ["age", "town"], "sensitive": "ill", "k": 3, "seed": 1}
    return shoal.anonymize(frame, **(options | more))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_frame_comes_back_as_its_kind_and_is_not_changed(kind: str) -> None:
    frame = people()
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[kind]
    copy = given.copy(deep=True) if kind == "pandas" else given
    outcome = go(given)
    assert type(outcome.frame) is type(given)
    if kind == "pandas":
        pd.testing.assert_frame_equal(given, copy)
    table = outcome.frame if kind == "polars" else pl.DataFrame(pa.table(outcome.frame))
    assert_frame_equal(pl.DataFrame(table), go(frame).frame)
    assert outcome.achieved["k"] >= 3


@pytest.mark.slow
def test_the_same_seed_repeats_and_no_seed_shuffles() -> None:
    frame = people(60)
    assert_frame_equal(go(frame).frame, go(frame).frame)
    free = [go(frame, seed=None).frame for _ in range(2)]
    assert not free[0].equals(free[1])


def test_an_outcome_plan_repeats_the_run() -> None:
    outcome = go(people(), method="k-member", options={"seeds": "furthest"})
    again = shoal.anonymize(
        people(), plan=shoal.Plan.from_toml(outcome.plan.to_toml()).changed({"seed": 1})
    )
    assert_frame_equal(again.frame, outcome.frame)
    assert outcome.plan.columns["age"].kind == "ordered"


def test_rules_can_be_given_as_values() -> None:
    outcome = go(people(), k=None, rules=[shoal.All((KAnonymity(4), KAnonymity(5)))])
    assert outcome.achieved["k"] >= 5
    assert [part.spec["k"] for part in outcome.plan.rules] == [4, 5]


@pytest.mark.slow
def test_the_figures_are_json_without_values_or_seed() -> None:
    text = go(people(), seed=123456789).to_json()
    figures = json.loads(text)
    assert figures["rows_in"] == figures["rows_out"] == 30
    assert "123456789" not in text
    assert "flu" not in text


def test_infeasible_before_any_work() -> None:
    with pytest.raises(Infeasible, match=r"k=31 cannot be met.*the largest k possible is 30"):
        go(people(), k=31)


def test_nothing_unverified_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    real = make.publish

    def leaky(*given: Any, **options: Any) -> Any:
        tables, rows = real(*given, **options)
        frame = tables["release"]
        first = pl.Series("town", ["leak", *frame["town"].to_list()[1:]])
        return {"release": frame.with_columns(first)}, rows

    monkeypatch.setattr(make, "publish", leaky)
    with pytest.raises(NotVerified, match="was not handed over"):
        go(people())


def test_what_is_not_declared_is_not_released() -> None:
    outcome = shoal.anonymize(people(), quasi="age", k=2)
    assert outcome.frame.columns == ["age"]


def test_guessed_roles_are_said() -> None:
    frame = people().rename({"ill": "disease"}).with_columns(note=pl.lit("x"))
    with (
        pytest.warns(ShoalWarning, match="Roles were guessed"),
        pytest.warns(ShoalWarning, match="1 column is not released, because nobody .*'note'"),
    ):
        outcome = shoal.anonymize(frame, k=2)
    assert outcome.frame.columns == ["age", "town", "disease"]
    assert any("guessed" in text for text in outcome.warnings)
    with pytest.raises(SchemaError, match="none could be guessed"):
        shoal.anonymize(frame.select("note"), k=2)


def test_two_roles_and_unknown_hierarchies_are_refused() -> None:
    with pytest.raises(PlanError, match="2 roles"):
        go(people(), sensitive="age")
    with pytest.raises(SchemaError, match=r"no column 'towm'.*Did you mean 'town'"):
        go(people(), hierarchies={"towm": shoal.Taxonomy.from_rows([("A", "*")], "town")})


def test_identical_rows_lose_nothing() -> None:
    frame = pl.DataFrame({"age": [30] * 12, "town": ["A"] * 12, "ill": ["flu"] * 12})
    outcome = go(frame)
    assert outcome.loss.rate == 0
    assert outcome.frame["age"].cast(pl.String).unique().to_list() == ["30"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        name
        for name, entry in METHODS.items()
        if not entry.needs and "k-anonymity" in (entry.rules or ["k-anonymity"])
    ],
)
def test_odd_but_legal(method: str) -> None:
    rows = 12
    empty = pl.DataFrame({"age": [None] * rows, "town": ["A", "B"] * 6, "ill": ["x"] * rows})
    with pytest.warns(ShoalWarning, match="'age'"):
        outcome = go(empty.with_columns(pl.col("age").cast(pl.Int64)), method=method)
    assert outcome.made.rows_out == rows
    mixed = pl.DataFrame({"age": ["1", "2", "old"] * 4, "town": ["*", "[1-2]", "{a}"] * 4})
    with pytest.warns(ShoalWarning, match="old"):
        outcome = shoal.anonymize(mixed, quasi=["age", "town"], k=2, seed=1, method=method)
    assert outcome.verdict.holds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The seed of this run is short")
        whole = go(people(12), k=12, method=method)
        assert whole.made.groups == 1
        assert shoal.anonymize(people(), quasi="age", k=2, method=method).achieved["k"] >= 2


def test_progress_names_the_stages() -> None:
    heard: list[str] = []
    go(people(), progress=heard.append, method="kaim")
    assert [stage for stage in heard if stage != "compile"] == list(run.STAGES[:-1])


def test_enough_is_said_while_a_method_refines() -> None:
    heard: list[str] = []

    def enough(stage: str) -> bool:
        heard.append(stage)
        return True

    assert go(people(), progress=enough, method="shoal").verdict.holds
    # Every stage that makes or improves groups asks once, and then ends.
    assert 1 <= heard.count("refine") <= len(STARTS) + len(IMPROVEMENTS)


def test_audit_and_inspect_in_the_library() -> None:
    outcome = go(people())
    verdict = shoal.audit(outcome.frame, quasi=["age", "town"], k=3, original=people())
    assert verdict.holds, verdict.faults
    assert not shoal.audit(people(), quasi=["age", "town"], k=3).holds
    found = shoal.inspect(people(), quasi=["age", "town"])
    lone = people().group_by("age", "town").len().filter(pl.col("len") == 1).height
    assert found.unique == lone
    assert found.vmr == people()["town"].null_count() / 60
    assert found.rmr == people()["town"].null_count() / 30
