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
    # Nothing but who knows an age exactly: the cells cannot show.
    done = shoal("audit", "now.csv", *ASKED, "--against", "old.csv", "--json", "u.json")
    assert done.returncode == 3 and "Cannot tell whether the promise is kept." in done.stdout
    assert json.loads((made / "u.json").read_text())["verdict"]["unknown"]


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


def test_the_attack_over_two_releases(shoal: Run, folder: Path) -> None:
    ages = ("[20-21]", "[20-21]", "[30-31]", "[30-31]")
    files = {
        "now.csv": "id,age,ill\n1,20,u\n2,21,v\n3,30,w\n4,31,x\n",
        "now-r.csv": "age,ill\n" + "".join(f"{a},{v}\n" for a, v in zip(ages, "uvwx", strict=True)),
        "old.csv": "id,age,ill\n1,20,u\n3,30,w\n",
        "old-r.csv": "age,ill\n[20-30],u\n[20-30],w\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    told = ("--sensitive", "ill", "--person", "id", "--against", "old-r.csv")
    words = ("attack", "now.csv", "now-r.csv", "--known", "age", *told, "--attacks", "intersection")
    done = shoal(*words, "--against-original", "old.csv", "--json", "a.json")
    assert done.returncode == 0, done.stderr
    assert "With earlier releases the value of ill is guessed correctly for 100 %" in done.stdout
    (found,) = json.loads((folder / "a.json").read_text())["results"]
    assert (found["success"], found["control"], found["details"]["alone"]) == (1.0, 0.0, 0.5)
    refused = shoal(*words, "--json", "b.json")
    assert refused.returncode == 2 and not (folder / "b.json").exists()
    assert "Earlier release 1 has no original" in refused.stderr
    # The report of an audit shows it where the attacks are; the public one takes no original.
    words = ("audit", "now-r.csv", "--quasi", "age", *told, "--k", "2", "--report", "v.html")
    words = (*words, "--against-original", "old.csv")
    assert shoal(*words, "--original", "now.csv").returncode in (0, 1)
    assert "With earlier releases the value of ill is guessed" in (folder / "v.html").read_text()
    refused = shoal(*words, "--original", "now.csv", "--audience", "public", "--force")
    assert refused.returncode == 2 and "steward's report" in refused.stderr
