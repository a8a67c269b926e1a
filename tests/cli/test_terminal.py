"""What a terminal of 80 columns shows: short help, quiet and talkative runs, pipes, completion."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
from pathlib import Path

import polars as pl
import pytest

from shoal.cli import console
from tests.cli.conftest import PEOPLE, QUASI, SHOAL, Run

ROOT = Path(__file__).parent.parent.parent
COMMANDS = [name for name, _ in runpy.run_path(str(ROOT / "tools/make_cli_docs.py"))["commands"]()]
MONDRIAN = (*QUASI, "--k", "2", "--method", "mondrian")


def piped(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SHOAL, *words],
        cwd=folder,
        input=PEOPLE + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_two_screens_and_starts_with_an_example(name: str, shoal: Run) -> None:
    words = name.split()[1:]
    short = shoal(*words, "--help").stdout.splitlines()
    assert len(short) <= 80
    assert max(map(len, short)) <= 80
    assert short[0].startswith(f"Usage: {name}")
    assert short[2].startswith(f"  {name}"), "the example stands before the explanation"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_all_leaves_nothing_out(name: str, shoal: Run) -> None:
    words = name.split()[1:]
    short, whole = (shoal(*words, flag).stdout for flag in ("--help", "--help-all"))
    section = (ROOT / "docs" / "cli.md").read_text().split(f"## {name}\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| `--"):
            flag = line.split("`")[1].split()[0]
            assert f" {flag}" in whole, flag
    assert len(short.splitlines()) <= len(whole.splitlines())


def test_rare_options_wait_behind_help_all(shoal: Run) -> None:
    short, whole = (shoal("anonymize", flag).stdout for flag in ("--help", "--help-all"))
    assert len(short.splitlines()) <= 80
    for flag in ("--driver-tuples", "--slack", "--alpha-value", "--within", "--against", "--m "):
        assert flag not in short
        assert flag in whole
    for head in ("Input", "Columns", "Rules", "Method", "Output", "Help"):
        assert f"\n{head}\n" in short


def test_quiet_says_nothing_and_does_the_same(shoal: Run, folder: Path) -> None:
    done = shoal("anonymize", "people.csv", *MONDRIAN, "-o", "out.csv", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    assert all(line.startswith("Warning: ") for line in done.stderr.splitlines())
    assert (folder / "out.csv").exists()
    broken = shoal("audit", "out.csv", *QUASI, "--k", "30", "-q")
    assert (broken.returncode, broken.stdout) == (1, "")
    refused = shoal("audit", "none.csv", *QUASI, "-q")
    assert refused.returncode == 2
    assert "none.csv does not exist" in refused.stderr


def test_verbose_tells_what_a_run_took(shoal: Run) -> None:
    done = shoal("anonymize", "people.csv", *MONDRIAN, "-o", "out.csv", "--verbose")
    assert "Seconds: " in done.stderr
    assert "s of processor time" in done.stderr
    assert "Seconds: " not in done.stdout


def test_json_to_standard_output_is_json_alone(shoal: Run, folder: Path) -> None:
    looked = shoal("inspect", "people.csv", "--json", "-")
    told = json.loads(looked.stdout)
    assert told["rows"] == 40
    assert [column["name"] for column in told["columns"]][:2] == ["name", "age"]
    assert "people.csv: 40 rows" in looked.stderr
    run = shoal("anonymize", "people.csv", *MONDRIAN, "-o", "out.csv", "--json", "-")
    assert json.loads(run.stdout)["rows_out"] == 40
    audit = shoal("audit", "out.csv", *QUASI, "--k", "2", "--json", "-")
    assert json.loads(audit.stdout)
    assert not (folder / "-").exists()


def test_inspect_writes_what_json_names(shoal: Run, folder: Path) -> None:
    assert shoal("inspect", "people.csv", "--json", "look.json").returncode == 0
    assert json.loads((folder / "look.json").read_text())["below"].keys() == {"2", "5", "10"}
    again = shoal("inspect", "people.csv", "--json", "look.json")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_a_pipe_can_stand_at_both_ends(folder: Path) -> None:
    done = piped(folder, "anonymize", "-", *MONDRIAN, "--seed", str(3**60), "-o", "-")
    assert done.returncode == 0, done.stderr
    frame = pl.read_csv(done.stdout.encode())
    assert frame.height == 40
    assert frame.group_by(["age", "sex", "zip"]).len()["len"].min() >= 2
    assert "Verified: every class has at least 2 rows" in done.stderr
    made = subprocess.run(
        [SHOAL, "anonymize", "people.csv", *MONDRIAN, "--seed", str(3**60), "-o", "out.csv"],
        cwd=folder, capture_output=True, check=True,
    )  # fmt: skip
    assert made.returncode == 0
    assert (folder / "out.csv").read_text() == done.stdout


def test_standard_input_has_a_name(folder: Path) -> None:
    assert piped(folder, "inspect", "-").stdout.startswith("standard input: 40 rows, 5 columns")


def test_one_output_at_most_goes_to_standard_output(shoal: Run, folder: Path) -> None:
    both = shoal("anonymize", "people.csv", *MONDRIAN, "-o", "-", "--json", "-")
    assert both.returncode == 2
    assert "both name -" in both.stderr
    two = shoal(
        "anonymize", "people.csv", *QUASI, "--sensitive", "disease", "--l", "2", "--method",
        "anatomy", "-o", "-",
    )  # fmt: skip
    assert two.returncode == 2
    assert "standard output (-o -) takes one" in two.stderr


def completed(words: str) -> list[str]:
    environment = {
        "_SHOAL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [SHOAL], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_a_shell_can_complete_commands_and_options() -> None:
    assert completed("shoal in") == ["inspect", "init"]
    assert "--quasi" in completed("shoal anonymize --qu")
    shown = subprocess.run(
        [SHOAL, "--show-completion", "bash"],
        # Whatever shell the tests are started from.
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
    )
    assert "_SHOAL_COMPLETE" in shown.stdout


def test_figures_and_commands_stay_in_one_piece() -> None:
    text = "Of the rows that were looked at in this table, in all about 12.5 % are alone."
    broken = [line for width in range(20, 80) for line in console.wrapped(text, width)]
    assert not any(line.startswith("%") for line in broken)
    command = (
        "Make it with: shoal anonymize a/folder/of/mine/patients.csv --plan plan.toml -o x.csv"
    )
    assert console.wrapped(command, 60) == [command]
    assert (
        len(console.wrapped("  shoal (default): peels classes off the table, cheapest first", 40))
        > 1
    )
