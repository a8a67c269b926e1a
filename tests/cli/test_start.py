"""From a raw file to a first safe release, asked and unasked."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

import shoal as library
from shoal.base.errors import ShoalWarning
from shoal.plan.plan import Plan
from tests.cli.conftest import SHOAL, Run


def clinic(folder: Path) -> None:
    """A German clinic's file: semicolons, decimal commas, dates with dots, visits of people."""
    lines = ["PatNr;Alter;Geschlecht;PLZ;Aufnahme;Kreatinin;Diagnose;Bemerkung"]
    lines += [
        f"P{1000 + i // 2};{20 + i % 50};{'mw'[i % 2]};{10115 + 13 * (i % 9)};"
        f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024;0,{50 + i % 40};"
        f"{('J45', 'E11', 'I10', 'F32')[i % 4]};Text {i * i}"
        for i in range(120)
    ]
    (folder / "klinik.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_yes_releases_only_what_is_certain(shoal: Run, folder: Path) -> None:
    done = shoal("start", "people.csv", "--yes", "--k", "3")
    assert done.returncode == 0, done.stderr
    release = pl.read_csv(folder / "people.release.csv", infer_schema=False)
    assert release.columns == ["age", "sex", "zip", "disease"], "names are not released"
    classes = release.group_by(["age", "sex", "zip"]).agg(pl.len(), pl.col("disease").n_unique())
    assert classes["len"].min() >= 3
    assert classes["disease"].min() >= 2
    plan = Plan.read(folder / "people.plan.toml")
    assert plan.columns["name"].role.value == "identifier"
    assert "<html" in (folder / "people.report.html").read_text()
    again = shoal("start", "people.csv", "--yes")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_the_command_it_names_runs(shoal: Run, folder: Path) -> None:
    done = shoal("start", "people.csv", "--yes", "--k", "3")
    named = next(line for line in done.stdout.splitlines() if line.startswith("  shoal anonymize"))
    assert shoal(*named.split()[1:]).returncode == 0


def test_a_clinics_file_counts_people_and_holds_free_text_back(shoal: Run, folder: Path) -> None:
    clinic(folder)
    done = shoal("start", "klinik.csv", "--yes", "--k", "5")
    assert done.returncode == 0, done.stderr
    plan = Plan.read(folder / "klinik.plan.toml")
    assert plan.columns["PatNr"].role.value == "person"
    assert plan.columns["Bemerkung"].role.value in ("undecided", "identifier")
    columns = pl.read_csv(folder / "klinik.release.csv", infer_schema=False).columns
    assert "PatNr" not in columns
    assert "Bemerkung" not in columns
    assert {"Alter", "Geschlecht", "PLZ", "Diagnose"} <= set(columns)
    assert "60 different people" in done.stdout


def test_without_a_terminal_it_says_what_to_do(command: Run, folder: Path) -> None:
    done = command("start", "people.csv")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv"]


def answered(folder: Path, *answers: str) -> tuple[int, str]:
    """Run the command on a terminal and type answers."""
    ours, theirs = pty.openpty()
    words = [SHOAL, "start", "people.csv", "--no-browser"]
    process = subprocess.Popen(
        words,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "dumb"},
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    shown, end = b"", time.monotonic() + 120
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            if select.select([ours], [], [], 1)[0]:
                shown += os.read(ours, 65536)
    os.close(ours)
    if process.poll() is None and time.monotonic() > end:
        process.kill()
    return process.wait(timeout=120), shown.decode()


def test_answers_decide(folder: Path) -> None:
    # No person; first a name that there is not, then two columns; the suggestion; back and again;
    # of the column that is left no word that there is, then one; k.
    words = ["", "agee", "age,sex", "", "<", "disease", "none", "dr", "none", "4"]
    code, shown = answered(folder, *words)
    assert code == 0, shown
    assert "agee" in shown
    assert "Give a whole number, 2 or more" in shown
    assert "Give one of generalize, protect, keep, drop" in shown
    assert "9 numbers from 100 to 108" in shown, "the values of the column are shown"
    plan = Plan.read(folder / "people.plan.toml")
    roles = {name: part.role.value for name, part in plan.columns.items()}
    assert roles == {
        "name": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zip": "drop",
        "disease": "sensitive",
    }
    assert plan.rules[0].spec["k"] == 4
    assert pl.read_csv(folder / "people.release.csv").columns == ["age", "sex", "disease"]


def test_skewed_values_are_protected_as_far_as_a_rule_can_and_the_reason_is_given(
    shoal: Run, folder: Path
) -> None:
    rows = [
        f"{20 + i % 30},{'fm'[i % 2]},{'pos' if i % 50 == 0 else 'neg'},same" for i in range(200)
    ]
    (folder / "tests.csv").write_text("\n".join(["age,sex,diagnosis,disease", *rows]) + "\n")
    done = shoal("start", "tests.csv", "--yes", "--k", "5")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "one value has 98.0% of the rows" in said
    assert "Rules: k-anonymity (k = 5), t-closeness (t = 0.2)." in said
    assert "all its known values are the same" in said
    release = pl.read_csv(folder / "tests.release.csv", infer_schema=False)
    assert release.columns == ["age", "sex", "diagnosis"]


def test_every_way_makes_the_same_first_release(shoal: Run, folder: Path) -> None:
    clinic(folder)
    assert shoal("start", "klinik.csv", "--yes").returncode == 0
    assert shoal("init", "klinik.csv", "-o", "init.toml").returncode == 0
    started, written = Plan.read(folder / "klinik.plan.toml"), Plan.read(folder / "init.toml")
    started = started.changed({"columns": {"Geschlecht": {"hierarchy": _named(written)}}})
    assert written.asks_the_same(started)
    names = ("--seed", "1", "-o")
    assert shoal("anonymize", "klinik.csv", "--plan", "init.toml", *names, "1.csv").returncode == 0
    with pytest.warns(ShoalWarning, match="Consider making these columns quasi"):
        release = library.start(folder / "klinik.csv", seed=1)
    release.write(folder / "2.csv")
    assert (folder / "2.csv").read_bytes() == (folder / "1.csv").read_bytes()
    assert [rule.spec for rule in release.plan.rules] == [rule.spec for rule in written.rules]


def _named(plan: Plan) -> str:
    return str(plan.columns["Geschlecht"].hierarchy)


def test_nothing_is_written_when_it_is_stopped_at_a_question(folder: Path) -> None:
    code, _ = answered(folder, "\x04")
    assert code != 0
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
