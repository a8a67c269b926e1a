"""`--report` on the real command: what is written, what is refused, and nothing half done."""

import sqlite3
from contextlib import closing

from shoal.base.address import take_passwords
from shoal.cli.reporting import command_line
from tests.cli.conftest import QUASI


def test_a_run_writes_its_report_for_the_steward(shoal, folder):
    done = shoal(
        "anonymize", "people.csv", *QUASI, "--sensitive", "disease", "--k", 4, "--seed", "31337",
        "-o", "out.csv", "--report", "out.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Wrote out.csv, out.csv.manifest.json and out.html." in done.stdout
    page = (folder / "out.html").read_text()
    assert "<h1><bdi>Release of people.csv</bdi></h1>" in page
    assert "Every class has at least 4 rows (k-anonymity)." in page
    assert "shoal anonymize people.csv --quasi age,sex,zip --sensitive disease --k 4 -o" in page
    assert "31337" not in page
    assert "SHA-256 of the input" in page
    assert "Attacks that were tried" in page
    assert "N17" not in page


def test_the_public_report_names_neither_the_input_nor_the_loss(shoal, folder):
    done = shoal(
        "anonymize", "people.csv", *QUASI, "--k", 4, "-o", "out.csv",
        "--report", "out.html", "--audience", "public",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (folder / "out.html").read_text().split("Words used here")[0]
    assert "The promise is kept." in page
    for word in ("people.csv", "information lost", "Attacks", "SHA-256", "--quasi"):
        assert word not in page


def test_an_audit_writes_its_report_and_keeps_its_exit_code(shoal, folder):
    shoal("anonymize", "people.csv", *QUASI, "--k", 4, "-o", "out.csv")
    done = shoal(
        "audit", "out.csv", *QUASI, "--k", 4, "--original", "people.csv", "--report", "a.html"
    )
    assert done.returncode == 0, done.stderr
    assert "Distributions, before and after" in (folder / "a.html").read_text()
    done = shoal("audit", "people.csv", *QUASI, "--k", 4, "--report", "b.html")
    assert done.returncode == 1
    page = (folder / "b.html").read_text()
    assert "The promise is broken." in page
    assert "The classes that break the rules most" in page


def test_what_cannot_be_written_is_refused_before_the_work(refused, folder):
    words = ("anonymize", "people.csv", *QUASI, "--k", 4, "-o", "out.csv")
    assert "--audience public says who reads the report, and there is none" in refused(
        *words, "--audience", "public"
    )
    assert "no audience 'press'" in refused(*words, "--report", "x.html", "--audience", "press")
    assert "does not end in .html" in refused(*words, "--report", "x.txt")
    assert "--json and --report both name same.html" in refused(
        *words, "--report", "same.html", "--json", "same.html"
    )
    (folder / "old.html").write_text("mine")
    assert "already exists" in refused(*words, "--report", "old.html")
    assert "already exists" in refused("audit", "people.csv", *QUASI, "--report", "old.html")
    assert "the directory" in refused(*words, "--report", "nowhere/x.html")


def test_force_replaces_an_old_report(shoal, folder):
    (folder / "old.html").write_text("mine")
    done = shoal(
        "anonymize", "people.csv", *QUASI, "--k", 4, "-o", "out.csv",
        "--report", "old.html", "--force",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The promise is kept." in (folder / "old.html").read_text()


def test_the_command_is_told_without_seed_and_password():
    words = [
        "anonymize",
        "postgresql://me:hunter2@host/db#t",
        "--seed",
        "7",
        "--seed=8",
        "-o",
        "x y",
    ]
    said = command_line(take_passwords(words))
    assert said == "shoal anonymize 'postgresql://me:***@host/db#t' -o 'x y'"


def test_a_table_of_a_database_can_be_reported(shoal, folder):
    with closing(sqlite3.connect(folder / "d.db")) as base, base:
        base.execute("create table people (age int, town text)")
        rows = [(20 + i % 20, f"t{i % 3}") for i in range(40)]
        base.executemany("insert into people values (?, ?)", rows)
    done = shoal(
        "anonymize", "sqlite:d.db#people", "--quasi", "age,town", "--k", 4, "-o", "out.csv",
        "--report", "out.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (folder / "out.html").read_text()
    assert "Release of sqlite:d.db#people" in page
    assert "SHA-256 of the input" not in page
    assert "SHA-256 of the file" not in page


def test_what_is_wrong_with_a_report_is_said_before_spark_starts(refused):
    words = ("anonymize", "people.csv", *QUASI, "-o", "out", "--engine", "spark")
    assert "does not end in .html" in refused(*words, "--report", "x.txt")
    assert "--report FILE.html" in refused(*words, "--audience", "public")
    assert "--dictionary describes one file" in refused(*words, "--dictionary")


def test_labels_without_their_hierarchy_are_not_called_exact(shoal, folder):
    rows = [f"{('young', 'old')[i % 2]},{('flu', 'cold')[i % 3 == 0]}" for i in range(20)]
    (folder / "other.csv").write_text("\n".join(["ages,disease", *rows]) + "\n")
    done = shoal("audit", "other.csv", "--quasi", "ages", "--k", "5", "--report", "x.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "x.html").read_text()
    assert "no hierarchy was given, so their labels count as exact" in page
    assert '<span class="grade">as written</span>' in page
    assert '<span class="grade">exact</span>' not in page
