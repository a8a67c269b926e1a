"""One definition of how files are read, for every command that reads a table."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal as package
from tests.inprocess import shoal

HOW = ("--encoding", "mac_roman", "--dates", "d.m.y", "--decimal", "comma")
TOWNS = ("Köln", "München", "Düren", "Fürth")
QUASI = "town,born,weight"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clinic's file as an old Mac saves it, and its release by one run."""
    place = tmp_path_factory.mktemp("clinic")
    lines = [
        # Only the first row tells a reader that days come first.
        f"{TOWNS[i % 4]};{1 + i % 28:02d}.{1 + i % 12:02d}.19{40 + i};{50 + i},{i % 10};"
        f"{('Grippe', 'Übelkeit')[i % 2]}"
        for i in range(40)
    ]
    (place / "clinic.csv").write_text(
        "\n".join(["town;born;weight;disease", *lines]) + "\n", encoding="mac_roman"
    )
    words = ("--quasi", QUASI, "--sensitive", "disease", "--k", "4", "--method", "mondrian")
    done = shoal(place, "anonymize", "clinic.csv", *HOW, *words, "-o", "r.csv")
    assert done.returncode == 0, done.stderr
    assert "Übelkeit" in (place / "r.csv").read_text(encoding="utf-8")
    return place


COMMANDS = {
    "inspect": ("inspect", "clinic.csv"),
    "start": ("start", "clinic.csv", "--yes", "--no-browser", "-o", "first"),
    "make": ("hierarchy", "make", "clinic.csv", "weight", "--how", "intervals", "--widths", "10"),
    "make-all": ("hierarchy", "make-all", "clinic.csv", "-o", "trees"),
    "check": ("hierarchy", "check", "town.csv", "--data", "clinic.csv"),
    "show": ("hierarchy", "show", "town.csv", "--data", "clinic.csv"),
    "audit": ("audit", "r.csv", "--original", "clinic.csv", "--quasi", QUASI, "--k", "4"),
    "risk": ("risk", "r.csv", "--original", "clinic.csv", "--quasi", QUASI),
    "attack": ("attack", "clinic.csv", "r.csv", "--known", QUASI, "--sensitive", "disease"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_a_file_as_it_is_told(folder: Path, name: str) -> None:
    (folder / "town.csv").write_text("".join(f"{town};*\n" for town in TOWNS), encoding="utf-8")
    refused = shoal(folder, *COMMANDS[name])
    assert refused.returncode == 2
    assert "--encoding" in refused.stderr
    (folder / "first").mkdir(exist_ok=True)
    done = shoal(folder, *COMMANDS[name], *HOW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "√" not in done.stdout, "UTF-8 was read in another encoding"


def test_the_release_of_another_tool_may_be_in_an_old_encoding(folder: Path) -> None:
    """An encoding is the original's alone if the release is UTF-8, and the release's if not."""
    text = (folder / "r.csv").read_text(encoding="utf-8")
    (folder / "old.csv").write_text(text, encoding="mac_roman")
    words = ("--original", "clinic.csv", "--quasi", QUASI, "--sensitive", "disease", "--k", "4")
    for file in ("r.csv", "old.csv"):
        done = shoal(folder, "audit", file, *words, *HOW)
        assert done.returncode == 0, done.stdout + done.stderr
    counts = [
        shoal(folder, "estimate", file, "--of", "disease", *HOW).stdout
        for file in ("r.csv", "old.csv")
    ]
    assert counts[0] == counts[1]
    assert "Übelkeit" in counts[0]
    refused = shoal(folder, "audit", "old.csv", "--quasi", QUASI, "--k", "4")
    assert refused.returncode == 2
    assert "--encoding" in refused.stderr


def test_in_python(folder: Path) -> None:
    asked = {"original": folder / "clinic.csv", "quasi": QUASI.split(","), "k": 4}
    how = {"encoding": "mac_roman", "dates": "d.m.y", "decimal": "comma"}
    assert package.audit(folder / "r.csv", **asked, **how).holds
    with pytest.raises(TypeError, match="unexpected keyword argument 'codepage'"):
        package.audit(folder / "r.csv", **asked, **how, codepage="mac_roman")
