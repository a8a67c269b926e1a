"""``shoal anonymize --history``: a release and its history appear together, or neither does."""

import json

import polars as pl
import pytest

from shoal.cli import output
from tests.inprocess import shoal

WORDS = ("--person", "id", "--quasi", "age,sex", "--sensitive", "ill", "--m", "2")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "history").mkdir()
    for year, first, many in ((2023, 0, 20), (2024, 5, 9)):
        ids = list(range(first, first + many))
        pl.DataFrame(
            {
                "id": ids,
                "age": [20 + i % 7 for i in ids],
                "sex": ["fm"[i % 2] for i in ids],
                "ill": [("flu", "cold", "gout", "hiv")[i % 4] for i in ids],
            }
        ).write_csv(tmp_path / f"{year}.csv")
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def release(folder, year, *more, out=None):
    out = out or f"{year}-release.csv"
    return shoal(
        folder, "anonymize", f"{year}.csv", *WORDS, "--history", "history", "-o", out, *more
    )


def test_a_series_from_the_command_line(folder):
    first = release(folder, 2023, "--json", "first.json")
    assert first.returncode == 0, first.stderr
    assert "m-invariance" in first.stdout + first.stderr
    second = release(folder, 2024, "--against", "2023-release.csv")
    assert second.returncode == 0, second.stderr
    assert names(folder / "history") == ["0001.history", "0002.history"]
    assert (folder / "history" / "0002.history").stat().st_mode & 0o077 == 0
    told = pl.read_csv(folder / "2024-release.counterfeits.csv")
    rows = pl.read_csv(folder / "2024-release.csv")
    assert told["counterfeits"].sum() == rows.height - 9 > 0
    assert "history" not in json.dumps(json.loads((folder / "first.json").read_text())["plan"])
    audit = ("--quasi", "age,sex", "--sensitive", "ill", "--m", "2")
    assert shoal(folder, "audit", "2024-release.csv", *audit).returncode == 0
    for year in (2023, 2024):
        beside = shoal(folder, "audit", f"{year}-release.csv", *audit, "--history", "history")
        assert beside.returncode == 0, beside.stderr
    strange = shoal(folder, "audit", "2024.csv", *audit, "--history", "history")
    assert strange.returncode == 2
    assert "not a release of the history" in " ".join(strange.stderr.split())


@pytest.mark.parametrize(
    ("words", "out", "said"),
    [
        ((), "2023-release.csv", "already exists"),
        (("--force",), "2023-release.csv", "is the name of release 1"),
        ((), "history/2024.csv", "would lie in the history"),
        (("--against", "2023.csv"), None, "is not a release of the history"),
        (("--against", "2023-release.csv", "--against", "./2023-release.csv"), None, "named twice"),
        (("--history", "none"), None, "There is no history none"),
        (("--engine", "spark"), None, "on one machine"),
    ],
)
def test_what_is_refused_leaves_everything_as_it_was(folder, words, out, said):
    assert release(folder, 2023).returncode == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    refused = release(folder, 2024, *words, out=out)
    assert refused.returncode != 0
    assert said in " ".join(refused.stderr.split())
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_release_that_was_changed_since_is_refused(folder):
    assert release(folder, 2023).returncode == 0
    rows = (folder / "2023-release.csv").read_text().splitlines()
    (folder / "2023-release.csv").write_text("\n".join(rows[:-1]) + "\n")
    refused = release(folder, 2024)
    assert refused.returncode != 0
    assert "is not what the history" in " ".join(refused.stderr.split())


def test_what_cannot_be_written_is_not_recorded(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.Output, "_dictionary", full)
    refused = release(folder, 2023, "--json", "x.json")
    assert refused.returncode != 0
    assert names(folder / "history") == []
    assert not (folder / "2023-release.csv").exists()
    assert not (folder / "2023-release.counterfeits.csv").exists()


def test_a_rolled_back_history_promises_only_what_it_knows(folder):
    assert release(folder, 2023).returncode == 0
    older = {file: file.read_bytes() for file in (folder / "history").iterdir()}
    assert release(folder, 2024).returncode == 0
    for file in (folder / "history").iterdir():
        file.unlink()
    for file, content in older.items():
        file.write_bytes(content)
    for manifest in folder.glob("*.manifest.json"):
        manifest.unlink()
    done = release(folder, 2024, out="again.csv")
    assert done.returncode == 0, done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert "the same ones in all releases that the history knows" in said
