"""The manifest beside a release: true digests, nothing of the original, and a way back."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import polars as pl
import pytest

import shoal as package
from tests.cli.conftest import QUASI, Run

SEED = "98765432109876543210987"
MADE = (*QUASI, "--sensitive", "disease", "--identifier", "name", "--k", "4")
MANIFEST = "r.csv.manifest.json"


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def strings(tree) -> set[str]:
    """Return every key and every text of a JSON tree."""
    if isinstance(tree, dict):
        return {text for key, value in tree.items() for text in {key} | strings(value)}
    if isinstance(tree, list):
        return {text for value in tree for text in strings(value)}
    return {tree} if isinstance(tree, str) else set()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def released(shoal: Run, folder: Path) -> Path:
    done = shoal("anonymize", "people.csv", *MADE, "--seed", SEED, "-o", "r.csv", "--json", "f")
    assert done.returncode == 0, done.stderr
    assert f"Wrote r.csv, {MANIFEST} and f." in done.stdout
    return folder


def test_it_says_what_the_release_is(released: Path) -> None:
    made = read(released / MANIFEST)
    assert made["files"] == {
        "r.csv": {
            "sha256": sha256(released / "r.csv"),
            "bytes": len((released / "r.csv").read_bytes()),
        }
    }
    assert made["rows"] == 40
    assert made["rules"][0]["reached"]["k"] >= 4
    assert made["method"]["name"] == "shoal"
    assert made["left_out"] == {"name": "identifier"}
    assert set(made["versions"]) >= {"shoal", "python", "polars", "numpy", "numba"}
    assert made["seeded"] and made["engine"] == "local" and made["made"].endswith("Z")


def test_the_figures_hold_it_and_what_is_the_stewards(released: Path) -> None:
    made, figures = read(released / MANIFEST), read(released / "f")
    own = figures["manifest"].pop("steward")
    assert figures["manifest"] == made
    assert own["rows_in"] == 40 and own["loss"] == figures["loss"]["rate"]
    # Nothing that is computed from the original is in the one that may be sent.
    assert not {"rows_in", "loss", "key", "seconds", "warnings", "undecided"} & strings(made)


# Every list that a plan can hold texts of the table in.
LISTS = """
[data]
missing = ["", "nothing-known"]

[columns.grade]
role = "quasi"
kind = "ordered"
order = ["lowest-grade", "middle-grade", "highest-grade"]
missing = ["grade-unknown"]

[columns.town]
role = "quasi"
kind = "taxonomy"
hierarchy = "town.csv"

[columns.ill]
role = "sensitive"
domain = ["influenza", "bronchitis", "never-had-by-anybody"]

[columns.who]
role = "identifier"

[columns.memo]
role = "undecided"

[method]
name = "dummies"

