"""The easy path is the safe one: init, then anonymize, then an attack that knows every column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal as library
from shoal.api.opening import read_table
from shoal.base.roles import Role
from shoal.plan.plan import Plan
from tests.cli.conftest import Run
from tests.guessing.values import SHARED, draw

K = 5
NAMES = ("adult.csv.gz", "diabetes130.parquet", "fars.csv.gz", "heart.csv.gz")


def clinic() -> pl.DataFrame:
    """Test results of a hospital: last names, clinics and days beside what is asked for."""
    rng = np.random.default_rng(16)
    rows = 400
    return pl.DataFrame(
        {
            "last_name": draw("last de", rng),
            "clinic": rng.choice(["North", "East", "South"], rows),
            "day": draw("dates 2024-01-01 2024-03-31 %d.%m.%Y", rng),
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["f", "m"], rows),
            "result_code": rng.choice(["neg", "pos"], rows, p=[0.944, 0.056]),
            "shelf": rng.choice([f"s{j}" for j in range(40)], rows),
        }
    )


def liver() -> pl.DataFrame:
    """A study with the body mass index to the third digit."""
    rng = np.random.default_rng(17)
    rows = 400
    frame = pl.DataFrame(
        {
            "age": rng.integers(25, 85, rows),
            "sex": rng.choice(["f", "m"], rows),
            "bmi": rng.normal(26, 4, rows).round(3),
            "fibrosis": rng.choice(["F0", "F1", "F2", "F3"], rows),
            "disease": rng.choice(["HBV", "HCV", "NASH"], rows),
        }
    )
    return frame.with_columns(tertile=pl.col("bmi").rank() * 3 // rows)


def attacked(shoal: Run, folder: Path, frame: pl.DataFrame) -> float:
    """Take the easy path, and return how often the right row is picked at most."""
    frame.write_csv(folder / "table.csv")
    assert shoal("init", "table.csv", "-o", "plan.toml", "--force").returncode == 0
    plan = Plan.read(folder / "plan.toml")
    assert not plan.names(Role.KEEP)
    done = shoal(
        "anonymize", "table.csv", "--plan", "plan.toml", "--k", str(K), "--effort", "fast",
        "-o", "release.csv", "--force",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in plan.names(Role.UNDECIDED):
        assert repr(name) in done.stderr
    released = read_table(folder / "release.csv")
    sensitive = plan.names(Role.SENSITIVE)
    known = [name for name in released.columns if name not in sensitive]
    found = library.attack(
        folder / "release.csv",
        original=folder / "table.csv",
        plan=folder / "plan.toml",
        known=known,
        attacks=["linkage"],
        seed=1,
    )
    return found.results[0].success


@pytest.mark.parametrize("table", [clinic, liver])
def test_tables_that_gave_people_away(shoal: Run, folder: Path, table) -> None:
    assert attacked(shoal, folder, table()) <= 1 / K


@pytest.mark.deep
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not here")
@pytest.mark.parametrize("name", NAMES)
def test_the_shared_tables(shoal: Run, folder: Path, name: str) -> None:
    frame = read_table(SHARED / name)
    assert attacked(shoal, folder, frame.head(1_000)) <= 1 / K


def test_what_is_undecided_is_named_with_the_reason(shoal: Run, folder: Path) -> None:
    clinic().write_csv(folder / "table.csv")
    done = shoal("init", "table.csv", "-o", "plan.toml")
    reason = "neither name nor values suggest a role"
    assert f"not decided yet: shelf ({reason})" in done.stdout
    text = (folder / "plan.toml").read_text()
    assert f'# {reason}\n[columns.shelf]\nrole = "undecided"' in text
    # One edit away.
    decided = text.replace('role = "undecided"', 'role = "keep"')
    (folder / "plan.toml").write_text(decided)
    done = shoal("anonymize", "table.csv", "--plan", "plan.toml", "-o", "release.csv")
    assert (
        "Warning: Someone who also knows a person's 'result_code' and 'shelf' could" in done.stderr
    )
    assert "shelf" in read_table(folder / "release.csv").columns
