"""Every input is read once per command: files, and the query of a database."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from shoal.ext.databases import reading
from shoal.plan import plan as plans
from shoal.tables import files
from shoal.tables.write_files import write_table
from tests import inprocess
from tests.cli.conftest import PEOPLE, QUASI, Run

SENSITIVE = ("--sensitive", "disease")
ALL = (*QUASI, *SENSITIVE)
BESIDE = ("--original", "people.csv")
LATER = ("-o", "out.csv", "--force")

COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {
    "anonymize": (("anonymize", "people.csv", *ALL, "--k", "3", *LATER), {"people.csv": 1}),
    "anonymize and report": (
        ("anonymize", "people.csv", *ALL, "--k", "3", *LATER, "--report", "out.html"),
        {"people.csv": 1},
    ),
    "audit": (("audit", "release.csv", *ALL, "--k", "3"), {"release.csv": 1}),
    "audit beside the original": (
        ("audit", "release.csv", *ALL, "--k", "3", "--original", "people.csv"),
        {"release.csv": 1, "people.csv": 1},
    ),
    "audit and report": (
        ("audit", "release.csv", *ALL, "--k", "3", *BESIDE, "--report", "a.html", "--force"),
        {"release.csv": 1, "people.csv": 1},
    ),
    "audit anatomy": (
        ("audit", "a.csv", *QUASI, "--l", "2", "--l-kind", "frequency"),
        {"a.csv": 1, "a.st.csv": 1},
    ),
    "risk": (
        ("risk", "release.csv", *ALL, "--original", "people.csv"),
        {"release.csv": 1, "people.csv": 1},
    ),
    "attack": (
        ("attack", "people.csv", "release.csv", "--known", "age,sex,zip", *SENSITIVE),
        {"release.csv": 1, "people.csv": 1},
    ),
    "estimate": (("estimate", "release.csv", "--of", "disease=flu"), {"release.csv": 1}),
    "inspect": (("inspect", "people.csv", *QUASI), {"people.csv": 1}),
    "init": (("init", "people.csv", "-o", "plan.toml", "--force"), {"people.csv": 1}),
    "hierarchy make": (
        ("hierarchy", "make", "people.csv", "age", "--how", "intervals", "-o", "age.csv"),
        {"people.csv": 1},
    ),
    "hierarchy check": (
        ("hierarchy", "check", "sex.csv", "--data", "people.csv"),
        {"people.csv": 1},
    ),
    "demo": (("demo",), {"patients.csv.gz": 1}),
    "compare": (
        ("compare", "people.csv", *ALL, "--methods", "mondrian", "--k", "2,3"),
        {"people.csv": 1},
    ),
}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generalized release and one of Anatomy next to the table."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(PEOPLE + "\n")
    frequency = ("--method", "anatomy", "--l", "2", "--l-kind", "frequency")
    for name, words in (("release.csv", ("--k", "3")), ("a.csv", frequency)):
        done = inprocess.shoal(folder, "anonymize", "people.csv", *ALL, *words, "-o", name)
        assert done.returncode == 0, done.stderr
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    return folder


@pytest.fixture
def made(once: Path, folder: Path) -> Path:
    """The same files in the folder of the test."""
    return Path(shutil.copytree(once, folder, dirs_exist_ok=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_file_is_read_once(
    made: Path, shoal: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    words, expected = COMMANDS[name]
    seen: Counter[str] = Counter()
    real = files.read_csv

    def counted(text: bytes, path: Path, *rest: object, **named: object) -> object:
        seen[path.name] += 1
        return real(text, path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "read_csv", counted)
    done = shoal(*words)
    assert done.returncode == 0, done.stderr
    assert seen == expected


@pytest.mark.parametrize("system", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "name", ["anonymize", "anonymize and report", "audit", "audit and report", "risk", "attack"]
)
def test_a_query_runs_once(
    made: Path, shoal: Run, monkeypatch: pytest.MonkeyPatch, name: str, system: str
) -> None:
    """The tables are in a database: every selection from it is counted."""
    import polars as pl

    for table in ("people", "release"):
        frame = pl.read_csv(made / f"{table}.csv", infer_schema=table == "people")
        write_table(frame, f"{system}:x.db#{table}")
    words = tuple(
        f"{system}:x.db#{word.removesuffix('.csv')}"
        if word in ("people.csv", "release.csv")
        else word
        for word in COMMANDS[name][0]
    )
    seen: Counter[str] = Counter()
    real = reading.selection

    def counted(database: object, source: object) -> str:
        seen[str(source)] += 1
        return real(database, source)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "selection", counted)
    done = shoal(*words)
    assert done.returncode == 0, done.stderr
    assert len(seen) == len(COMMANDS[name][1])
    assert set(seen.values()) == {1}


def test_the_page_reads_a_table_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker of the page is asked for one table after the other: look, check, run."""
    from shoal.ext.web import tasks

    table = {"path": str(folder / "people.csv"), "missing": [""], "delimiter": None}
    plan = '[columns]\nage = {role = "quasi"}\nsex = {role = "quasi"}\n[[rules]]\n'
    plan += 'name = "k-anonymity"\nk = 3\n'
    seen: list[str] = []
    real = files.read_csv

    def counted(text: bytes, path: Path, *rest: object, **named: object) -> object:
        seen.append(path.name)
        return real(text, path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "read_csv", counted)
    tasks._last.clear()
    tasks.look(str, table=table, folder=str(folder))
    tasks.check(str, table=table, plan=plan, folder=str(folder), method="mondrian")
    where = {"folder": str(folder), "target": str(folder / "run"), "command": "", "name": "people"}
    where["shown_path"] = "people.csv"
    tasks.run(str, table=table, plan=plan, earlier={}, **where)
    assert seen == ["people.csv"]


def test_what_is_wrong_with_the_call_is_said_before_the_table_is_read() -> None:
    import shoal as library

    with pytest.raises(library.PlanError, match="no method 'mondrain'"):
        library.anonymize("there is no such file.csv", quasi="age", method="mondrain")
    with pytest.raises(library.PlanError, match="'k' parameter of k-anonymity"):
        library.anonymize("there is no such file.csv", quasi="age", k=1)


@pytest.mark.parametrize("name", ["anonymize", "audit and report", "risk", "attack", "inspect"])
def test_a_plan_is_validated_once_and_flags_by_themselves(
    made: Path, shoal: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (made / "p.toml").write_text('[columns.age]\nrole = "quasi"\n')
    seen: list[dict[str, object]] = []
    real = plans._validated

    def counted(tree: dict[str, object], *rest: str) -> object:
        seen.append(tree)
        return real(tree, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plans, "_validated", counted)
    assert shoal(*COMMANDS[name][0]).returncode == 0
    assert len(seen) <= 1
    seen.clear()
    assert shoal(*COMMANDS[name][0], "--plan", "p.toml").returncode == 0
    assert len(seen) <= 2
    # What the file says of columns is looked at once.
    assert ["columns" in tree for tree in seen].count(True) == 1
