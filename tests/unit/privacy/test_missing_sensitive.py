"""Missing sensitive values under t-closeness and beta-likeness, from the command to the cells."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import KAnonymity, TCloseness
from tests.inprocess import shoal as command


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """People whose value is missing far more often when they are young."""
    rng = np.random.default_rng(11)
    age = rng.integers(20, 80, 400)
    value = rng.choice(["flu", "asthma", "burn"], 400, p=[0.2, 0.3, 0.5])
    gap = rng.random(400) < np.where(age < 30, 0.6, 0.02)
    return pl.DataFrame(
        {"age": age, "sex": rng.choice(["f", "m"], 400), "ill": np.where(gap, None, value)}
    )


def shares(values: list[str | None]) -> dict[str | None, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def classes(release: pl.DataFrame) -> list[list[str | None]]:
    values = pl.col("ill").replace("", None)
    return release.group_by("age", "sex").agg(values)["ill"].to_list()


def distance(values: list[str | None], whole: list[str | None]) -> float:
    p, q = shares(values), shares(whole)
    return sum(max(p[value] - q[value], 0.0) for value in p)


def test_no_class_has_many_more_gaps_than_the_table(table: pl.DataFrame) -> None:
    whole = table["ill"].to_list()
    made = {
        missing: shoal.anonymize(
            table,
            quasi=["age", "sex"],
            sensitive=["ill"],
            rules=[KAnonymity(5), TCloseness(0.2, "ill", missing=missing)],
            seed=5,
        )
        for missing in ("value", "ignore")
    }
    far = {
        missing: max(distance(values, whole) for values in classes(release.frame))
        for missing, release in made.items()
    }
    assert far["value"] <= 0.2 + 1e-9 < far["ignore"]
    known = [value for value in whole if value is not None]
    for values in classes(made["ignore"].frame):
        assert distance([value for value in values if value is not None], known) <= 0.2 + 1e-9
    with_gaps, without = (made[missing].verdict.rules[1] for missing in ("value", "ignore"))
    assert "a missing one counted as a value" in with_gaps.promise
    assert "with missing values left out" in without.promise
    assert with_gaps.achieved["t"] == pytest.approx(far["value"])


@pytest.mark.parametrize("rule", [("--t", "0.2"), ("--t", "0.3", "--t-distance", "ordered")])
def test_the_flag_chooses_the_reading_and_audits_keep_it(
    rule: tuple[str, ...], table: pl.DataFrame, tmp_path: Path
) -> None:
    table.write_csv(tmp_path / "t.csv")
    made = ("anonymize", "t.csv", "--quasi", "age,sex", "--sensitive", "ill", "--k", "5", *rule)
    ignored = command(tmp_path, *made, "--missing-sensitive", "ignore", "-o", "i.csv")
    assert ignored.returncode == 0 and "with missing values left out" in ignored.stdout
    counted = command(tmp_path, *made, "-o", "v.csv")
    assert counted.returncode == 0 and "a missing one counted as a value" in counted.stdout
    manifest = json.loads((tmp_path / "i.csv.manifest.json").read_text())
    assert manifest["plan"]["rules"][1]["missing"] == "ignore"
    # The plan of its manifest says how to read it; by name the default is asked for.
    audit = ("audit", "i.csv", "--quasi", "age,sex", "--sensitive", "ill", *rule)
    assert command(tmp_path, *audit, "--missing-sensitive", "ignore").returncode == 0
    broken = command(tmp_path, *audit)
    assert broken.returncode != 0 and "a missing one counted as a value" in broken.stdout
    lonely = command(
        tmp_path, *made[:6], "--k", "5", "--missing-sensitive", "ignore", "-o", "x.csv"
    )
    assert lonely.returncode == 2 and "--missing-sensitive only refines a rule" in lonely.stderr
