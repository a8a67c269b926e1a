"""Hierarchies that ``shoal init`` guesses for names, beside the plan."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_init_guesses_hierarchies_for_names(shoal: Run, folder: Path) -> None:
    lines = ["age,city,job"] + [f"{20 + i % 40},city{i % 7},{'ab'[i % 2]}" for i in range(80)]
    (folder / "towns.csv").write_text("\n".join(lines))
    done = shoal("init", "towns.csv", "-o", "towns.toml")
    assert done.returncode == 0, done.stderr
    assert "suggested hierarchy of city (names of about equal frequency together)" in done.stdout
    text = (folder / "towns.toml").read_text()
    assert 'hierarchy = "towns.hierarchies/city.csv"' in text
    assert 'sets = "never"' in text
    refused = shoal("init", "towns.csv", "-o", "towns2.toml", "--sets", "city=sometimes")
    assert refused.returncode == 2
    assert "must be 'allowed' or 'never'" in refused.stderr
    released = shoal("anonymize", "towns.csv", "--plan", "towns.toml", "--k", "4", "-o", "t.csv")
    assert released.returncode == 0, released.stderr
    assert "{" not in (folder / "t.csv").read_text()
    allowed = shoal("init", "towns.csv", "-o", "sets.toml", "--sets", "allowed")
    assert allowed.returncode == 0
    assert "hierarchy" not in allowed.stdout
    assert not (folder / "sets.hierarchies").exists()


def test_init_writes_all_or_nothing(shoal: Run, folder: Path) -> None:
    lines = ["age,city"] + [f"{20 + i % 40},city{i % 7}" for i in range(80)]
    (folder / "towns.csv").write_text("\n".join(lines))
    (folder / "towns.hierarchies").mkdir()
    (folder / "towns.hierarchies" / "city.csv").write_text("mine")
    done = shoal("init", "towns.csv", "-o", "towns.toml")
    assert done.returncode == 2
    assert "city.csv already exists" in done.stderr
    assert not (folder / "towns.toml").exists()
    assert (folder / "towns.hierarchies" / "city.csv").read_text() == "mine"
