"""Jobs and hierarchies of mosaicrown, qiyuangong and anjana, made by hand as these lay them out."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal as package
from shoal.plan.plan import Plan
from shoal.tables.hierarchy import read_hierarchy
from tests.cli.conftest import Run

COUNTRIES = {
    "cat": "World",
    "subcats": [
        {"cat": "Europe", "subcats": [{"cat": "Kiel", "subcats": None}, {"cat": "Bonn"}]},
        {"cat": "Asia", "subcats": {"cat": "East", "subcats": [{"cat": "Kyoto", "subcats": []}]}},
        {"cat": "Atlantis", "subcats": None},
    ],
}
JOB = {
    "input": "dataset/people.csv",
    "output": "anonymized/people.csv",
    "id_columns": ["name"],
    "redact": True,
    "quasiid_columns": ["age", "town", "zip", "sex"],
    "sensitive_columns": ["disease"],
    "column_score": "neg_entropy",
    "K": 3,
    "L": 2,
    "quasiid_generalizations": [
        {
            "qi_name": "town",
            "generalization_type": "categorical",
            "params": {"taxonomy_tree": "taxonomy/countries.json"},
        },
        {
            "qi_name": "age",
            "generalization_type": "numerical",
            "params": {"fanout": 2, "accuracy": 2, "digits": 3},
        },
        {
            "qi_name": "zip",
            "generalization_type": "common_prefix",
            "params": {"hide_mark": "+", "char_domain_size": "10"},
        },
        {
            "qi_name": "sex",
            "generalization_type": "categorical",
            "params": {"taxonomy_tree": "/mondrian/taxonomy/gone.json"},
        },
    ],
    "measures": ["discernability_penalty"],
}
TOWNS = ("Kiel", "Bonn", "Kyoto", "Atlantis")
TABLE = pl.DataFrame(
    {
        "name": [f"N{i}" for i in range(40)],
        "age": [20 + i % 15 for i in range(40)],
        "town": [TOWNS[i % 4] for i in range(40)],
        "zip": [1000 + i % 7 for i in range(40)],
        "sex": [("f", "m")[i % 2] for i in range(40)],
        "disease": [("flu", "cold", "gout")[i % 3] for i in range(40)],
    }
)


@pytest.fixture
def place(folder: Path) -> Path:
    """The folders of the tool: it is started in the one that holds config and taxonomy."""
    (folder / "config").mkdir()
    (folder / "taxonomy").mkdir()
    (folder / "config" / "job.json").write_text(json.dumps(JOB))
    (folder / "taxonomy" / "countries.json").write_text(json.dumps(COUNTRIES))
    TABLE.write_csv(folder / "table.csv")
    return folder


def test_a_job_becomes_a_plan_that_runs(place: Path, shoal: Run) -> None:
    done = shoal("init", "config/job.json", "-o", "plan.toml")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "6 columns and 1 hierarchy from mosaicrown" in said
    for note in (
        "redact: identifiers are left out",
        "Numeric tree of 'age' (fanout 2, accuracy 2)",
        "Common prefixes of 'zip': shoal hierarchy make",
        "Taxonomy of 'sex': /mondrian/taxonomy/gone.json is not beside the job",
        "column_score, measures: how the work is done there",
        "The table of the job is dataset/people.csv",
    ):
        assert note in said
    plan = Plan.read(place / "plan.toml")
    assert {name: part.role.value for name, part in plan.columns.items()} == {
        "name": "identifier",
        "disease": "sensitive",
        **dict.fromkeys(("age", "town", "zip", "sex"), "quasi"),
    }
    assert [dict(rule.spec) for rule in plan.rules] == [
        {"name": "k-anonymity", "k": 3},
        {"name": "l-diversity", "l": 2, "column": "disease"},
    ]
    assert (place / "plan.hierarchies" / "town.csv").read_text().splitlines() == [
        "Kiel;Kiel;Europe;World",
        "Bonn;Bonn;Europe;World",
        "Kyoto;East;Asia;World",
        "Atlantis;Atlantis;Atlantis;World",
    ]
    words = ("--plan", "plan.toml", "--method", "mondrian", "-o", "r.csv")
    done = shoal("anonymize", "table.csv", *words)
    assert done.returncode == 0, done.stderr
    assert shoal("audit", "r.csv", "--plan", "plan.toml").returncode == 0


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("[1]", "lists no quasiid_columns"),
        ("{", "is no job of mosaicrown"),
        ('{"quasiid_columns": ["a"]}', "asks for neither K nor L"),
        ('{"quasiid_columns": ["a"], "K": "many"}', "must be a whole number. Got 'many'"),
        ('{"quasiid_columns": "a", "K": 2}', "must list names of columns. Got 'a'"),
    ],
)
def test_what_is_no_job_is_refused(folder: Path, refused, job: str, said: str) -> None:
    (folder / "job.json").write_text(job)
    assert said in refused("init", "job.json", "-o", "plan.toml")
    assert not (folder / "plan.toml").exists()


def test_a_job_reads_nothing_from_elsewhere(place: Path, shoal: Run) -> None:
    """Somebody else's job must not copy any file that can be read into a plan."""
    secret = place.parent / "secret.json"
    secret.write_text(json.dumps(COUNTRIES))
    named = {"taxonomy_tree": str(secret)}
    how = [{"qi_name": "town", "generalization_type": "categorical", "params": named}]
    (place / "config" / "job.json").write_text(json.dumps({**JOB, "quasiid_generalizations": how}))
    done = shoal("init", "config/job.json", "-o", "plan.toml")
    assert done.returncode == 0
    assert "is not beside the job" in " ".join(done.stdout.split())
    assert not (place / "plan.hierarchies").exists()