[[rules]]
name = "l-diversity"
l = 2
"""


def lists(folder: Path) -> pl.DataFrame:
    grades = ["lowest-grade", "middle-grade", "highest-grade", "grade-unknown", "nothing-known"]
    table = pl.DataFrame(
        {
            "who": [f"person-number-{i:03d}" for i in range(60)],
            "memo": [f"memo-about-{i:03d}" for i in range(60)],
            "grade": [grades[i % 5] for i in range(60)],
            "town": [f"town-{i % 6}" for i in range(60)],
            "ill": [("influenza", "bronchitis")[i % 2] for i in range(60)],
        }
    )
    table.write_csv(folder / "lists.csv")
    (folder / "town.csv").write_text("".join(f"town-{i};side-{i % 2};*\n" for i in range(6)))
    (folder / "plan.toml").write_text(LISTS)
    return table


@pytest.mark.parametrize("method", ["shoal", "dummies"])
def test_no_string_of_it_is_of_the_original(shoal: Run, folder: Path, method: str) -> None:
    table = lists(folder)
    plan = ("--plan", "plan.toml", "--method", method)
    done = shoal("anonymize", "lists.csv", *plan, "--seed", SEED, "-o", "r.csv", "--json", "f")
    assert done.returncode == 0, done.stderr
    text = (folder / MANIFEST).read_text()
    told = strings(json.loads(text))
    values = {cell for column in table for cell in column.cast(pl.String)} | {
        "never-had-by-anybody"
    }
    assert not {(value, said) for value in values for said in told if value in said}
    plain = {sha256(folder / name) for name in ("lists.csv", "plan.toml", "town.csv")}
    assert not plain & told, "a plain digest answers whoever guesses what it is of"
    assert SEED not in text and SEED not in (folder / "f").read_text()
    assert set(read(folder / MANIFEST)["withheld"]) == {
        *("data.missing", "columns.grade.order", "columns.grade.missing"),
        *("columns.town.hierarchy", "columns.ill.domain"),
    }
    # The way back needs what was withheld, and says so.
    again = ("audit", "--again", "--manifest", MANIFEST, "--data", "lists.csv", "--seed", SEED)
    refused = shoal(*again)
    assert refused.returncode == 2
    assert "withholds data.missing" in " ".join(refused.stderr.split())
    done = shoal(*again, "--plan", "plan.toml")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Made again: the same bytes." in done.stdout


NAMED = """
[columns]
age = { role = "quasi" }
sex = { role = "quasi" }
zip = { role = "quasi" }
disease = { role = "sensitive" }
name = { role = "identifier" }
[[rules]]
name = "alpha-k-anonymity"
k = 4
alpha = 0.9
column = "disease"
values = ["flu"]
[[rules]]
name = "alpha-k-anonymity"
k = 4
alpha = 0.9
column = "disease"
values = ["cold"]
"""


def test_values_that_rules_name_are_withheld(shoal: Run, folder: Path, refused) -> None:
    (folder / "run.toml").write_text(NAMED)
    files = ("--seed", SEED, "-o", "r.csv", "--json", "f")
    done = shoal("anonymize", "people.csv", "--plan", "run.toml", *files)
    assert done.returncode == 0, done.stderr
    made = read(folder / MANIFEST)
    assert "rules" in made["withheld"] and "rules" not in made["plan"]
    assert len(made["rules"]) >= 2
    assert not any(value in text for text in strings(made) for value in ("flu", "cold"))
    # An audit without them would be one of another promise.
    asked = ("audit", "--manifest", MANIFEST)
    assert "withholds the rules of the release" in refused(*asked)
    # A reader who has the manifest alone can name what to check.
    done = shoal(*asked, "--k", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "at least 4 rows" in done.stdout and "named)" not in done.stdout
    assert package.audit(manifest=folder / MANIFEST, released=None, k=4).holds
    again = (*asked, "--again", "--data", "people.csv", "--seed", SEED)
    for words in (
        (*asked, "--plan", "run.toml"),
        ("audit", "--manifest", "f"),
        (*again, "--plan", "run.toml"),
    ):
        done = shoal(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("(1 is named)") == 2
    shoal(*asked, "--plan", "run.toml", "--report", "p.html", "--audience", "public")
    shown = (folder / "p.html").read_text()
    assert "(1 is named)" in shown and "among " not in shown
    held = read(folder / MANIFEST)
    held["rules"][-1]["reached"]["alpha"] = 0.001
    (folder / MANIFEST).write_text(json.dumps(held))
    assert "this was reached" in shoal(*asked, "--plan", "run.toml").stdout


def test_values_that_count_as_one_are_withheld(shoal: Run, folder: Path, refused) -> None:
    plan = NAMED.partition("[[rules]]")[0] + '[[rules]]\nname = "l-diversity"\nl = 2\n'
    (folder / "run.toml").write_text(plan + '[release]\nsame = ["flu=cold,never-had"]\n')
    files = ("--seed", SEED, "-o", "r.csv", "--json", "f", "--report", "p.html")
    done = shoal("anonymize", "people.csv", "--plan", "run.toml", *files, "--audience", "public")
    assert done.returncode == 0, done.stderr
    made = read(folder / MANIFEST)
    assert made["withheld"] == ["release.same"] and "same" not in made["plan"]["release"]
    assert "never-had" not in (folder / MANIFEST).read_text() + (folder / "p.html").read_text()
    # Without them the rule would be a weaker promise.
    asked = ("audit", "--manifest", MANIFEST)
    assert "withholds which values its rules count as one" in refused(*asked)
    for words in ((*asked, "--plan", "run.toml"), ("audit", "--manifest", "f")):
        done = shoal(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "counting named values as one (1 group)" in " ".join(done.stdout.split())
    again = (*asked, "--again", "--data", "people.csv", "--seed", SEED, "--plan", "run.toml")
    assert shoal(*again).returncode == 0
    # Another list in the plan is another promise, which --again notices.
    (folder / "run.toml").write_text(plan + '[release]\nsame = ["flu=cold"]\n')
    done = shoal(*again)
    assert done.returncode == 1, done.stdout + done.stderr


def test_digests_of_what_is_not_published_are_kept_under_a_key(shoal: Run, folder: Path) -> None:
    for name in ("a.csv", "b.csv"):
        assert shoal("anonymize", "people.csv", *MADE, "-o", name).returncode == 0
    first, second = (read(folder / f"{name}.csv.manifest.json")["keyed"] for name in "ab")
    # The same table and the same plan: nobody can tell without the key.
    assert not {first[part] for part in ("table", "file", "plan")} & set(second.values())


def test_a_seed_gives_the_key(released: Path, shoal: Run) -> None:
    assert shoal("anonymize", "people.csv", *MADE, "--seed", SEED, "-o", "s.csv").returncode == 0
    assert read(released / "s.csv.manifest.json")["keyed"] == read(released / MANIFEST)["keyed"]


AGAIN = ("audit", "--again", "--data", "people.csv", "--manifest")


def test_a_release_is_made_again_byte_for_byte(released: Path, shoal: Run) -> None:
    before = sorted(path.name for path in released.iterdir())
    for source in (MANIFEST, "f"):
        done = shoal(*AGAIN, source, "--seed", SEED)
        assert done.returncode == 0, done.stderr
        assert "Made again: the same bytes." in done.stdout
    assert sorted(path.name for path in released.iterdir()) == before


def test_what_differs_when_it_is_made_again_is_a_fault(released: Path, shoal: Run) -> None:
    table = (released / "people.csv").read_text()
    (released / "other.csv").write_text(table.replace("N1,21,", "N1,77,"))
    words = ("audit", "--again", "--data", "other.csv", "--manifest", MANIFEST)
    done = shoal(*words, "--seed", SEED, "--json", "v.json")
    assert done.returncode == 1
    assert "Made again: It was made from another part: the table." in " ".join(done.stdout.split())
    assert any(
        "Made again: r.csv is not" in fault
        for fault in read(released / "v.json")["verdict"]["faults"]
    )
    done = shoal(*AGAIN, MANIFEST, "--seed", SEED[1:])
    assert done.returncode == 1
    assert "another part: the seed" in " ".join(done.stdout.split())


def test_what_cannot_be_made_again_is_refused(released: Path, shoal: Run, refused) -> None:
    assert "need the seed of its run" in refused(*AGAIN, MANIFEST)
    assert shoal("anonymize", "people.csv", *MADE, "-o", "n.csv").returncode == 0
    assert "made without a seed" in refused(*AGAIN, "n.csv.manifest.json", "--seed", "1")
    (released / "no.json").write_text("{}")
    assert "is not the manifest" in refused(*AGAIN, "no.json", "--seed", "1")
    (released / "new.json").write_text('{"shoal_manifest": 99}')
    said = refused(*AGAIN, "new.json", "--seed", "1")
    assert "format 99, and this version of Shoal" in said and "reads 2" in said
    away = read(released / MANIFEST)
    away["files"] = {"../../r.csv": {"sha256": "0", "bytes": 1}}
    (released / "away.json").write_text(json.dumps(away))
    assert "names something that is not a file name" in refused(*AGAIN, "away.json", "--seed", "1")


def test_again_takes_a_manifest_and_a_table(released: Path, refused) -> None:
    said = refused("audit", "--again", "--manifest", MANIFEST, "--seed", SEED)
    assert "the table that it was made from is missing" in said
    said = refused("audit", "r.csv", "--again", "--data", "people.csv", "--seed", SEED)
    assert "the manifest is missing" in said
    for more in (("--data", "people.csv"), ("--seed", SEED)):
        assert "Ask for that with --again" in refused("audit", "r.csv", *MADE[:4], *more)
    assert "Nothing to audit was named" in refused("audit", "--k", "4")


def test_audit_checks_digests_and_figures(released: Path, shoal: Run) -> None:
    done = shoal("audit", "r.csv", "--manifest", MANIFEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "keeps its promise" in done.stdout
    made = read(released / MANIFEST)
    made["rules"][0]["reached"]["k"] += 1
    (released / "boast.json").write_text(json.dumps(made))
    done = shoal("audit", "r.csv", "--manifest", "boast.json")
    assert done.returncode == 1 and "The manifest says that this was reached" in done.stdout
    lines = (released / "r.csv").read_text().splitlines()
    (released / "r.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    done = shoal("audit", "r.csv", "--manifest", MANIFEST)
    assert done.returncode == 1 and "its SHA-256 differs" in done.stdout
    done = shoal("audit", "r.csv", *MADE[:4], "--k", "4")
    assert done.returncode == 0  # the promise is kept; by the way, this is another file
    assert f"{MANIFEST} next to it describes another file" in " ".join(done.stderr.split())
    (released / "r.csv").rename(released / "other.csv")
    done = shoal("audit", "other.csv", "--manifest", MANIFEST)
    assert done.returncode == 1
    assert "r.csv is named in the manifest and is not in the same folder" in done.stdout
    assert "other.csv is not named in the manifest" in done.stdout


def test_a_second_table_is_told_too(shoal: Run, folder: Path) -> None:
    words = (*QUASI, "--sensitive", "disease", "--method", "anatomy", "--l", "2")
    asked = (*words, "--l-kind", "frequency", "--seed", SEED, "-o", "r.csv")
    assert shoal("anonymize", "people.csv", *asked).returncode == 0
    assert set(read(folder / MANIFEST)["files"]) == {"r.csv", "r.st.csv"}
    assert shoal(*AGAIN, MANIFEST, "--seed", SEED).returncode == 0
    (folder / "r.st.csv").unlink()
    done = shoal("audit", "r.csv", "--manifest", MANIFEST, "--st", "r.csv")
    assert done.returncode != 0


def test_a_file_that_is_no_manifest_is_never_replaced(folder: Path, refused, shoal: Run) -> None:
    (folder / MANIFEST).write_text("mine")
    said = refused("anonymize", "people.csv", *MADE, "-o", "r.csv")
    assert f"goes to {MANIFEST}, which exists and is not a manifest" in said
    (folder / MANIFEST).unlink()
    assert shoal("anonymize", "people.csv", *MADE, "-o", "r.csv").returncode == 0
    (folder / "r.csv").unlink()  # a manifest without its release is nobody's
    assert shoal("anonymize", "people.csv", *MADE, "-o", "r.csv").returncode == 0
    said = refused("anonymize", "people.csv", *MADE, "-o", "s.csv", "--json", "s.csv.manifest.json")
    assert "both name s.csv.manifest.json" in said


@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_in_python(folder: Path) -> None:
    source = folder / "people.csv"
    asked = {"quasi": ["age", "sex", "zip"], "sensitive": "disease", "k": 4}
    release = package.anonymize(source, **asked, seed=int(SEED))
    release.write(folder / "r.csv")
    assert package.audit(folder / "r.csv", manifest=folder / MANIFEST).holds
    # A frame has the same table, whatever file it came from.
    again = {"manifest": folder / MANIFEST, "again": True, "seed": int(SEED)}
    table = package.read_table(source)
    assert package.audit(**again, data=table).holds
    found = package.audit(**again, data=table.head(39))
    assert not found.holds and "Made again" in "".join(found.faults)
    with pytest.raises(package.ParameterError, match="again=True"):
        package.audit(folder / "r.csv", data=table, quasi=["age"])
    key = release.made.marks.key
    assert len(key) == 32 and key not in pickle.dumps(release)
    assert (
        pickle.loads(pickle.dumps(release)).made.marks.to_manifest()
        == release.made.marks.to_manifest()
    )
    assert key.hex() not in repr(release.made) + (folder / MANIFEST).read_text()


def test_a_dictionary_goes_beside_a_file(shoal: Run, folder: Path, refused) -> None:
    done = shoal("anonymize", "people.csv", *MADE, "-o", "r.csv", "--dictionary")
    assert done.returncode == 0, done.stderr
    assert "r.csv-metadata.json and r.csv.dictionary.html" in done.stdout
    assert set(package.open_release(folder / "r.csv").analysis_frame().columns) >= {
        "age_lo",
        "age_mid",
    }
    said = refused("anonymize", "people.csv", *MADE, "-o", "sqlite:x.db#r", "--dictionary")
    assert "needs a release that is written to a file" in said
    said = refused(
        "anonymize",
        "people.csv",
        *MADE,
        "-o",
        "s.csv",
        "--dictionary",
        "--json",
        "s.csv-metadata.json",
    )
    assert "both name s.csv-metadata.json" in said
