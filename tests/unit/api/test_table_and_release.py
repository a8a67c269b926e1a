"""A table that was opened, a release that was, and the functions over both."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.base.errors import OutputError, ParameterError, PlanError, ShoalError

ROWS = 60


def people(rows: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "job": rng.choice(["SECRETJOB1", "SECRETJOB2", "SECRETJOB3"], rows),
            "ill": rng.choice(["flu", "cold", "gout"], rows),
        }
    )


@pytest.fixture
def table() -> shoal.Table[pl.DataFrame]:
    return shoal.open(people(), quasi=["age", "sex"], sensitive="ill")


@pytest.fixture
def release(table: shoal.Table[pl.DataFrame]) -> shoal.Release[pl.DataFrame]:
    return table.anonymize(k=4, method="mondrian")


def test_a_text_is_one_column_and_a_rule_is_a_list_of_one() -> None:
    frame = people().with_columns(a=pl.lit(1), g=pl.lit(1), e=pl.lit(1))
    verdict = shoal.audit(frame, quasi="age", rules=shoal.KAnonymity(2))
    assert not verdict.holds
    assert verdict.classes == frame["age"].n_unique()
    assert [result.promise for result in verdict.rules] == [shoal.KAnonymity(2).describe()]
    assert shoal.inspect(frame, quasi="age").schema.quasi == ("age",)
    assert shoal.risk(frame, quasi="age").quasi == ("age",)
    assert shoal.open_release(frame, quasi="age", sensitive="ill").local_tables.sensitive == ["ill"]
    made = shoal.anonymize(frame, quasi="age", rules=shoal.KAnonymity(3), method="mondrian")
    assert made.achieved["k"] >= 3
    assert shoal.estimate(made.frame.with_columns(people()["ill"]), "ill", "age:10").counts.by == (
        "age",
    )


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table, pl.DataFrame])
def test_a_frame_comes_back_as_the_kind_it_was(kind: type) -> None:
    given = {pd.DataFrame: people().to_pandas, pa.Table: people().to_arrow, pl.DataFrame: people}
    release = shoal.open(given[kind](), quasi="age").anonymize(k=3, method="mondrian")
    assert type(release.frame) is kind
    assert type(shoal.open_release(release.frame, quasi="age").frame) is kind


@pytest.mark.slow
def test_a_release_holds_nothing_of_the_original() -> None:
    class Frame(pd.DataFrame):
        """Can be watched."""

    frame = Frame(people().to_pandas())
    frame["job"] = frame["job"].astype("category")
    watched = weakref.ref(frame)
    table = shoal.open(frame, quasi=["age", "sex"], sensitive="ill")
    release = table.anonymize(k=4, method="mondrian")
    assert release.original is None
    inner = weakref.ref(table.frame)
    del frame, table
    gc.collect()
    assert watched() is None
    assert inner() is None
    assert "SECRETJOB" not in repr(vars(release))
    assert type(release.frame) is pd.DataFrame


@pytest.mark.slow
def test_what_compares_needs_the_release_beside_its_original(
    table: shoal.Table[pl.DataFrame], release: shoal.Release[pl.DataFrame]
) -> None:
    with pytest.raises(ParameterError, match=r"release\.with_original\(table\)\.attack"):
        release.attack()
    both = release.with_original(table)
    assert release.risk().before is None
    assert both.risk().before is not None
    assert both.attack(known="age", seed=1).known == ("age",)
    assert release.plot.missing().table.width == 2
    assert both.plot.missing().table.width == 3
    assert both.audit(k=4).holds
    wrong = release.with_original(people().with_columns(age=pl.lit(1)))
    assert not wrong.audit(k=4).holds


@pytest.mark.slow
def test_an_opened_release_is_asked_like_a_made_one(
    table: shoal.Table[pl.DataFrame], release: shoal.Release[pl.DataFrame], tmp_path: Path
) -> None:
    release.write(tmp_path / "x.csv")
    with pytest.raises(OutputError, match="already exists"):
        release.write(tmp_path / "x.csv")
    opened = shoal.open_release(tmp_path / "x.csv", original=table)
    assert opened.local_tables.quasi == ["age", "sex"]  # as the table declares them
    assert opened.shape == release.shape == "generalized"
    assert opened.audit(k=4).achieved == release.achieved
    assert sorted(np.bincount(opened.classes)) == sorted(np.bincount(release.classes))
    assert opened.attack(seed=1).to_dict() == release.with_original(table).attack(seed=1).to_dict()
    assert opened.verdict.rules[0].name == "k-anonymity"
    assert json.loads(opened.to_json())["shape"] == "generalized"
    opened.report(tmp_path / "x.html")
    assert "Attacks that were tried" in (tmp_path / "x.html").read_text()
    with pytest.raises(ShoalError, match="is not known: it was opened"):
        _ = opened.loss


def test_two_tables_are_written_and_opened(tmp_path: Path) -> None:
    rules = shoal.FrequencyLDiversity(2, "ill")
    made = shoal.anonymize(
        people(), quasi=["age", "sex"], sensitive="ill", rules=rules, method="anatomy"
    )
    made.write(tmp_path / "x.parquet")
    assert (tmp_path / "x.st.parquet").exists()
    opened = shoal.open_release(tmp_path / "x.parquet", quasi=["age", "sex"])
    assert opened.shape == "anatomized"
    assert set(opened.tables) == {"release", "st"}
    assert opened.audit(rules=rules).holds
    assert opened.ask("ill").values("ill") == ("cold", "flu", "gout")
    made.write(f"sqlite:{tmp_path}/x.db#out")
    assert shoal.open_release(f"sqlite:{tmp_path}/x.db#out", quasi="age").shape == "anatomized"


def test_flags_of_the_command_line_are_arguments(table: shoal.Table[pl.DataFrame]) -> None:
    made = table.anonymize(k=3, l=2, l_kind="entropy", t=0.9, method="mondrian")
    assert [part.name for part in made.plan.rules] == [
        "k-anonymity",
        "entropy-l-diversity",
        "t-closeness",
    ]
    assert made.audit(alpha=1.0, k=3).holds
    with pytest.raises(ParameterError, match="--l-kind only refines a rule"):
        table.anonymize(l_kind="entropy")
    with pytest.raises(PlanError, match="mondrian"):
        table.anonymize(method="mondrian", effort="max")


def test_an_argument_that_nobody_declared_is_refused(table: shoal.Table[pl.DataFrame]) -> None:
    unknown = "unexpected keyword argument 'kk'"
    for call in (
        table.anonymize,
        table.compare,
        shoal.open_release(table.frame, quasi="age").audit,
    ):
        with pytest.raises(TypeError, match=unknown):
            call(kk=0)
    for function in (shoal.open, shoal.inspect, shoal.anonymize):
        with pytest.raises(TypeError, match=unknown):
            function(table.frame, quasi="age", kk=None)


def test_kinds_and_importance_are_arguments() -> None:
    table = shoal.open(people(), quasi=["age", "sex"], kind={"age": "set"}, importance={"sex": 3.0})
    assert table.schema["age"].kind is shoal.Kind.SET
    assert table.schema["sex"].importance == 3.0
    with pytest.raises(PlanError, match="kind of column 'agee' was given, and the column has no"):
        shoal.open(people(), quasi="age", kind={"agee": "set"})
    with pytest.raises(PlanError, match="must be one of"):
        shoal.open(people(), quasi="age", kind={"age": "circle"})


def test_time_is_limited_where_a_method_can_end_early(table: shoal.Table[pl.DataFrame]) -> None:
    assert table.anonymize(k=4, time_limit=0.0).achieved["k"] >= 4
    told = r"'mondrian' cannot be ended with the best so far.*shoal"
    with pytest.raises(ParameterError, match=told):
        table.anonymize(k=4, method="mondrian", time_limit=5)
    with pytest.raises(ParameterError, match="time_limit"):
        table.anonymize(k=4, time_limit=-1)


@pytest.mark.slow
def test_results_say_themselves_in_a_line_and_in_a_notebook(
    table: shoal.Table[pl.DataFrame], release: shoal.Release[pl.DataFrame]
) -> None:
    both = release.with_original(table)
    seeded = table.anonymize(k=4, method="mondrian", seed=987654321)
    compared = table.compare(methods="mondrian", k=[2, 4], queries=0, classifier=False)
    results = [table, release, seeded, both, release.verdict, release.risk(), both.attack()]
    results += [release.estimate("ill", "sex"), table.inspect(), compared]
    for result in results:
        assert "\n" not in repr(result)
        assert len(repr(result)) < 300, repr(result)
        assert "987654321" not in repr(result)
        assert "SECRETJOB" not in repr(result)
        html = result._repr_html_()
        assert html.lstrip().startswith("<")
        assert "SECRETJOB" not in html
    assert shoal.open(people()["age", "sex"], quasi="age").inspect() is not None


def test_the_catalog_and_the_makers_are_public() -> None:
    assert shoal.methods()["shoal"].anytime
    assert "k-anonymity" in repr(shoal.rules())
    assert "l_kind=" in shoal.rules()._repr_html_()
    tree = shoal.hierarchies.intervals([1, 2, 3, 40], widths=[10, 50])
    assert isinstance(tree, shoal.Taxonomy)
