"""``--prove``: how near a release is to the best possible, told wherever its loss is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import shoal as library
from shoal.base.errors import ParameterError
from tests.inprocess import shoal

TREE = "10;1*;*\n11;1*;*\n12;1*;*\n20;2*;*\n21;2*;*\n22;2*;*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    zips = ["10", "11", "12", "20", "21", "22"]
    cells = [(zips[i % 6], zips[i * 5 // 3 % 6], "flu" if i % 2 else "cold") for i in range(40)]
    pl.DataFrame(cells, schema=["home", "work", "disease"], orient="row").write_csv(
        tmp_path / "people.csv"
    )
    (tmp_path / "trees").mkdir()
    for name in ("home", "work"):
        (tmp_path / "trees" / f"{name}.csv").write_text(TREE)
    return tmp_path


BASE = ("people.csv", "--quasi", "home,work", "--hierarchies", "trees", "--seed", "1")
SAID = (
    r"No 4-anonymous release with these hierarchies loses less( than 0\.\d{4}: at most \d+\.\d %)?"
)


def test_terminal_figures_and_the_stewards_report_tell_it(folder: Path) -> None:
    done = shoal(
        folder, "anonymize", *BASE, "--k", "4", "--prove", "-o", "r.csv", "--json", "r.json"
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SAID, " ".join(done.stdout.split()))
    figures = json.loads((folder / "r.json").read_text())
    proof = figures["proof"]
    assert 0.0 < proof["bound"] <= figures["loss"]["rate"] + 1e-9
    assert re.search(SAID, proof["sentence"])
    assert figures["seconds"]["prove"] > 0.0
    plain = shoal(folder, "anonymize", *BASE, "--k", "4", "-o", "p.csv", "--json", "p.json")
    assert plain.returncode == 0
    assert json.loads((folder / "p.json").read_text())["proof"] is None
    assert (folder / "p.csv").read_bytes() == (folder / "r.csv").read_bytes()


def test_the_public_is_not_told(folder: Path) -> None:
    table = library.open(
        folder / "people.csv", quasi=["home", "work"], hierarchies=folder / "trees"
    )
    release = table.anonymize(k=4, seed=1, prove=True)
    assert release.proof is not None
    beside = release.with_original(table)
    for audience in ("steward", "public"):
        beside.report(folder / f"{audience}.html", audience=audience)
    assert "loses less" in (folder / "steward.html").read_text()
    assert "loses less" not in (folder / "public.html").read_text()


def test_compare_has_a_column_for_it(folder: Path) -> None:
    words = ("compare", *BASE, "--k", "4", "--methods", "shoal,mondrian", "--no-classifier")
    done = shoal(folder, *words, "--prove", "--csv", "c.csv")
    assert done.returncode == 0, done.stderr
    assert "above best" in done.stdout
    found = pl.read_csv(folder / "c.csv")
    assert found["lower_bound"].n_unique() == 1
    assert (found["above_best"] >= 0.0).all()


def test_what_cannot_be_proved_is_refused_by_name(folder: Path) -> None:
    words = (
        "--sensitive",
        "disease",
        "--method",
        "anatomy",
        "--l",
        "2",
        "--l-kind",
        "frequency",
        "--prove",
    )
    done = shoal(folder, "anonymize", *BASE, *words, "-o", "r.csv")
    assert done.returncode == 2
    assert "'anatomy' publishes every quasi-identifier" in " ".join(done.stderr.split())
    assert not (folder / "r.csv").exists()
    with pytest.raises(ParameterError, match="needs all rows in one place"):
        library.anonymize(
            folder / "people.csv", quasi=["home"], engine=library.Spark(), prove=True, k=2
        )


def test_progress_shows_the_distance_and_may_end_it(folder: Path) -> None:
    table = library.open(
        folder / "people.csv", quasi=["home", "work"], hierarchies=folder / "trees"
    )
    told: list[str] = []

    def progress(stage: str) -> bool:
        told.append(stage)
        return stage.startswith("prove:")

    release = table.anonymize(k=4, seed=1, prove=True, progress=progress)
    assert release.proof is not None
    assert release.proof.bound.stopped
    assert release.proof.bound.passes == 1
    assert re.fullmatch(r"prove: at most \d+\.\d % above the best", told[-1])
