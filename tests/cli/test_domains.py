"""``--domain`` and ``--eps`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import QUASI, Run

SENSITIVE = ("--sensitive", "disease")
ASKED = (*QUASI, *SENSITIVE, "--method", "dummies", "--l", "4")
DOMAIN = ("--domain", "disease=all.txt")


@pytest.fixture
def domain(folder: Path) -> Path:
    (folder / "all.txt").write_text("flu\ncold\nsecret\nplague\ngout\n")
    return folder


def test_from_the_file_to_the_estimate(shoal: Run, domain: Path) -> None:
    done = shoal("anonymize", "people.csv", *ASKED, *DOMAIN, "-o", "x.csv", "--json", "x.json")
    assert done.returncode == 0, done.stderr
    assert "Wrote x.csv, x.domain.csv, x.csv.manifest.json and x.json." in done.stdout
    assert (domain / "x.domain.csv").read_text().splitlines()[:2] == [
        "column,value",
        "disease,cold",
    ]
    listed = json.loads((domain / "x.json").read_text())["plan"]["columns"]["disease"]["domain"]
    assert listed == ["cold", "flu", "gout", "plague", "secret"]
    assert shoal("audit", "x.csv", *QUASI, *SENSITIVE, "--l", "4").returncode == 0
    done = shoal("estimate", "x.csv", "--of", "disease", "--eps", "1", "--json", "e.json")
    assert done.returncode == 0, done.stderr
    assert {row["disease"] for row in json.loads((domain / "e.json").read_text())["estimates"]} == {
        *listed
    }
    done = shoal("estimate", "x.csv", "--of", "disease", "--estimator", "even")
    assert "estimated by even" in done.stdout
    for words in (("risk", "x.csv", *QUASI), ("attack", "people.csv", "x.csv", "--known", "age")):
        assert shoal(*words, *SENSITIVE, *DOMAIN).returncode == 0


def test_a_domain_that_lacks_drawn_values_breaks_the_audit(shoal: Run, domain: Path) -> None:
    shoal("anonymize", "people.csv", *ASKED, *DOMAIN, "-o", "x.csv")
    (domain / "few.txt").write_text("flu\ncold\nsecret\nplague\n")
    few = ("--domain", "disease=few.txt")
    done = shoal("audit", "x.csv", *QUASI, *SENSITIVE, "--l", "4", *few)
    assert done.returncode == 1
    assert "hold 1 values that its domain lacks" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--domain", "all.txt"),
            "--domain takes NAME=FILE, each column once",
        ),
        ((*DOMAIN, *DOMAIN), "each column once. Got 'disease=all.txt' instead."),
        (("--domain", "disease=none.txt"), "The domain of column 'disease' cannot be read from"),
        (("--domain", "age=all.txt"), "Column 'age' declares a domain but its role is quasi"),
    ],
)
def test_bad_words(shoal: Run, domain: Path, words: tuple[str, ...], said: str) -> None:
    done = shoal("anonymize", "people.csv", *ASKED, *words, "-o", "x.csv")
    assert (done.returncode, (domain / "x.csv").exists()) == (2, False)
    assert said in done.stderr


def test_a_domain_table_in_the_way_is_not_written_over(shoal: Run, domain: Path) -> None:
    (domain / "x.domain.csv").write_text("mine")
    done = shoal("anonymize", "people.csv", *ASKED, *DOMAIN, "-o", "x.csv")
    assert (done.returncode, (domain / "x.csv").exists()) == (2, False)
    assert (domain / "x.domain.csv").read_text() == "mine"
