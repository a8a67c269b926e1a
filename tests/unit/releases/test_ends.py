"""Intervals as their two ends, and their middle: of ordered columns and of trees of intervals."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import SchemaError
from shoal.plan.plan import Plan
from shoal.releases.ends import cell_texts, ends_of
from shoal.tables.domain import Taxonomy
from shoal.tables.label_spans import label_spans
from shoal.tables.makers import intervals

TREE = Taxonomy.from_rows(
    [(str(age), f"[{age // 10 * 10}-{age // 10 * 10 + 9}]", "*") for age in range(20, 60)], "age"
)
QUASI = ["age", "day", "team"]


@pytest.fixture
def table() -> pl.DataFrame:
    rng = np.random.default_rng(18)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 300, 80)]
    ages = pl.Series(rng.integers(20, 60, 80))
    return pl.DataFrame(
        {
            "age": ages.set(pl.Series(rng.random(80) < 0.1), None),
            "day": days,
            "team": rng.choice(["a", "b"], 80),
            "ill": rng.choice(["flu", "gout", "cold"], 80),
        }
    )


def made(table: pl.DataFrame, **asked: object) -> shoal.Release:
    hierarchies = {"age": TREE}
    defaults = {"quasi": QUASI, "sensitive": "ill", "hierarchies": hierarchies}
    return shoal.anonymize(table, **(defaults | {"k": 4, "method": "mondrian"} | asked))


def rows(*paths: str) -> Taxonomy:
    return Taxonomy.from_rows([tuple(path.split(";")) for path in paths], "x")


@pytest.mark.parametrize(
    ("tree", "low", "high"),
    [
        (rows("1;[1-2];*", "2;[1-2];*", "7;[3-9];*"), [1, 2, 7, 1, 3, None], [1, 2, 7, 2, 9, None]),
        # A top with a name of its own reaches as far as what it stands over.
        (rows("1;0-4;all", "5;5-9;all"), [1, 5, 0, 5, 0], [1, 5, 4, 9, 9]),
        (
            rows("-2.5;[-5--1];[-5~5]", "0;(-1, 5];[-5~5]"),
            [-2.5, 0, -5, -1, -5],
            [-2.5, 0, -1, 5, 5],
        ),
        (rows("1;*", "2;*"), [1, 2, None], [1, 2, None]),
    ],
)
def test_ends_are_those_that_labels_name(tree: Taxonomy, low: list, high: list) -> None:
    ends = label_spans(tree)
    assert ends is not None
    assert [end.to_list() for end in ends] == [low, high]


@pytest.mark.parametrize(
    "tree",
    [
        rows("a;[1-2];*", "2;[1-2];*"),  # a value that is no number
        rows("1;young;*", "50;old;*"),  # a group that is no interval
        rows("1;[1-2];*", "7;[3-5];*"),  # an interval that does not hold what is under it
        rows("1;1-4;[1-4];*", "2;1-4;[1-4];*", "7;7-8;[7-9];*"),  # two labels with the same ends
        rows("1;[9-0];*", "2;[9-0];*"),
        rows(f"{2**60};*", "2;*"),  # no float is this number
    ],
)
def test_other_trees_have_no_ends(tree: Taxonomy) -> None:
    assert label_spans(tree) is None


def test_of_made_intervals() -> None:
    values = pl.Series([1.5, 2.0, 3.25, 9.75])
    ends = label_spans(intervals(values, "x"))
    assert ends is not None
    assert all((low <= high) for low, high in zip(*ends, strict=True) if low is not None)


@pytest.mark.slow
def test_a_tree_of_intervals_is_published_as_its_ends(table: pl.DataFrame, tmp_path: Path) -> None:
    text, typed = made(table, seed=2**80), made(table, typed=True, seed=2**80)
    frame = typed.frame
    assert frame.columns == ["age_lo", "age_hi", "day_lo", "day_hi", "team", "ill"]
    assert frame["age_lo"].dtype == pl.Int64
    # The same cells in the same order, said in another way.
    assert cell_texts(frame, "age", TREE).to_list() == text.frame["age"].to_list()
    assert typed.made.read_off == text.made.read_off
    for suffix in ("csv", "parquet", "arrow"):
        path = tmp_path / f"out.{suffix}"
        typed.write(path)
        plan, trees = typed.made.plan, {"age": TREE}
        assert shoal.audit(path, plan=plan, hierarchies=trees, original=table).holds
        assert shoal.audit(path, quasi=QUASI, k=4).holds
        told = shoal.estimate(path, of="ill", by="age", hierarchies=trees)
        asked = shoal.estimate(text, of="ill", by="age")
        assert told.counts.count.tolist() == asked.counts.count.tolist()


def test_the_check_compares_numbers_not_labels(table: pl.DataFrame, tmp_path: Path) -> None:
    typed = made(table, typed=True)
    typed.frame.with_columns(pl.col("age_lo") + 1).write_parquet(tmp_path / "wrong.parquet")
    verdict = shoal.audit(
        tmp_path / "wrong.parquet",
        plan=typed.made.plan,
        hierarchies={"age": TREE},
        original=table,
    )
    assert not verdict.holds
    assert "rows of the original" in " ".join(verdict.faults)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_middle_is_half_way(table: pl.DataFrame, tmp_path: Path, suffix: str) -> None:
    release = made(table, mid=True)
    frame = release.frame
    assert frame.columns[:6] == ["age_lo", "age_hi", "age_mid", "day_lo", "day_hi", "day_mid"]
    half = (pl.col("age_lo") + pl.col("age_hi")) / 2
    assert frame.select((half == pl.col("age_mid")).all()).item()
    assert frame["age_mid"].null_count() == frame["age_lo"].null_count() > 0
    days = frame.select(
        off=pl.col("day_mid") - pl.col("day_lo"), to=pl.col("day_hi") - pl.col("day_mid")
    )
    assert ((days["to"] - days["off"]).dt.total_days().is_in([0, 1])).all()
    release.write(tmp_path / f"out.{suffix}")
    plan = release.made.plan
    again = shoal.audit(tmp_path / f"out.{suffix}", plan=plan, hierarchies={"age": TREE})
    assert again.holds
    assert again.classes == release.verdict.classes


def test_a_middle_that_says_more_is_none(table: pl.DataFrame, tmp_path: Path) -> None:
    release = made(table, mid=True)
    path = tmp_path / "out.parquet"
    shifted = release.frame.with_columns(pl.col("age_mid") + pl.int_range(pl.len()) / 100)
    assert ends_of(shifted, "age") == ["age_lo", "age_hi"]
    shifted.write_parquet(path)
    verdict = shoal.audit(path, plan=release.made.plan, hierarchies={"age": TREE})
    assert not verdict.holds
    assert "'age_mid'" in " ".join(verdict.faults)


@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
def test_a_column_of_the_table_that_is_called_so(table: pl.DataFrame) -> None:
    named = table.with_columns(pl.lit(7).alias("age_mid"))
    release = made(named, typed=True, keep="age_mid")
    assert release.verdict.holds
    with pytest.raises(SchemaError, match="needs a column named 'age_mid'"):
        made(named, mid=True, keep="age_mid")


@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_texts_in_order_have_no_middle() -> None:
    table = pl.DataFrame({"grade": ["low", "mid", "top"] * 200, "x": range(600)})
    columns = {"grade": {"role": "quasi", "kind": "ordered", "order": ["low", "mid", "top"]}}
    release = shoal.anonymize(table, plan=Plan(columns=columns), k=201, mid=True)
    assert release.frame.columns == ["grade_lo", "grade_hi"]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_the_middle_of_moments_is_half_way_to_the_tick(unit: str) -> None:
    low = pl.Series([dt.datetime(1999, 1, 1), dt.datetime(2020, 1, 2, 3, 4, 5, 678_901), None])
    low = low.dt.cast_time_unit(unit)
    high = (low + dt.timedelta(days=9, milliseconds=1)).dt.cast_time_unit(unit)
    frame = pl.DataFrame({"at_lo": low, "at_hi": high})
    half = (pl.col("at_hi").to_physical() - pl.col("at_lo").to_physical()) // 2
    for off, held in ((0, True), (2, False), (-2, False)):
        middle = (pl.col("at_lo").to_physical() + half + off).cast(low.dtype)
        assert (len(ends_of(frame.with_columns(at_mid=middle), "at")) == 3) == held
