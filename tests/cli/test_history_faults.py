"""What can be wrong with a history and its table: each said clearly, and nothing written."""

import json
import shutil
import sys

import polars as pl
import pytest

from tests.inprocess import shoal

WORDS = ("--person", "id", "--quasi", "age,sex", "--sensitive", "ill", "--m", "2")
MORE = ("--method", "buckets", "--history", "history")


def table(ids, **columns):
    return pl.DataFrame(
        {
            "id": ids,
            "age": [20 + i % 7 for i in range(len(ids))],
            "sex": ["fm"[i % 2] for i in range(len(ids))],
            "ill": [("flu", "cold", "gout", "hiv")[i % 4] for i in range(len(ids))],
            **columns,
        }
    )


def release(folder, year, *more):
    words = ("anonymize", f"{year}.csv", *WORDS, *MORE, "-o", f"r{year}.csv", *more)
    done = shoal(folder, *words)
    return done, " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    (folder / "history").mkdir()
    for year, first in ((2023, 0), (2024, 4), (2025, 8)):
        table([f"p{i}" for i in range(first, first + 20)]).write_csv(folder / f"{year}.csv")
    table([f"p{i // 2}" for i in range(20)]).write_csv(folder / "twice.csv")
    table(["p1", "", *(f"p{i}" for i in range(2, 20))]).write_csv(folder / "gaps.csv")
    table([f"q{i}" for i in range(20)]).write_csv(folder / "others.csv")
    for year in (2023, 2024):
        shutil.copytree(folder / "history", folder / f"before{year}")
        done, said = release(folder, year, "--seed", "5")
        assert done.returncode == 0, said
    series = json.loads((folder / "r2023.csv.manifest.json").read_text())["tied"]["series"]
    odd = {"shoal_manifest": 2, "files": {}, "rules": [], "plan": [], "keyed": {}, "withheld": []}
    odd["tied"] = {"series": series, "number": "9"}  # nobody's: it neither stops nor helps
    (folder / "odd.manifest.json").write_text(json.dumps(odd))
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "there")


def older(folder):
    (folder / "history" / "0002.history").unlink()


def damaged(folder):
    file = folder / "history" / "0001.history"
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)


def cut_off(folder):
    file = folder / "history" / "0002.history"
    file.write_bytes(file.read_bytes()[:-20])


def hole(folder):
    (folder / "history" / "0001.history").unlink()


def gone(folder):
    shutil.rmtree(folder / "history")


def nothing(folder):
    pass


