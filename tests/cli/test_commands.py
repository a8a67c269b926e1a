"""What the commands do when all is well.

The first ones start the installed command; the others call what it calls, in this process.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import shoal as package
from tests import inprocess
from tests.cli.conftest import QUASI, Run

HEAD = ("anonymize", "people.csv", *QUASI, "--sensitive", "disease", "--identifier", "name")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_anonymize_then_audit(command: Run, folder: Path) -> None:
    done = command(*HEAD, "--k", "4", "-o", "out.csv", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert "reached: k = " in done.stdout
    assert "Wrote out.csv, out.csv.manifest.json and out.json." in done.stdout
    released = rows(folder / "out.csv")
    # Counted by hand, without any of our code.
    classes = Counter((row["age"], row["sex"], row["zip"]) for row in released)
    assert len(released) == 40
    assert min(classes.values()) >= 4
    assert list(released[0]) == ["age", "sex", "zip", "disease"]
    assert Counter(row["disease"] for row in released) == {"flu": 14, "cold": 13, "secret": 13}
    audit = command("audit", "out.csv", *QUASI, "--k", "4", "--original", "people.csv")
    assert audit.returncode == 0, audit.stdout + audit.stderr
    assert "The file keeps its promise." in audit.stdout


def test_audit_of_a_broken_promise_is_one_with_the_worst_groups(command: Run) -> None:
    done = command("audit", "people.csv", *QUASI, "--k", "3")
    assert done.returncode == 1
    assert "BROKEN" in done.stdout
    assert "reached: k = 1" in done.stdout
    assert "The file breaks its promise." in done.stdout
    assert "rows" in done.stdout


def test_audit_finds_a_published_identifier(shoal: Run) -> None:
    flags = (*QUASI, "--identifier", "name", "--original", "people.csv")
    done = shoal("audit", "people.csv", *flags, "--k", "2")
    assert done.returncode == 1
    assert "'name'" in done.stdout


def test_the_figures_hold_what_they_should_and_no_secret(shoal: Run, folder: Path) -> None:
    shoal(*HEAD, "--k", "4", "--seed", "98765431", "-o", "out.csv", "--json", "out.json")
    text = (folder / "out.json").read_text()
    figures = json.loads(text)
    wanted = {"method", "rows_in", "rows_out", "groups", "loss", "achieved", "verified"}
    assert wanted | {"seconds", "versions", "plan"} <= set(figures)
    assert set(figures["loss"]) == {"rate", "generalization", "removal", "by_column"}
    assert set(figures["loss"]["by_column"]) == {"age", "sex", "zip"}
    stages = {"read", "encode", "group", "recode", "verify", "write", "total"}
    assert set(figures["seconds"]) == stages
    assert all(figures["seconds"][name] > 0 for name in stages)
    assert figures["seconds"]["total"] >= sum(figures["seconds"][s] for s in stages - {"total"})
    assert figures["verified"] is True
    assert figures["achieved"]["k"] >= 4
    assert figures["seeded"] is True
    assert figures["plan"]["rules"] == [{"name": "k-anonymity", "k": 4}]
    assert "98765431" not in text
    assert "secret" not in text
    assert "flu" not in text


def test_a_seed_repeats_the_bytes_and_no_seed_does_not(command: Run, folder: Path) -> None:
    """In another process as well."""
    again, seed = partial(inprocess.shoal, folder), ("--seed", "7")
    for name, run, more in (("a", command, seed), ("b", again, seed), ("c", again, ())):
        assert run(*HEAD, "--k", "4", *more, "-o", f"{name}.csv").returncode == 0
    assert again(*HEAD, "--k", "4", "-o", "d.csv").returncode == 0
    a, b, c, d = ((folder / f"{name}.csv").read_bytes() for name in "abcd")
    assert a == b
    assert c != d


def test_rows_come_out_in_another_order(shoal: Run, folder: Path) -> None:
    # Identical quasi-identifiers and a running number: only the order could change.
    lines = ["age,number", *(f"30,{i}" for i in range(60))]
    (folder / "same.csv").write_text("\n".join(lines))
    shoal("anonymize", "same.csv", "--quasi", "age", "--keep", "number", "--k", "2", "-o", "o.csv")
    numbers = [int(row["number"]) for row in rows(folder / "o.csv")]
    assert sorted(numbers) == list(range(60))
    assert numbers != sorted(numbers)


def test_init_then_plan_then_flags_override(shoal: Run, folder: Path) -> None:
    done = shoal("init", "people.csv", "-o", "plan.toml")
    assert done.returncode == 0, done.stderr
    plan = (folder / "plan.toml").read_text()
    assert '[columns.age]\nrole = "quasi"\nkind = "ordered"' in plan
    assert "# the column name suggests 'disease'" in plan
    assert 'name = "k-anonymity"\nk = 10' in plan
    done = shoal(
        "anonymize", "people.csv", "--plan", "plan.toml", "-o", "a.csv", "--json", "a.json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "a.json").read_text())["achieved"]["k"] >= 10
    done = shoal(
        *("anonymize", "people.csv", "--plan", "plan.toml", "--k", "3", "--method", "k-member"),
        *("--option", "seeds=furthest", "--quasi", "age,sex", "-o", "b.csv", "--json", "b.json"),
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads((folder / "b.json").read_text())
    assert figures["method"] == "k-member"
    assert figures["plan"]["method"]["seeds"] == "furthest"
    rules = [{"name": "k-anonymity", "k": 3}, {"name": "l-diversity", "l": 2}]
    assert figures["plan"]["rules"] == rules
    # zip is no longer declared, so it is not released.
    assert list(rows(folder / "b.csv")[0]) == ["age", "sex", "disease"]
    assert "already exists" in shoal("init", "people.csv", "-o", "plan.toml").stderr


def test_without_roles_a_guess_is_made_and_said(shoal: Run, folder: Path) -> None:
    done = shoal("anonymize", "people.csv", "--k", "4", "-o", "out.csv")
    assert done.returncode == 0
    assert "Roles were guessed (quasi: age, sex, zip; sensitive: disease" in done.stderr
    assert "name" not in rows(folder / "out.csv")[0]


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".parquet", ".arrow", ".feather"])
def test_every_output_format_can_be_audited(shoal: Run, folder: Path, suffix: str) -> None:
    assert shoal(*HEAD, "--k", "4", "-o", f"out{suffix}", "--typed").returncode == 0
    done = shoal("audit", f"out{suffix}", *QUASI, "--k", "4", "--original", "people.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    if suffix == ".parquet":
        frame = pl.read_parquet(folder / "out.parquet")
        assert frame.columns == ["age_lo", "age_hi", "sex", "zip_lo", "zip_hi", "disease"]
        assert frame["age_lo"].dtype == pl.Int64


def test_inspect(shoal: Run) -> None:
    done = shoal("inspect", "people.csv")
    assert done.returncode == 0
    for words in (
        "40 rows, 5 columns",
        "identifier",
        "quasi",
        "sensitive",
        "missing values",
        "unique",
    ):
        assert words in done.stdout
    # 6 of 40 rows lack their zip: 6 of 120 cells, 15 % of the rows.
    assert "5.0 %" in done.stdout
    assert "15.0 %" in done.stdout
    for words in ("Columns that identify people", "rows that are unique", "age + zip", "Row "):
        assert words in done.stdout
    # A steward's screen is no place for sensitive values.
    assert "flu" not in done.stdout


def test_hierarchy_make_check_and_use(shoal: Run, folder: Path) -> None:
    (folder / "trees").mkdir()
    head = ("hierarchy", "make", "people.csv")
    made = shoal(*head, "age", "--how", "intervals", "--widths", "5,10", "-o", "trees/age.csv")
    assert made.returncode == 0, made.stderr
    assert (folder / "trees/age.csv").read_text().startswith("20;[20-24];[20-29];*\n")
    assert shoal(*head, "sex", "--how", "flat", "-o", "trees/sex.csv").returncode == 0
    assert shoal(*head, "zip", "--how", "prefixes", "-o", "trees/zip.csv").returncode == 0
    done = shoal("hierarchy", "check", "trees", "--data", "people.csv")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("covers every value") == 3
    (folder / "trees/sex.csv").write_text("m;*\n")
    done = shoal("hierarchy", "check", "trees", "--data", "people.csv")
    assert done.returncode == 1
    assert "BROKEN  sex.csv" in done.stdout
    assert "'f' (20 rows)" in done.stdout


def test_names_with_commas_spaces_and_umlauts(shoal: Run, folder: Path) -> None:
    lines = ['"age, years",größe,other stuff', *(f"{i % 5},{i % 3},x" for i in range(20))]
    (folder / "odd.csv").write_text("\n".join(lines))
    done = shoal(
        *("anonymize", "odd.csv", "--quasi", "age, years", "--quasi", "größe", "--k", "2"),
        *("-o", "out.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert list(rows(folder / "out.csv")[0]) == ["age, years", "größe"]
    done = shoal("audit", "out.csv", "--quasi", '"age, years",größe', "--k", "2")
    assert done.returncode == 0, done.stderr
    assert shoal("init", "odd.csv", "-o", "plan.toml").returncode == 0
    assert '[columns."age, years"]' in (folder / "plan.toml").read_text()


def test_values_cannot_steer_a_terminal(shoal: Run, folder: Path) -> None:
    (folder / "evil.csv").write_text("age,town\n1,\x1b[31mred\n2,[bold]x[/bold]\n")
    done = shoal("inspect", "evil.csv")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_demo_shows_and_keeps(command: Run, shoal: Run, folder: Path) -> None:
    done = command("demo", "--out", "demo")
    assert done.returncode == 0, done.stderr
    for words in ("Before", "After", "Information loss", "Verified", "5,000 synthetic patients"):
        assert words in done.stdout
    released = rows(folder / "demo" / "release.csv")
    columns = [name for name in released[0] if name != "diagnosis"]
    classes = Counter(tuple(row[name] for name in columns) for row in released)
    assert len(released) == 5000
    assert min(classes.values()) >= 5
    audit = shoal("audit", "demo/release.csv", "--plan", "demo/plan.toml")
    assert audit.returncode == 0
    again = shoal("anonymize", "demo/patients.csv", "--plan", "demo/plan.toml", "-o", "again.csv")
    assert again.returncode == 0, again.stderr
    # One plan repeats a run, byte for byte.
    assert (folder / "again.csv").read_bytes() == (folder / "demo/release.csv").read_bytes()
    assert "already exists" in shoal("demo", "--out", "demo").stderr


def test_methods_lists_the_catalog(shoal: Run) -> None:
    done = shoal("methods")
    for words in (
        "shoal (default)",
        "kaim",
        "k-member",
        "weights",
        "seeds",
        "missing",
        "k-anonymity (--k)",
    ):
        assert words in done.stdout


def test_version_and_help(shoal: Run) -> None:
    assert shoal("--version").stdout.startswith(f"shoal {package.__version__}")
    assert "Usage" in shoal().stdout + shoal().stderr


def test_an_audit_does_not_claim_for_people_what_holds_of_rows(shoal: Run, folder: Path) -> None:
    rows = "".join(f"{20 + i // 4},p{i // 2}\n" for i in range(16))
    (folder / "visits.csv").write_text("age,who\n" + rows)
    made = shoal(
        "anonymize", "visits.csv", "--quasi", "age", "--person", "who", "--k", "2",
        "--grid", "age=off", "-o", "out.csv",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    asked = ("audit", "out.csv", "--quasi", "age", "--person", "who", "--k", "2")
    blind = shoal(*asked)
    assert blind.returncode == 3
    assert "rows     every class has at least 2 rows" in blind.stdout
    assert "Cannot tell whether the promise is kept." in blind.stdout
    assert "keeps its promise" not in blind.stdout
    told = shoal(*asked, "--original", "visits.csv")
    assert told.returncode == 0
    assert "16 rows of 8 people in 4 classes" in told.stdout
    assert "holds    every class has at least 2 different people" in told.stdout
