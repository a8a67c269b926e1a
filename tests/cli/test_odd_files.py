"""Files that once ended in a traceback end in a message and exit code 2, with nothing written."""

import datetime as dt

import polars as pl
import pytest

ROWS = [f"{i % 4},y" for i in range(20)]
LONG = "x" * 140_000


def durations(path):
    spans = [dt.timedelta(seconds=i % 4) for i in range(20)]
    pl.DataFrame({"a": [i % 4 for i in range(20)], "d": spans}).write_parquet(path)


FILES = {
    "a long name": (
        f"a,{LONG}\n" + "\n".join(ROWS),
        "cannot be read from line 1 on: a cell there has more than 131,072 characters",
    ),
    "a long cell in a ragged file": (
        "a,b\n" + "\n".join([f"1,{LONG}", *ROWS, "1"]),
        "cannot be read from line 2 on: a cell there has more than 131,072 characters",
    ),
    "a NUL in the first lines": ("a,b\n1,\0\n" + "\n".join(ROWS), "is a binary file"),
    "a NUL at the end": (
        "a,b\n" + "\n".join([*ROWS * 2000, "1,\0", "2,z"]),
        "holds a NUL byte in line 40002, which no text has",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_that_is_refused(name, shoal, folder):
    text, message = FILES[name]
    (folder / "in.csv").write_text(text + "\n")
    refused(shoal("anonymize", "in.csv", "--quasi", "a", "--k", "4", "-o", "out.csv"), message)
    assert not (folder / "out.csv").exists()


def test_a_long_cell_in_the_first_row_is_read(shoal, folder):
    (folder / "in.csv").write_text("\n".join(["a,b", f"1,{LONG}", *ROWS]) + "\n")
    found = shoal("anonymize", "in.csv", "--quasi", "a", "--keep", "b", "--k", "4", "-o", "o.csv")
    assert found.returncode == 0, found.stderr
    assert LONG in (folder / "o.csv").read_text()


@pytest.mark.parametrize("role", ["--quasi", "--sensitive"])
def test_durations(role, shoal, folder):
    durations(folder / "in.parquet")
    words = ("--quasi", "a", role, "d") if role != "--quasi" else ("--quasi", "a,d")
    found = shoal("anonymize", "in.parquet", *words, "--k", "4", "-o", "out.csv")
    refused(found, "Column 'd' holds durations; a ")
    refused(found, "Make numbers of them first, for instance seconds.")


def test_durations_passed_through_into_a_text_file(shoal, folder):
    durations(folder / "in.parquet")
    words = ("anonymize", "in.parquet", "--quasi", "a", "--keep", "d", "--k", "4")
    refused(shoal(*words, "-o", "out.csv"), "try another format, for instance .parquet")
    assert shoal(*words, "-o", "out.parquet").returncode == 0


def test_a_hierarchy_with_an_endless_label(shoal, folder):
    (folder / "trees").mkdir()
    (folder / "trees" / "sex.csv").write_text(f"f;{LONG};*\nm;x;*\n")
    words = ("--quasi", "age,sex", "--hierarchies", "trees", "--k", "4", "-o", "out.csv")
    found = shoal("anonymize", "people.csv", *words)
    refused(found, "A hierarchy has a label of more than 131,072 characters")


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 50_000 + "]" * 50_000, "a = " + "{a = " * 50_000 + "1" + "}" * 50_000],
    ids=["lists", "tables"],
)
def test_a_plan_nested_without_end(text, shoal, folder):
    (folder / "plan.toml").write_text(text + "\n")
    found = shoal("anonymize", "people.csv", "--plan", "plan.toml", "-o", "out.csv")
    refused(found, "plan.toml is not valid TOML (lists or tables in it are nested hundreds deep)")


def refused(found, message):
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr


def test_a_warning_while_reading_is_a_message(shoal, folder):
    (folder / "old.csv").write_bytes("stadt;alter\nKöln;3\nUlm;4\n".encode("cp1252"))
    done = shoal("inspect", "old.csv")
    assert done.stderr.startswith("Warning: old.csv is not UTF-8.")
    assert "ShoalWarning" not in done.stderr
