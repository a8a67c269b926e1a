"""Anatomy on Spark: classes drawn on the driver, two tables written and checked on executors."""

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.spark import anatomizing
from tests.inprocess import shoal as command
from tests.spark.conftest import ROLES, counted, people, to_polars, to_spark

GIVEN = {**ROLES, "missing": ["?"], "method": "anatomy"}
RULES = [shoal.FrequencyLDiversity(3, "disease")]


def test_both_tables_hold_the_table_and_the_promise(spark):
    frame = people(900)
    outcome = shoal.anonymize(to_spark(spark, frame), **GIVEN, rules=RULES)
    first, second = (to_polars(outcome.tables[name]) for name in ("release", "st"))
    assert first.columns == ["age", "sex", "zip", "weight", "note", "group_id"]
    assert second.columns == ["group_id", "disease", "count"]
    kept = ["age", "zip", "note"]
    assert counted(first, kept).equals(counted(frame, kept))
    # The reference is worked out row by row, with none of the code that made or checked it.
    classes: dict[int, dict[str | None, int]] = {}
    for group, value, many in second.iter_rows():
        assert value not in classes.setdefault(group, {})
        classes[group][value] = many
    sizes = dict(first["group_id"].value_counts().iter_rows())
    assert sizes == {group: sum(values.values()) for group, values in classes.items()}
    for group, own in classes.items():
        assert max(many for value, many in own.items() if value is not None) * 3 <= sizes[group]
    total = second.group_by("disease").agg(pl.col("count").sum()).sort("disease")
    truth = frame.group_by("disease").agg(pl.len().cast(pl.Int64).alias("count")).sort("disease")
    assert total.equals(truth)
    assert outcome.made.verdict.holds and outcome.made.groups == len(classes)
    # Drawn afresh, and not in the order of the input.
    again = to_polars(shoal.anonymize(to_spark(spark, frame), **GIVEN, rules=RULES).frame)
    assert not again.sort("note", "age", "group_id").equals(first.sort("note", "age", "group_id"))
    labels = first.sort("note", "age", "zip")["group_id"].to_numpy()
    assert abs(np.corrcoef(labels[1:], labels[:-1])[0, 1]) < 0.2


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_command_writes_both_and_audits_them(spark, tmp_path, ending):
    people(200).write_parquet(tmp_path / "in.parquet")
    words = ["anonymize", "in.parquet", "--engine", "spark", "--method", "anatomy", "--l", "2"]
    words += ["--l-kind", "frequency", "--quasi", "age,sex,zip", "--sensitive", "disease"]
    words += ["--missing", "?", "-o", f"r.{ending}", "--report", "r.html"]
    done = command(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert (
        f"Wrote r.{ending} and r.st.{ending} and r.{ending}.manifest.json and r.html."
        in done.stdout
    )
    told = json.loads((tmp_path / f"r.{ending}.manifest.json").read_text())
    assert set(told["files"]) == {f"r.{ending}", f"r.st.{ending}"}
    audit = command(tmp_path, "audit", f"r.{ending}", *words[6:12])
    assert audit.returncode == 0, audit.stdout + audit.stderr
    done = command(tmp_path, *words)
    assert done.returncode == 2
    assert "already exists" in done.stderr
    for name in (f"r.{ending}", "r.html"):
        (tmp_path / name).unlink()
    done = command(tmp_path, *words)  # the second table is still there
    assert done.returncode == 2
    assert f"r.st.{ending} already exists" in "".join(done.stderr.split("\n"))


def test_a_wrong_second_table_is_not_handed_over(spark, tmp_path, monkeypatch):
    second = anatomizing._second

    def wrong(staged, layout, index, name):
        table = second(staged, layout, index, name)
        return table.withColumn("count", table["count"] + (table["group_id"] == 1).cast("bigint"))

    monkeypatch.setattr(anatomizing, "_second", wrong)
    engine = shoal.Spark(out=str(tmp_path / "out"))
    with pytest.raises(shoal.NotVerified, match="have another number of rows in the first table"):
        shoal.anonymize(to_spark(spark, people(90)), **GIVEN, rules=RULES, engine=engine)
    assert not list(tmp_path.iterdir())


def test_nothing_but_cells_of_columns_with_any_name(spark, tmp_path):
    """Spark takes a dot for a part of a column, and carries what its owner noted along."""
    frame = people(60).rename({"disease": "ill.of `it`"})
    moments = pl.datetime_range(pl.datetime(2020, 1, 1), pl.datetime(2020, 1, 3), "1h", eager=True)
    frame = frame.with_columns(
        seen=moments.head(5)
        .dt.replace_time_zone("Europe/Berlin")
        .sample(60, with_replacement=True, seed=1)
    )
    table = to_spark(spark, frame)
    noted = {name: {"comment": "as Mr Smith said"} for name in ("age", "note", "seen")}
    table = table.select(
        *(table[f"`{n.replace('`', '``')}`"].alias(n, metadata=noted.get(n)) for n in frame.columns)
    )
    assert table.schema["age"].metadata
    given = {**GIVEN, "sensitive": ["ill.of `it`"], "other": ["note", "seen"]}
    out = tmp_path / "out"
    outcome = shoal.anonymize(
        table,
        **given,
        rules=[shoal.FrequencyLDiversity(2, "ill.of `it`")],
        engine=shoal.Spark(out=str(out)),
    )
    assert outcome.tables["st"].columns == ["group_id", "ill.of `it`", "count"]
    assert not any(field.metadata for field in outcome.frame.schema)
    assert not any(b"Smith" in part.read_bytes() for part in tmp_path.rglob("part-*"))
    seen = to_polars(outcome.frame)["seen"].dt.convert_time_zone("Europe/Berlin")
    assert seen.sort().to_list() == frame["seen"].sort().to_list()


def test_what_anatomy_refuses(spark):
    table = to_spark(spark, people(60))
    with pytest.raises(shoal.ParameterError, match="takes no seed on Spark"):
        shoal.anonymize(table, **GIVEN, rules=RULES, seed=1)
    with pytest.raises(shoal.ParameterError, match="publishes every quasi-identifier as it is"):
        shoal.anonymize(table, **GIVEN, rules=RULES, slack=0.5)
    with pytest.raises(shoal.Infeasible, match="disease"):
        shoal.anonymize(table, **GIVEN, rules=[shoal.FrequencyLDiversity(6, "disease")])
    rules = [shoal.FrequencyLDiversity(2, "disease")]
    with pytest.raises(shoal.ParameterError, match=r"a class for each of 60 rows in one place"):
        shoal.anonymize(table, **GIVEN, rules=rules, engine=shoal.Spark(driver_bytes=100))
    with pytest.raises(shoal.SchemaError, match="'group_id' already"):
        named = to_spark(spark, people(60).rename({"note": "group_id"}))
        shoal.anonymize(named, **{**GIVEN, "other": ["group_id"]}, rules=RULES)
    with pytest.raises(shoal.SchemaError, match="the table has 'Count' already"):
        named = to_spark(spark, people(60).rename({"note": "Count"}))
        shoal.anonymize(named, **{**GIVEN, "other": ["Count"]}, rules=RULES)
    roles = {**GIVEN, "sensitive": ["disease", "note"], "other": []}
    with pytest.raises(shoal.ParameterError, match="protects one sensitive column by one rule"):
        shoal.anonymize(table, **roles, rules=RULES)
