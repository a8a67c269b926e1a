"""``--method dummies``: ``--history`` keeps sets; without it a second release is told of."""

import json
import re

import polars as pl
import pytest

from tests.inprocess import shoal

WORDS = ("--quasi", "age,sex", "--sensitive", "ill", "--l", "2", "--method", "dummies")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "history").mkdir()
    for year, first in ((2023, 0), (2024, 4)):
        ids = list(range(first, first + 20))
        pl.DataFrame(
            {
                "id": ids,
                "age": [20 + i % 7 for i in ids],
                "sex": ["fm"[i % 2] for i in ids],
                "ill": [("flu", "cold", "gout", "hiv")[i % 4] for i in ids],
            }
        ).write_csv(tmp_path / f"{year}.csv")
    return tmp_path


def release(folder, year, *more):
    name = f"{year}-release"
    words = ("anonymize", f"{year}.csv", *WORDS, "-o", f"{name}.csv", "--json", f"{name}.json")
    done = shoal(folder, *words, *more)
    return done, " ".join(done.stderr.split())


def test_with_a_history_sets_are_kept_and_an_audit_asks_for_them(folder):
    more = ("--person", "id", "--history", "history")
    first, said = release(folder, 2023, *more)
    assert first.returncode == 0, said
    assert "Publish a table with dummy values once" not in said
    second, said = release(folder, 2024, *more, "--against", "2023-release.csv", "--strict")
    assert second.returncode == 0, said
    notes = json.loads((folder / "2024-release.json").read_text())["notes"]
    assert notes["sets kept"] == 16
    assert "sets kept 16" in second.stdout
    audit = ("audit", "2024-release.csv", *WORDS[:6], "--history", "history")
    assert shoal(folder, *audit).returncode == 0
    rows = (folder / "2024-release.csv").read_text().splitlines()
    swap = {"flu": "gout", "gout": "flu"}
    wrong = [re.sub("flu|gout", lambda found: swap[found[0]], row) for row in rows]
    assert wrong != rows
    (folder / "2024-release.csv").write_text("\n".join(wrong) + "\n")
    assert shoal(folder, *audit).returncode != 0


def test_without_one_a_second_release_is_told_of_on_the_terminal_and_in_the_figures(folder):
    first, said = release(folder, 2023)
    assert first.returncode == 0, said
    assert "is a release of the same columns" not in said
    second, said = release(folder, 2024)
    assert second.returncode == 0, said
    assert "2023-release.csv beside it is a release of the same columns" in said
    assert "--history" in said
    told = json.loads((folder / "2024-release.json").read_text())
    assert told["notes"]["released before"] == ["2023-release.csv"]
    assert any("same columns" in text for text in told["warnings"])
    before = (folder / "2024-release.csv").read_bytes()
    again, said = release(folder, 2024, "--force")  # under the same name
    assert again.returncode == 0
    assert "2024-release.json will be replaced" in said
    assert (folder / "2024-release.csv").read_bytes() != before
    strict = shoal(folder, "anonymize", "2024.csv", *WORDS, "-o", "third.csv", "--strict")
    assert strict.returncode != 0
    assert not (folder / "third.csv").exists()
