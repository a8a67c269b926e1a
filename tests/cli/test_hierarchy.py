"""The command that makes, shows and checks hierarchies."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_make_shows_before_it_writes(shoal: Run, folder: Path) -> None:
    shown = shoal("hierarchy", "make", "people.csv", "age", "--how", "ages", "--top-age", "45")
    assert shown.returncode == 0, shown.stderr
    assert "*  40 rows" in shown.stdout
    assert "45+" in shown.stdout
    assert "nothing was written" in shown.stdout
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
    kept = shoal("hierarchy", "make", "people.csv", "age", "--how", "ages", "-o", "age.csv")
    assert "Wrote age.csv" in kept.stdout
    assert shoal("hierarchy", "check", "age.csv", "--data", "people.csv").returncode == 0


def test_show_is_a_tree_with_rows(shoal: Run, folder: Path) -> None:
    assert shoal("hierarchy", "make-all", "people.csv", "-o", "trees").returncode == 0
    made = {path.name for path in (folder / "trees").iterdir()}
    assert made == {"age.csv", "sex.csv", "zip.csv"}, "no sensitive column, no identifier"
    shown = shoal("hierarchy", "show", "trees/sex.csv", "--data", "people.csv")
    assert shown.stdout.splitlines()[:3] == ["*  40 rows", "  f  20 rows", "  m  20 rows"]
    lines = shoal("hierarchy", "show", "trees/age.csv", "--lines", "5").stdout.splitlines()
    assert len(lines) <= 7
    again = shoal("hierarchy", "make-all", "people.csv", "-o", "trees")
    assert again.returncode == 2
    assert "already exists" in again.stderr
    used = shoal(
        "anonymize", "people.csv", "--quasi", "age,sex,zip", "--hierarchies", "trees", "--k", "3",
        "--method", "mondrian", "-o", "out.csv",
    )  # fmt: skip
    assert used.returncode == 0, used.stderr


def test_names_have_no_prefixes(shoal: Run, folder: Path) -> None:
    rows = "".join(f"Klinikum {word}\n" for word in ("Nordstadt", "Suedstadt", "Weststadt"))
    (folder / "clinics.csv").write_text("clinic\n" + rows)
    refused = shoal("hierarchy", "make", "clinics.csv", "clinic", "--how", "prefixes")
    assert refused.returncode == 2
    assert "holds names" in refused.stderr
