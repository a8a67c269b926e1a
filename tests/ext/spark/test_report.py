"""A report of a run on Spark: the release and its table come here, if they fit."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import shoal
from tests.ext.spark.conftest import ROLES, counted, people, to_polars, to_spark
from tests.inprocess import shoal as command

WORDS = ["--quasi", "age,sex,zip,weight", "--sensitive", "disease", "--keep", "note"]
WORDS += ["--k", "4", "--method", "mondrian", "--missing", "?", "--seed", "12345678901234567890"]


def test_the_report_is_that_of_the_local_engine(spark, tmp_path):
    people(300).write_parquet(tmp_path / "in.parquet")
    pages = []
    for engine in ("local", "spark"):
        named = ["-o", f"{engine}.parquet", "--report", f"{engine}.html", "--json", "-"]
        words = ["anonymize", "in.parquet", *WORDS, "--engine", engine, *named]
        done = command(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        figures = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
        page = (tmp_path / f"{engine}.html").read_text()
        assert figures["manifest"]["files"][f"{engine}.parquet"]["sha256"] in page
        pages.append((page, figures))
    assert not (tmp_path / "-").exists()
    (local, one), (there, other) = pages
    for name in ("loss", "exposure", "read_off", "achieved"):
        assert one[name] == other[name]
    # The same sections, and one more with what the engine notes.
    assert set(_headings(there)) - set(_headings(local)) == {"notes"}
    assert set(_headings(local)) < set(_headings(there))
    assert len(_headings(local)) > 5


def _headings(page: str) -> list[str]:
    return re.findall(r'<h2 id="(\w+)"', page)


def test_what_is_brought_is_what_was_written(spark, tmp_path):
    frame = people(200)
    given = {**ROLES, "missing": ["?"], "k": 20, "method": "mondrian"}
    engine = shoal.Spark(here=True)
    release = shoal.anonymize(to_spark(spark, frame), **given, engine=engine)
    written = to_polars(release.frame)
    assert counted(release.local_tables.frame, ["age", "zip", "note"]).equals(
        counted(written, ["age", "zip", "note"])
    )
    assert release.original is None
    kept = ["age", "zip", "note"]
    beside = release.with_original(to_spark(spark, frame))
    assert counted(beside.original, kept).equals(counted(frame.select(kept), kept))
    assert beside.risk().before.prosecutor_highest == 1
    assert release.risk().after.prosecutor_highest <= 1 / 20
    release.report(tmp_path / "report.html", audience="public")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_what_does_not_fit_is_refused_before_the_work(spark, tmp_path: Path):
    pl.DataFrame({"a": range(50)}).write_parquet(tmp_path / "in.parquet")
    words = ["anonymize", "in.parquet", "--quasi", "a", "--engine", "spark", "-o", "out"]
    done = command(tmp_path, *words, "--report", "r.html", "--driver-tuples", "40")
    assert done.returncode == 2
    assert "the table has 50 of them, more than may come here (40, or its memory)" in " ".join(
        done.stderr.split()
    )
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet"}
    release = shoal.anonymize(
        to_spark(spark, people(60)), **ROLES, k=3, method="mondrian", missing=["?"]
    )
    with pytest.raises(shoal.ShoalError, match=r"engine=shoal.Spark\(here=True\), which brings"):
        release.report(tmp_path / "r.html")
