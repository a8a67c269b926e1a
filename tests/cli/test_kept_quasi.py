"""Dummy values, Anatomy and estimates on the command line: the whole way, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import QUASI, Run

Refused = Callable[..., str]
SENSITIVE = ("--sensitive", "disease")
DUMMIES = (*QUASI, *SENSITIVE, "--method", "dummies", "--l", "2")
ANATOMY = (*QUASI, *SENSITIVE, "--method", "anatomy", "--l", "2", "--l-kind", "frequency")


@pytest.fixture
def made(shoal: Run, folder: Path) -> Path:
    """A release of each shape next to the table."""
    for name, words in (("d.csv", DUMMIES), ("a.csv", ANATOMY), ("g.csv", (*QUASI, *SENSITIVE))):
        done = shoal("anonymize", "people.csv", *words, "-o", name)
        assert done.returncode == 0, done.stderr
    return folder


def test_dummies_there_and_back(shoal: Run, made: Path) -> None:
    cells = (made / "d.csv").read_text().splitlines()
    assert cells[0] == "age,sex,zip,disease"
    assert all(line.count('""') == 4 for line in cells[1:])
    done = shoal("audit", "d.csv", *QUASI, *SENSITIVE, "--l", "2", "--original", "people.csv")
    assert done.returncode == 0, done.stdout
    assert "reached: l = 2" in done.stdout
    assert "guesses 'disease' correctly with probability " in done.stdout
    assert shoal("audit", "d.csv", *QUASI, *SENSITIVE, "--l", "3").returncode == 1


def test_anatomy_there_and_back(shoal: Run, made: Path) -> None:
    assert (made / "a.csv").read_text().startswith("age,sex,zip,group_id\n")
    assert (made / "a.st.csv").read_text().startswith("group_id,disease,count\n")
    words = ("audit", "a.csv", *QUASI, "--l", "2", "--l-kind", "frequency")
    done = shoal(*words, "--original", "people.csv", "--json", "audit.json")
    assert done.returncode == 0, done.stdout
    figures = json.loads((made / "audit.json").read_text())
    assert figures["shape"] == "anatomized"
    assert 0 < figures["posterior"]["disease"]["worst_posterior"] <= 0.5
    assert figures["seeded"] is False
    # Elsewhere it is found when it is named.
    (made / "a.st.csv").rename(made / "values.csv")
    assert shoal(*words, "--st", "values.csv").returncode == 0


def test_a_seed_is_flagged(shoal: Run, folder: Path) -> None:
    words = ("anonymize", "people.csv", *DUMMIES, "--seed", "424242", "-o", "d.csv")
    done = shoal(*words, "--json", "d.json")
    assert "anyone who knows the seed can undo it" in done.stderr
    assert json.loads((folder / "d.json").read_text())["seeded"] is True
    assert "424242" not in (folder / "d.json").read_text() + (folder / "d.csv").read_text()
    (folder / "plan.toml").write_text(
        'seed = 424242\n[columns.age]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
        '[columns.sex]\nrole = "quasi"\n[columns.zip]\nrole = "quasi"\n'
        '[method]\nname = "dummies"\n[[rules]]\nname = "l-diversity"\nl = 2\n'
    )
    done = shoal("audit", "d.csv", "--plan", "plan.toml")
    assert done.returncode == 0
    assert "The plan has a seed" in done.stderr
    assert "424242" not in done.stderr + done.stdout


@pytest.mark.parametrize(("name", "shape"), [("d", "dummies"), ("a", "anatomized")])
def test_estimates_are_shown_and_written(shoal: Run, made: Path, name: str, shape: str) -> None:
    done = shoal(
        "estimate", f"{name}.csv", "--by", "sex,age:10", "--of", "disease", "--json", "e.json"
    )
    assert done.returncode == 0, done.stderr
    assert f"{shape} release, 40 rows" in done.stdout
    assert "20-29" in done.stdout
    found = json.loads((made / "e.json").read_text())
    assert found["by"] == ["sex", "age"]
    assert sum(each["count"] for each in found["estimates"]) == pytest.approx(40)


def test_estimates_from_generalized_cells(shoal: Run, made: Path) -> None:
    done = shoal("estimate", "g.csv", "--by", "sex=f", "--of", "disease=flu")
    assert done.returncode == 0, done.stderr
    assert "generalized release" in done.stdout
    assert "secret" not in done.stdout


@pytest.mark.parametrize("method", ["iterative", "closed", "em"])
def test_every_way_to_estimate(shoal: Run, made: Path, method: str) -> None:
    done = shoal("estimate", "d.csv", "--of", "disease", "--estimator", method)
    assert f"estimated by {method}" in done.stdout


def test_a_plot_is_drawn(shoal: Run, made: Path) -> None:
    words = ("estimate", "d.csv", "--by", "sex", "--of", "disease", "--plot")
    for name in ("e.svg", "again.svg", "e.html"):
        done = shoal(*words, name)
        assert done.returncode == 0, done.stderr
    drawn = (made / "e.svg").read_text()
    assert drawn == (made / "again.svg").read_text()
    ElementTree.fromstring(drawn)
    for said in ("Share of disease by sex", "flu, f", "secret, m"):
        assert said in drawn
    assert "<svg" in (made / "e.html").read_text()
    assert "The numbers" in (made / "e.html").read_text()
    assert "already exists" in shoal(*words, "e.svg").stderr


def test_too_large_an_l(refused: Refused) -> None:
    words = ("anonymize", "people.csv", *QUASI, *SENSITIVE, "--method")
    message = refused(*words, "dummies", "--l", "4", "-o", "x.csv")
    assert "column 'disease' has only 3 different values; the largest l possible is 3" in message
    message = refused(*words, "anatomy", "--l", "3", "--l-kind", "frequency", "-o", "x.csv")
    assert "'flu' has a share of 35.00%, above 1/3; the largest l possible is 2" in message
    message = refused(*words, "dummies", "-o", "x.csv")
    assert "'dummies' is made for l-diversity" in message


def test_estimates_that_cannot_be(refused: Refused, made: Path) -> None:
    message = refused("estimate", "people.csv", "--of", "disease")
    assert "does not look like a release" in message
    message = refused("estimate", "d.csv", "--of", "disese")
    assert "no column 'disese' to estimate. Did you mean 'disease'?" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--by", "sexx")
    assert "no column 'sexx' to split by. Did you mean 'sex'?" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--by", "sex=x")
    assert "has the value 'x' in column 'sex'; it has 'f', 'm'" in message
    message = refused("estimate", "d.csv", "--of", "disease=gout")
    assert "has the value 'gout' in column 'disease'; it has 'cold', 'flu', 'secret'" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--by", "sex:3")
    assert "cannot be cut into intervals of 3" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--by", "age,age:5")
    assert "'age' is named twice" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--estimator", "emm")
    assert "Did you mean 'em'?" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--plot", "e.txt")
    assert "does not end in .svg or .html. Give it one of the two endings" in message
    for name in ("e.png", "e.pdf"):
        message = refused("estimate", "d.csv", "--of", "disease", "--plot", name)
        assert "write FILE.html, open it in a browser and print it to a file" in message
    message = refused("estimate", "d.csv", "--of", "disease", "--json", "a.csv")
    assert "already exists" in message
    assert "nowhere.csv does not exist" in refused("estimate", "nowhere.csv", "--of", "x")


def test_both_tables_or_none(refused: Refused, folder: Path) -> None:
    (folder / "out.st.csv").write_text("mine")
    message = refused("anonymize", "people.csv", *ANATOMY, "-o", "out.csv")
    assert "out.st.csv already exists" in message
    assert not (folder / "out.csv").exists()


def test_anatomy_on_spark_is_refused_before_spark_is_looked_for(folder: Path, refused) -> None:
    words = ("anonymize", "t.csv", "--method", "anatomy", "--quasi", "age", "--sensitive", "ill")
    rule = ("--l", "2", "--l-kind", "frequency", "--engine", "spark", "-o", "r")
    message = refused(*words, *rule)
    assert "'anatomy' cannot run on Spark: it publishes a second table" in message
    assert "Use the local engine, or the method 'dummies'." in message
    assert not [*folder.glob("r*")]