def test_a_tree_in_json_is_a_hierarchy(place: Path, shoal: Run, refused) -> None:
    done = shoal("hierarchy", "check", "taxonomy/countries.json", "--column", "town")
    assert "4 values, 4 levels" in done.stdout
    (place / "taxonomy" / "countries.json").rename(place / "taxonomy" / "town.json")
    words = ("--quasi", "town,sex", "--hierarchies", "taxonomy", "--k", "5", "-o", "r.csv")
    done = shoal("anonymize", "table.csv", *words, "--method", "mondrian")
    assert done.returncode == 0, done.stderr
    (place / "taxonomy" / "town.csv").write_text("Kiel;*\n")
    assert "has 2 hierarchy files" in refused("anonymize", "table.csv", *words, "--force")
    (place / "bad.json").write_text('{"cat": "top", "subcats": ["leaf"]}')
    assert "a node below 'top' has no name" in refused("hierarchy", "show", "bad.json")


def test_rows_of_different_lengths_in_a_text(tmp_path: Path) -> None:
    """As qiyuangong's: a value that lies higher is nearer to the top."""
    file = tmp_path / "marital.txt"
    file.write_text("Never-married;*\nWed;Married;*\nPartner;Married;*")
    tree = read_hierarchy(file, "marital")
    assert {tree.labels[node] for node in tree.levels[1].tolist()} == {"Never-married", "Married"}
    assert tree.labels[tree.levels[-1][0]] == "*"


def test_files_and_dictionaries_of_anjana(tmp_path: Path) -> None:
    file = tmp_path / "age.csv"
    file.write_text("".join(f'{a},"[{a // 5 * 5}, {a // 5 * 5 + 5}[",*\n' for a in range(20, 35)))
    ages = TABLE["age"].to_list()
    by_rows = {0: ages, 1: [f"[{a // 5 * 5}, {a // 5 * 5 + 5}[" for a in ages]}
    asked = {"quasi": ["age", "sex"], "k": 4, "seed": 7, "method": "mondrian"}
    sexes = {"sex": {0: ["f", "m"], 1: ["*", "*"]}}
    one = package.anonymize(TABLE, **asked, hierarchies={"age": file, **sexes})
    other = package.anonymize(TABLE, **asked, hierarchies={"age": by_rows, **sexes})
    assert one.frame.equals(other.frame)
    assert set(one.frame["age"].cast(pl.String)) <= {"*", "[20, 25[", "[25, 30[", "[30, 35["}
    with pytest.raises(package.SchemaError, match="no hierarchy by levels"):
        package.anonymize(TABLE, **asked, hierarchies={"age": {0: [1, 2], 1: ["*"]}})
