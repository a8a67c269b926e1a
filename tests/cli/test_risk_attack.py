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
    assert "belief in a value of disease" in done.stdout
    assert "share of disease" in done.stdout and "rows where doubled" in done.stdout
    found = json.loads((made / "risk.json").read_text())
    assert found["before"]["prosecutor_highest"] == 1
    assert found["after"]["prosecutor_highest"] <= 0.25
    assert found["after"]["k_map"] >= 4
    assert found["attributes"]["disease"]["rows"] == 40
    assert "per_row" not in found["after"]
    told = found["values"]["disease"]
    assert ("Rules that limit this" in done.stderr) == (told["values"][0]["ratio"] > 2)
    assert told["sentence"] in done.stderr


def test_risk_of_a_table_that_is_no_release(shoal: Run, folder: Path) -> None:
    done = shoal("risk", "people.csv", *QUASI, "--threshold", "0.4")
    assert done.returncode == 0, done.stderr
    assert "this table" in done.stdout
    assert "rows with a risk above 40 %" in done.stdout


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


ATTACK = ("attack", "people.csv", "g.csv", "--known", "age,sex,zip")


def test_attacks_are_shown_and_written(shoal: Run, made: Path) -> None:
    done = shoal(*ATTACK, *SENSITIVE, "--seed", "1", "--json", "attack.json")
    assert done.returncode == 0, done.stderr
    for word in ("linkage", "homogeneity", "inference", "background", "guess", "control"):
        assert word in done.stdout
    assert "The right row is found for" in done.stdout
    found = json.loads((made / "attack.json").read_text())
    assert found["targets"] == 40
    assert found["results"][0]["success"] <= 0.25
    assert shoal(*ATTACK, *SENSITIVE, "--seed", "1").stdout in done.stdout
    done = shoal(*ATTACK, "--noise", "0.1", "--gaps", "0.2", "--targets", "10")
    assert "knows age, sex, zip of 10 people; 10.0 % of that wrong; 20.0 % of that" in done.stdout
    assert "homogeneity" not in done.stdout


def test_attacks_by_a_plan_on_every_shape(shoal: Run, folder: Path) -> None:
    columns = "".join(f'[columns.{name}]\nrole = "quasi"\n' for name in ("age", "sex", "zip"))
    columns += '[columns.disease]\nrole = "sensitive"\n'
    for method, rule, shape in (
        ("dummies", "l-diversity", "dummies"),
        ("anatomy", "frequency-l-diversity", "anatomized"),
    ):
        (folder / "plan.toml").write_text(
            f'{columns}[method]\nname = "{method}"\n[[rules]]\nname = "{rule}"\nl = 2\n'
        )
        made = shoal("anonymize", "people.csv", "--plan", "plan.toml", "-o", "x.csv", "--force")
        assert made.returncode == 0, made.stderr
        done = shoal("attack", "people.csv", "x.csv", "--plan", "plan.toml")
        assert done.returncode == 0, done.stderr
        assert f"40 rows, {shape}." in done.stdout
        assert "0 % of 40 people" in done.stdout  # nobody's value is certain


def test_outsiders_as_control(shoal: Run, made: Path) -> None:
    (made / "out.csv").write_text("age,sex,zip,disease\n20,m,101,flu\n33,f,102,cold\n")
    done = shoal(*ATTACK, *SENSITIVE, "--control", "out.csv")
    assert done.returncode == 0, done.stderr
    assert "people who are not in the release" in done.stdout


def test_attack_refusals(refused: Refused, made: Path) -> None:
    told = refused("attack", "people.csv", "g.csv")
    assert "An attack needs to know something, and nothing was given" in told
    told = refused("attack", "people.csv", "g.csv", "--known", "age,name")
    assert "The release has no column 'name', nor the pair 'name_lo' and 'name_hi'" in told
    assert "the original has only 40 rows" in refused(*ATTACK, "--targets", "41")
    told = refused(*ATTACK, "--attacks", "linkag")
    assert "There is no attack 'linkag'. Did you mean 'linkage'?" in told
    told = refused(*ATTACK, "--noise", "1.5")
    assert "'noise' parameter of attack must be a number in [0, 1]. Got 1.5" in told
    assert "is the input" in refused(*ATTACK, "--json", "people.csv", "--force")


def test_rows_that_are_certain_and_likely(shoal: Run, folder: Path) -> None:
    (folder / "two.csv").write_text("age,sex\n20,f\n29,f\n40,m\n49,m\n")
    (folder / "tight.csv").write_text("age,sex\n[20-29],f\n[20-29],f\n[40-49],m\n[40-49],m\n")
    words = ("attack", "two.csv", "tight.csv", "--known", "age,sex", "--json", "a.json")
    done = shoal(*words, "--attacks", "readoff,downcoding")
    assert done.returncode == 0, done.stderr
    assert (
        "4 complete records behind the release (100.0 % of the rows) can be deduced" in done.stdout
    )
    assert "The whole row is guessed correctly for 100 % of 4 people" in done.stdout
    found = json.loads((folder / "a.json").read_text())["results"]
    assert [result["name"] for result in found] == ["readoff", "downcoding"]
    assert found[0]["details"] == {"cells": 4, "known": 4, "exact": 0, "unique": 4, "wrong": 0}


def test_another_tools_file(shoal: Run, refused: Refused, folder: Path) -> None:
    (folder / "original.csv").write_text("age,zip\n21,01001\n29,01002\n34,02001\n38,02002\n")
    (folder / "arx.csv").write_text(
        "age;zip\n[20, 30[;010**\n[20, 30[;010**\n>= 30;020**\n>= 30;NULL\n"
    )
    words = ("attack", "original.csv", "arx.csv", "--known", "age,zip")
    done = shoal(*words)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "Column 'age': 2 different cells are written as other tools do" in said
    assert "'>= 30' for [34-38], '[20, 30[' for [21-29]" in said
    assert "'010**' for {01001, 01002}, 'NULL' for *" in said
    (folder / "ages.csv").write_text('age\n"[20, 30["\n"[20, 30["\n>= 30\n>= 30\n')
    done = shoal("audit", "ages.csv", "--quasi", "age", "--k", "2", "--original", "original.csv")
    assert done.returncode == 0, done.stdout
    assert "'[20, 30[' for [21-29]" in " ".join(done.stderr.split())
    (folder / "own.csv").write_text("age\n20 to 30\n20 to 30\n30 to 40\n30 to 40\n")
    words = ("audit", "own.csv", "--quasi", "age", "--k", "2", "--original", "original.csv")
    done = shoal(*words)
    assert done.returncode == 1
    assert "such as '20 to 30', '30 to 40'" in " ".join(done.stderr.split())
    assert shoal(*words, "--notation", "age=LO to HI").returncode == 0
    told = refused(*words, "--notation", "LO to HI")
    assert "--notation takes COLUMN=FORM, such as 'age=LO to HI'. Got 'LO to HI' instead." in told
