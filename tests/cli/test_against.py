"""``shoal audit --against``: the promise over several releases, through the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Run

NOW = "age,ill\n[20-29],flu\n[20-29],cold\n[20-29],gout\n[20-29],rash\n"
OLD = "age,ill\n[20-24],flu\n[20-24],cold\n[20-24],hiv\n[25-40],flu\n[25-40],tb\n[25-40],hiv\n"
ASKED = ("--quasi", "age", "--sensitive", "ill", "--k", "2")


@pytest.fixture
def made(folder: Path) -> Path:
    (folder / "now.csv").write_text(NOW)
    (folder / "old.csv").write_text(OLD)
    return folder


def test_a_promise_is_broken_over_two_releases(shoal: Run, made: Path) -> None:
    words = ("audit", "now.csv", *ASKED, "--l", "3")
    assert shoal(*words).returncode == 0
    done = shoal(*words, "--against", "old.csv", "--json", "v.json", "--report", "v.html")
    assert done.returncode == 1
    assert "With 1 earlier release:" in done.stdout
    assert "no longer holds for 2 of 2 rows that can have been in all of them" in done.stdout
    figures = json.loads((made / "v.json").read_text())["earlier"]["ill"]
    assert figures["all"]["left"] == {"2": 2}
    assert "With earlier releases" in (made / "v.html").read_text()
    assert shoal("audit", "now.csv", *ASKED, "--against", "old.csv").returncode == 0


def test_an_earlier_release_in_a_database(shoal: Run, made: Path) -> None:
    with sqlite3.connect(made / "x.db") as base:
        base.execute("create table old (age text, ill text)")
        base.executemany("insert into old values (?, ?)", pl.read_csv(made / "old.csv").rows())
    done = shoal("audit", "now.csv", *ASKED, "--l", "3", "--against", "sqlite:x.db#old")
    assert done.returncode == 1, done.stderr
    assert "no longer holds for 2 of 2 rows" in done.stdout


@pytest.mark.parametrize(
    ("against", "said"),
    [
        (("old.csv", "old.csv"), "The release old.csv is named twice. Name the newest release"),
        (("now.csv",), "The release now.csv is named twice."),
        (("none.csv",), "none.csv does not exist."),
    ],
)
def test_what_is_refused(shoal: Run, made: Path, against: tuple[str, ...], said: str) -> None:
    words = [word for name in against for word in ("--against", name)]
    done = shoal("audit", "now.csv", *ASKED, *words, "--json", "v.json")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (made / "v.json").exists()
