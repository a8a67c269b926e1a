"""An input is read once: its digest is that of the bytes that its rows came from."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.tables.files import read_file
from shoal.verbs.provenance import keyed_digest

FRAME = pl.DataFrame(
    {"age": [20 + i % 20 for i in range(40)], "ill": ["flu", "cold"] * 20, "pay": [1.5] * 40}
)
pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
COUNTING = """
import os, sys
log = os.open("opened", os.O_CREAT | os.O_WRONLY)
def count(event, args):
    if event == "open" and str(args[0]).endswith("t.csv"):
        os.write(log, b".")
sys.addaudithook(count)
from shoal.cli.main import main
sys.argv = ["shoal", *sys.argv[1:]]
main()
"""


def test_a_run_with_a_report_opens_its_input_once_to_read_it(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    words = ["anonymize", "t.csv", "--quasi", "age", "--sensitive", "ill", "--k", "4"]
    words += ["-o", "r.csv", "--report", "r.html", "--json", "f.json"]
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # Its first bytes say that it is no database, then it is read.
    assert (tmp_path / "opened").read_text() == ".."
    assert (
        hashlib.sha256((tmp_path / "t.csv").read_bytes()).hexdigest()
        in (tmp_path / "r.html").read_text()
    )


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "xlsx", "sav"])
def test_the_digest_is_of_the_bytes_that_were_read(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"t.{ending}"
    shoal.write_table(FRAME, file)
    frame, digest = read_file(file)
    assert frame.equals(FRAME, null_equal=True) or frame.shape == FRAME.shape
    assert digest == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_is_replaced_after_it_was_read_is_not_hashed(
    tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"t.{ending}"
    shoal.write_table(FRAME, file)
    table = shoal.open(file, quasi="age", sensitive="ill")
    before = hashlib.sha256(file.read_bytes())
    shoal.write_table(FRAME.with_columns(age=pl.lit(99)), file, force=True)
    release = table.anonymize(k=4, seed=5)
    release.write(tmp_path / "r.csv")
    told = json.loads((tmp_path / "r.csv.manifest.json").read_text())["keyed"]["file"]
    assert told == keyed_digest(release.made.marks.key, "file", before.digest())


def test_an_audit_compares_the_digest_of_what_it_read(tmp_path: Path, monkeypatch) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    shoal.anonymize(tmp_path / "t.csv", quasi="age", k=4, seed=5).write(tmp_path / "r.csv")
    good = (tmp_path / "r.csv").read_bytes()
    shoal.anonymize(tmp_path / "t.csv", quasi="age", k=4, seed=6).write(tmp_path / "other.csv")
    (tmp_path / "r.csv").write_bytes((tmp_path / "other.csv").read_bytes())
    audited = shoal.Release.audit

    def swapped(self, **asked):
        (tmp_path / "r.csv").write_bytes(good)  # the file of the manifest, but not what was read
        return audited(self, **asked)

    monkeypatch.setattr(shoal.Release, "audit", swapped)
    verdict = shoal.audit(tmp_path / "r.csv", manifest=tmp_path / "r.csv.manifest.json")
    assert not verdict.holds
    assert any("SHA-256 differs" in fault for fault in verdict.faults)
