"""Folders and files in and out through the real command, and what is left when a task dies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from tests.ext.spark.conftest import ROLES, counted, people, to_spark
from tests.golden.runs import DIGESTS, RUNS, SEED, digest_of_rows, prepare

TEXT = """when,zip,size,name,who,note
2020-01-01,007,1.50,"a ""b"", c",NA,1
2020-01-02,012,nan,"line
break",x,2
"""


def table(rows=60):
    lines = [
        f"2020-01-{1 + i % 9:02},0{i % 3}7,{i % 4}.50,n{i % 2},x{i % 5},{i}" for i in range(rows)
    ]
    return TEXT + "\n".join([*lines, "2020-01-02,007, ? ,NA,?,0"]) + "\n"


GIVEN = {
    "quasi": ["when", "zip", "size", "name"],
    "sensitive": ["who"],
    "keep": ["note"],
    "missing": ["?", "NA"],
    "k": 3,
    "method": "mondrian",
    "seed": 3,
}


@pytest.mark.filterwarnings("ignore:The sets of values in column")
def test_csv_is_read_and_written_as_the_local_engine_does(spark, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text(table())
    (folder / "b.csv").write_text(table(30))
    whole = pl.concat([shoal.read_table(folder / f"{x}.csv", missing=["?", "NA"]) for x in "ab"])
    local = shoal.anonymize(whole, **GIVEN)
    out = tmp_path / "out"
    outcome = shoal.anonymize(folder, **GIVEN, engine=shoal.Spark(out=str(out)))
    released = pl.concat([shoal.read_table(path) for path in sorted(out.glob("*.csv"))])
    assert outcome.loss.rate == pytest.approx(local.loss.rate)
    assert {name: released[name].dtype for name in ("note", "who")} == {
        name: local.frame[name].dtype for name in ("note", "who")
    }
    quasi = GIVEN["quasi"]
    assert counted(released, quasi).equals(counted(local.frame, quasi))
    assert sorted(released["note"]) == sorted(whole["note"])
    assert released["who"].null_count() == whole["who"].null_count() == 4
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


def test_odd_names_and_one_file(spark, tmp_path):
    frame = people(60).rename({"age": 'a.`ge, "x"', "note": "Ünit [%]"})
    frame.write_parquet(tmp_path / "in.parquet")
    out = tmp_path / "release.parquet"
    roles = {**ROLES, "quasi": ['a.`ge, "x"', "sex"], "keep": ["Ünit [%]"]}
    engine = shoal.Spark(out=str(out))
    shoal.anonymize(tmp_path / "in.parquet", **roles, k=3, method="mondrian", engine=engine)
    released = pl.read_parquet(out)
    assert released.columns == ['a.`ge, "x"', "sex", "disease", "Ünit [%]"]
    assert released.height == 60
    with pytest.raises(shoal.OutputError, match=r"already exists\. Choose another name, or allow"):
        shoal.anonymize(tmp_path / "in.parquet", **roles, k=3, engine=engine)
    before = out.read_bytes()
    engine = shoal.Spark(out=str(out), force=True)
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(tmp_path / "in.parquet", **roles, k=61, engine=engine)
    assert out.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet", "release.parquet"}


def deadly(spark, frame, marker, *, always):
    """A table whose last piece kills the worker that reads it: once, or every time."""

    def kill(batches):
        for batch in batches:
            if 59 in batch.column("id").to_pylist() and (always or not Path(marker).exists()):
                Path(marker).touch()
                os._exit(1)
            yield batch

    made = to_spark(spark, frame).repartition(3, "id")
    return made.mapInArrow(kill, made.schema)


def test_a_killed_task_is_run_again_and_nothing_is_lost(spark, tmp_path):
    frame = people(60)
    marker = tmp_path / "killed"
    out = tmp_path / "out"
    engine = shoal.Spark(out=str(out))
    given = {**ROLES, "k": 3, "method": "mondrian", "seed": 1, "engine": engine}
    outcome = shoal.anonymize(deadly(spark, frame, str(marker), always=False), **given)
    assert marker.exists()
    assert outcome.made.rows_out == 60
    released = pl.concat([pl.read_parquet(path) for path in out.glob("*.parquet")])
    assert sorted(released["note"]) == sorted(frame["note"])
    assert {path.name for path in tmp_path.iterdir()} == {"killed", "out"}


def test_a_task_that_dies_every_time_leaves_nothing(spark, tmp_path):
    engine = shoal.Spark(out=str(tmp_path / "out"))
    marker = str(tmp_path / "killed")
    with pytest.raises(shoal.ShoalError, match=r"Spark gave up: .* nothing was written"):
        shoal.anonymize(
            deadly(spark, people(60), marker, always=True),
            **ROLES,
            k=3,
            engine=engine,
        )
    assert {path.name for path in tmp_path.iterdir()} == {"killed"}


def test_a_table_that_changes_meanwhile_is_not_released(spark):
    def anew(batches):
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            place = batch.schema.get_field_index("note")
            drawn = np.frombuffer(os.urandom(8 * batch.num_rows), np.int64)
            yield batch.set_column(place, "note", pa.array(drawn))

    made = to_spark(spark, people(60))
    unstable = made.mapInArrow(anew, made.schema)
    with pytest.raises(shoal.NotVerified, match="rows that were staged are not the 60 rows"):
        shoal.anonymize(unstable, **ROLES, missing=["?"], k=3, method="mondrian")


def test_the_command(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    command = str(Path(sys.executable).with_name("shoal"))
    base = [command, "anonymize", "in.parquet", "--quasi", "age,zip", "--k", "3"]

    def run(*words, **environment):
        return subprocess.run(
            [*base, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **environment},
        )

    people(60).write_parquet(tmp_path / "in.parquet")
    done = run("-o", "out", "--engine", "spork")
    assert done.returncode == 2
    assert "--engine must be one of 'local', 'spark'" in " ".join(done.stderr.split())
    done = run("-o", "out.csv", "--master", "local[2]")
    assert "are for Spark, and the engine is local" in " ".join(done.stderr.split())
    nowhere = tmp_path / "no-java"
    done = run("-o", "out", "--engine", "spark", JAVA_HOME=str(nowhere))
    assert done.returncode == 2
    assert "Spark needs Java 17 or newer" in done.stderr
    assert "apt-get install openjdk-17-jre-headless" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_folder(spark, tmp_path):
    people(60).write_parquet(tmp_path / "in.parquet")
    command = str(Path(sys.executable).with_name("shoal"))
    words = "anonymize in.parquet --quasi age,zip --k 3 --method mondrian --engine spark"
    done = subprocess.run(
        [command, *words.split(), "--master", "local[2]", "-o", "out", "--json", "run.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Verified: every class has at least 3 rows" in done.stdout
    assert json.loads((tmp_path / "run.json").read_text())["notes"]["engine"] == "spark"
    released = pl.concat([pl.read_parquet(path) for path in (tmp_path / "out").glob("*.parquet")])
    assert released.height == 60
    assert {path.name for path in tmp_path.iterdir()} == {
        "in.parquet",
        "out",
        "out.manifest.json",
        "run.json",
    }


def test_a_release_of_a_fixed_seed_keeps_its_bytes(spark, tmp_path):
    """A run of the list of outcomes, and its options, in the session that is there."""
    prepare(tmp_path)
    data, *words = RUNS["demo with trees: mondrian"]
    flags = (flag.removeprefix("--") for flag in words[::2])
    asked = dict(zip(flags, words[1::2], strict=True))
    assert asked.pop("k") == "5"
    out = tmp_path / "out.parquet"
    roles = {role: asked.pop(role).split(",") for role in ("identifier", "sensitive", "quasi")}
    trees = tmp_path / asked.pop("hierarchies")
    engine = shoal.Spark(out=str(out))
    given = {**roles, **asked, "k": 5, "seed": SEED, "hierarchies": trees, "engine": engine}
    shoal.anonymize(tmp_path / data, **given)
    assert digest_of_rows(out) == json.loads(DIGESTS.read_text())["spark: mondrian"]


def test_without_the_library(tmp_path):
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import shoal\n"
        "try: shoal.anonymize('x', quasi=['a'], engine=shoal.Spark())\n"
        "except shoal.MissingExtra as fault: print(fault)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'shoal[spark]'" in done.stdout
