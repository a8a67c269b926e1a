"""Risk and attacks on the command line: what is shown, what is written, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import QUASI, Run

Refused = Callable[..., str]
SENSITIVE = ("--sensitive", "disease")


@pytest.fixture
def made(shoal: Run, folder: Path) -> Path:
    """A generalized release next to the table."""
    words = ("anonymize", "people.csv", *QUASI, *SENSITIVE, "--k", "4", "--method", "kaim")
    done = shoal(*words, "-o", "g.csv")
    assert done.returncode == 0, done.stderr
    return folder


def test_risk_before_and_after(shoal: Run, made: Path) -> None:
    words = ("risk", "g.csv", *QUASI, *SENSITIVE, "--original", "people.csv")
    done = shoal(*words, "--population", "people.csv", "--json", "risk.json")
    assert done.returncode == 0, done.stderr
    assert "before" in done.stdout
    assert "k-map" in done.stdout
    assert "what is believed of disease" in done.stdout
    found = json.loads((made / "risk.json").read_text())
    assert found["before"]["prosecutor_highest"] == 1
    assert found["after"]["prosecutor_highest"] <= 0.25
    assert found["after"]["k_map"] >= 4
    assert found["attributes"]["disease"]["rows"] == 40
    assert "per_row" not in found["after"]


def test_risk_of_a_table_that_is_no_release(shoal: Run, folder: Path) -> None:
    done = shoal("risk", "people.csv", *QUASI, "--threshold", "0.4")
    assert done.returncode == 0, done.stderr
    assert "this table" in done.stdout
    assert "rows with a risk above 0.4" in done.stdout


def test_a_strange_population_is_warned_about(shoal: Run, made: Path) -> None:
    (made / "few.csv").write_text("age,sex,zip\n20,m,101\n")
    done = shoal("risk", "g.csv", *QUASI, "--population", "few.csv")
    assert done.returncode == 0
    assert "does not hold everybody" in done.stderr


def test_risk_refusals(refused: Refused, made: Path) -> None:
    assert "needs the quasi-identifiers" in refused("risk", "g.csv")
    assert "Did you mean 'zip'?" in refused("risk", "g.csv", "--quasi", "zipp")
    told = refused("risk", "g.csv", *QUASI, "--threshold", "2")
    assert "'threshold' parameter of risk must be a number in [0, 1]. Got 2.0" in told
    told = refused("risk", "g.csv", *QUASI, "--sensitive", "illness")
    assert "has no column 'illness'" in told
    assert "input" in refused("risk", "g.csv", *QUASI, "--json", "g.csv", "--force")