@pytest.mark.parametrize(
    ("spoil", "year", "words", "told"),
    [
        (older, 2025, (), "it has 1 releases, and r2024.csv.manifest.json is of release 2"),
        (damaged, 2025, (), "0001.history was changed or cut off"),
        (cut_off, 2025, (), "0002.history was changed or cut off"),
        (hole, 2025, (), "0001.history is missing"),
        (gone, 2025, (), "There is no history history"),
        (nothing, "others", (), "None of the 24 people of the history"),
        (nothing, 2025, ("--m", "3"), "its m is 2, and here it is 3"),
        (nothing, "twice", (), "20 rows are of 10 people who have several"),
        (nothing, "gaps", (), "1 of 20 rows say nothing in 'id'"),
        (nothing, 2025, ("--against", "r2023.csv", "--against", "./r2023.csv"), "named twice"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_wrong_is_said_and_nothing_is_written(folder, spoil, year, words, told):
    spoil(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done, said = release(folder, year, *words)
    assert done.returncode == 2
    assert told in said
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_release_named_twice_in_an_audit(folder):
    words = ("audit", "r2024.csv", "--quasi", "age,sex", "--sensitive", "ill", "--m", "2")
    done = shoal(folder, *words, "--against", "r2023.csv", "--against", "r2024.csv")
    assert done.returncode == 2
    assert "r2024.csv is named twice" in " ".join(done.stderr.split())


def test_the_manifest_tells_the_series_and_nothing_of_its_people(folder):
    first, second = (
        json.loads((folder / f"r{year}.csv.manifest.json").read_text()) for year in (2023, 2024)
    )
    assert first["tied"]["series"] == second["tied"]["series"]
    assert [first["tied"]["number"], second["tied"]["number"]] == [1, 2]
    assert set(first["tied"]) == {"series", "number"}


def test_a_history_that_begins_beside_releases_of_another_series_is_told_of(folder):
    done, said = release(folder, 2025, "--history", "before2023", "--json", "r.json")
    assert done.returncode == 0, said
    assert "r2023.csv and r2024.csv beside it are releases of the same columns" in said
    assert "this one begins another series" in said
    told = json.loads((folder / "r.json").read_text())
    assert told["notes"]["released before"] == ["r2023.csv", "r2024.csv"]
    (folder / "empty").mkdir()
    strict = ("--history", "empty", "--strict", "-o", "s.csv")
    assert release(folder, 2025, *strict)[0].returncode == 2
    assert not [*(folder / "empty").iterdir()]


def test_a_release_of_a_series_is_made_again_with_its_history(folder):
    again = ("audit", "--again", "--seed", "5", "--manifest")
    words = (*again, "r2024.csv.manifest.json", "--data", "2024.csv")
    done = shoal(folder, *words)
    assert done.returncode == 2
    assert "is number 2 of a series" in " ".join(done.stderr.split())
    done = shoal(folder, *words, "--history", "history")
    assert done.returncode == 0, done.stderr + done.stdout
    assert len([*(folder / "history").iterdir()]) == 2
    early = shoal(folder, *words, "--history", "before2023")
    assert "is not a release of the history before2023" in " ".join(early.stderr.split())
    first = (*again, "r2023.csv.manifest.json", "--data", "2023.csv")
    assert shoal(folder, *first, "--history", "history").returncode == 0


def test_a_history_is_encrypted_if_there_is_a_key(folder, monkeypatch):
    pytest.importorskip("cryptography")
    (folder / "secret").mkdir()
    for name, text in (("key", "k" * 40), ("other", "o" * 40), ("short", "k" * 9)):
        (folder / name).write_text(text + "\n")
        (folder / name).chmod(0o600)

    def tried(year, *more):
        words = ("anonymize", f"{year}.csv", *WORDS, "--method", "buckets", "-o", f"s{year}.csv")
        done = shoal(folder, *words, *more)
        return done.returncode, " ".join(done.stderr.split())

    ours = ("--history", "secret", "--history-key")
    assert tried(2023, *ours, "key")[0] == 0
    content = (folder / "secret" / "0001.history").read_bytes()
    assert not any(name.encode() in content for name in ("p11", "gout", "signature", "PAR1"))
    assert b"gout" in (folder / "history" / "0001.history").read_bytes()
    monkeypatch.setenv("SHOAL_HISTORY_KEY_FILE", str(folder / "key"))
    assert tried(2024, "--history", "secret")[0] == 0
    audit = ("audit", "s2024.csv", "--quasi", "age,sex", "--sensitive", "ill", "--m", "2")
    assert shoal(folder, *audit, "--history", "secret").returncode == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "is not encrypted, and a key was given" in tried(2025, "--history", "history")[1]
    monkeypatch.delenv("SHOAL_HISTORY_KEY_FILE")
    assert "secret is encrypted. Give the file" in tried(2025, "--history", "secret")[1]
    assert "does not open with this key" in tried(2025, *ours, "other")[1]
    assert "needs 32 at least" in tried(2025, *ours, "short")[1]
    assert "--history, or leave the key out" in tried(2025, "--history-key", "key")[1]
    (folder / "key").chmod(0o644)
    assert "others may open it" in tried(2025, *ours, "key")[1]
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before
    monkeypatch.setenv("SHOAL_HISTORY_KEY", "k" * 40)
    swapped = [folder / "secret" / f"000{number}.history" for number in (1, 2)]
    swapped[1].write_bytes(swapped[0].read_bytes())  # one file in the place of another
    assert "changed, cut off or renamed" in tried(2025, "--history", "secret")[1]


def test_without_the_library_an_encrypted_history_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    monkeypatch.setenv("SHOAL_HISTORY_KEY", "k" * 40)
    (folder / "secret").mkdir()
    words = ("anonymize", "2023.csv", *WORDS, "-o", "s.csv", "--history", "secret")
    done = shoal(folder, *words, "--method", "buckets")
    assert done.returncode == 2
    assert "pip install 'shoal[crypt]'" in " ".join(done.stderr.split())
    assert not (folder / "s.csv").exists()
    assert not [*(folder / "secret").iterdir()]
