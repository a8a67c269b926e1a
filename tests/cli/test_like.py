"""``shoal anonymize --like``: the classes of an earlier release, named in three ways."""

import json
import shutil

import polars as pl
import pytest

from tests.inprocess import shoal

WORDS = ("--quasi", "age,sex", "--sensitive", "ill", "--k", "3", "--method", "mondrian")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("like")
    for year, many, ills in ((2024, 40, "abc"), (2025, 30, "abcc"), (2026, 30, "cccd")):
        pl.DataFrame(
            {
                "age": [20 + 7 * i % 31 for i in range(many)],
                "sex": ["fm"[i % 2] for i in range(many)],
                "ill": [ills[i % len(ills)] for i in range(many)],
            }
        ).write_csv(folder / f"{year}.csv")
    first = shoal(folder, "anonymize", "2024.csv", *WORDS, "-o", "r.csv", "--json", "r.json")
    assert first.returncode == 0, first.stderr
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "there")


def said(done):
    return " ".join((done.stderr + done.stdout).split())


def test_the_next_quarter_has_the_same_labels_whichever_way_the_release_is_named(folder):
    before = {*pl.read_csv(folder / "r.csv").select("age", "sex").rows()}
    seen = set()
    for place, named in enumerate(("r.json", "r.csv.manifest.json", "r.csv")):
        out = f"next{place}.csv"
        words = ("--like", named, "-o", out, "--json", f"{out}.json", "--seed", "1")
        done = shoal(folder, "anonymize", "2025.csv", *words)
        assert done.returncode == 0, done.stderr
        now = pl.read_csv(folder / out)
        note = json.loads((folder / f"{out}.json").read_text())["notes"]["like"]
        shared = [cells in before for cells in now.select("age", "sex").rows()]
        assert sum(shared) == note["rows"] > 15
        assert f"rows {note['rows']}" in said(done)
        seen.add((folder / out).read_bytes())
        audit = ("audit", out, *WORDS[:6], "--original", "2025.csv")
        assert shoal(folder, *audit).returncode == 0
    assert len(seen) == 1


def change(folder):
    with (folder / "r.csv").open("a") as stream:
        stream.write("*,*,a\n")


@pytest.mark.parametrize(
    ("words", "spoil", "told"),
    [
        (("2025.csv", "--like", "r.json"), change, "its SHA-256 differs"),
        (("2025.csv", "--like", "r.csv"), change, "its SHA-256 differs"),
        (("2025.csv", "--like", "none.json"), None, "cannot be read"),
        (("2025.csv", "--like", "none.csv", *WORDS), None, "none.csv does not exist"),
        (("2025.csv", "--like", "r.json", "--k", "30"), None, "does not keep this promise itself"),
        (("2026.csv", "--like", "r.json", "--t", "0.4"), None, "as one table, do not keep"),
        (("2025.csv", "--like", "r.json", "--engine", "spark"), None, "on one machine"),
        (("2025.csv", "--like", "r.json", "--force", "-o", "r.csv"), None, "is the input r.csv"),
    ],
)
def test_what_is_refused_leaves_everything_as_it_was(folder, words, spoil, told):
    if spoil:
        spoil(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    words = words if "-o" in words else (*words, "-o", "next.csv")
    refused = shoal(folder, "anonymize", *words)
    assert refused.returncode != 0
    assert told in said(refused)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_manifest_that_withholds_something_asks_for_it(folder):
    plan = '[columns.age]\nrole = "quasi"\n[columns.sex]\nrole = "quasi"\n'
    plan += '[columns.ill]\nrole = "sensitive"\nmissing = ["zz"]\n'
    (folder / "plan.toml").write_text(plan)
    done = shoal(folder, "anonymize", "2024.csv", "--plan", "plan.toml", "--k", "3", "-o", "w.csv")
    assert done.returncode == 0, done.stderr
    words = ("anonymize", "2025.csv", "--like", "w.csv", "-o", "n.csv")
    assert "withholds columns.ill.missing" in said(shoal(folder, *words))
    assert shoal(folder, *words, "--plan", "plan.toml", "--k", "3").returncode == 0
