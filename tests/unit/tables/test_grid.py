"""Ends of intervals that are not data."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.base.errors import SchemaError
from shoal.base.partition import Partition
from shoal.coding.encode import encode
from shoal.coding.joins import joins
from shoal.coding.space import make_space
from shoal.groupers.boxes import make_boxes
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from shoal.tables.grid import AUTO, OFF, interval_ends, step_of
from shoal.tables.schema import Schema, declare

DAYS = pl.date_range(pl.date(2019, 1, 3), pl.date(2021, 12, 30), "11d", eager=True)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (pl.Series(range(17, 91)), 2.0),
        (pl.Series(range(0, 30_000, 7)), 500.0),
        (pl.Series([0, 1, 2, 3, 4]), None),  # two of five would be half of the column
        (pl.Series([18.5, 20.123, 47.9]), 0.5),
        (pl.Series([0.010, 0.011, 0.030]), None),  # three digits, and only twenty steps of them
        (DAYS, "month"),
        (pl.Series([dt.datetime(2024, 1, 1, 8, 5), dt.datetime(2024, 1, 9, 17, 41)]), "hour"),
        (pl.Series([dt.time(8, 5), dt.time(17, 41)]), None),
        (pl.Series([3, 3]).unique(), None),
        (pl.Series([10**17, 10**17 + 5]), None),  # a number that is a key
    ],
    ids=["age", "income", "few", "bmi", "digits", "dates", "times", "of day", "one", "keys"],
)
def test_the_step_comes_from_range_and_precision(values, step) -> None:
    assert step_of(values, AUTO, "x") == step
    assert step_of(values, OFF, "x") is None


@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, unique=True),
    st.sampled_from([1, 2, 5, 10, 50]),
)
def test_whole_numbers_are_rounded_outwards_to_multiples(numbers, step) -> None:
    values = pl.Series(sorted(numbers))
    low, high = interval_ends(values, step)
    assert (low % step == 0).all()
    assert (high % step == 0).all()
    assert ((low <= values) & (values <= high) & (high - low <= step)).all()


@pytest.mark.slow
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, unique=True),
    st.sampled_from([0.001, 0.05, 0.1, 0.2, 0.5, 2.0, 2.5, 50.0]),
)
def test_numbers_are_rounded_outwards_and_written_short(numbers, step) -> None:
    values = pl.Series(sorted(numbers), dtype=pl.Float64)
    low, high = interval_ends(values, step)
    assert ((low <= values) & (values <= high)).all()
    assert np.allclose((low / step).round(), low / step, atol=1e-6)
    digits = len(str(step).split(".")[1])
    assert all(float(f"{end:.{digits}f}") == end for end in [*low, *high])


@pytest.mark.parametrize("step", ["week", "month", "quarter", "year"])
def test_dates_reach_to_the_ends_of_a_period(step) -> None:
    low, high = interval_ends(DAYS, step)
    assert ((low <= DAYS) & (high >= DAYS)).all()
    assert {"week": low.dt.weekday(), "month": low.dt.day()}.get(step, low.dt.day()).n_unique() == 1
    after = high.dt.offset_by("1d")
    assert interval_ends(after, step)[0].equals(after)  # the next day begins the next period


def test_times_are_rounded_to_the_hour() -> None:
    times = pl.Series([dt.datetime(2024, 1, 1, 8, 5), dt.datetime(2024, 1, 1, 9, 0)])
    low, high = interval_ends(times, "hour")
    assert low.to_list() == [dt.datetime(2024, 1, 1, 8), dt.datetime(2024, 1, 1, 9)]
    assert high.to_list() == [dt.datetime(2024, 1, 1, 9), dt.datetime(2024, 1, 1, 9)]


@pytest.mark.parametrize(
    ("values", "grid", "said"),
    [
        (pl.Series([1, 2, 9]), 0.0, "a step above 0"),
        (pl.Series([1, 2, 9]), "moth", "Did you mean 'month'?"),
        (pl.Series([1, 2, 9]), "month", "which holds whole numbers"),
        (pl.Series([1, 2, 9]), 2.5, "which holds whole numbers"),
        (pl.Series([1.5, 2, 9]), "day", "which holds numbers"),
        (DAYS, 5.0, "which holds dates"),
        (DAYS, "hour", "which holds dates"),
        (pl.Series([dt.time(8), dt.time(9)]), "hour", "times of day"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(values, grid, said) -> None:
    with pytest.raises(SchemaError, match=re.escape(said)):
        step_of(values, grid, "x")


def _table(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "bmi": (rng.normal(26, 4, rows)).round(2),
            "sex": rng.choice(["f", "m"], rows),
            "illness": rng.choice(["flu", "cold", "gout"], rows),
        }
    )


@pytest.mark.slow
def test_every_end_is_a_multiple_and_the_loss_is_what_is_published() -> None:
    table = _table()
    release = shoal.anonymize(
        table, quasi=["age", "bmi", "sex"], sensitive="illness", k=4, grid={"age": 5, "bmi": 0.5}
    )
    spans = {"age": table["age"], "bmi": table["bmi"]}
    lost = 0.0
    for name, step in (("age", 5), ("bmi", 0.5)):
        least, most = spans[name].min(), spans[name].max()
        for cell in release.frame[name]:
            if not cell.startswith("["):
                continue
            low, high = map(float, re.fullmatch(r"\[(.+)-(.+)\]", cell).groups())
            assert low % step == 0
            assert high % step == 0
            lost += (min(high, most) - max(low, least)) / (most - least)
    lost += sum(cell.startswith("{") for cell in release.frame["sex"])
    assert release.loss.rate == pytest.approx(lost / (3 * table.height))
    assert release.with_original(shoal.open(table, quasi=["age", "bmi", "sex"])).audit(k=4).holds


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_typed_columns_follow_the_grid() -> None:
    table = _table()
    release = shoal.anonymize(
        table, quasi=["age", "bmi"], k=4, grid={"age": 5, "bmi": OFF}, typed=True, slack=0.1
    )
    pairs = release.frame.select("age_lo", "age_hi").unique()
    wide = pairs.filter(pl.col("age_lo") != pl.col("age_hi"))
    assert ((wide["age_lo"] % 5 == 0) & (wide["age_hi"] % 5 == 0)).all()
    assert set(release.frame["bmi_lo"]) <= set(table["bmi"])


@pytest.mark.slow
def test_the_plan_repeats_the_run_and_does_not_hold_the_automatic_step() -> None:
    table = _table()
    first = shoal.anonymize(table, quasi=["age", "sex"], k=4, grid={"age": AUTO}, seed=2**70)
    assert first.plan.columns["age"].grid == AUTO
    again = shoal.anonymize(table, plan=first.plan, seed=2**70)
    assert again.frame.equals(first.frame)


@pytest.mark.parametrize("grid", [5, 7.0, AUTO])
@pytest.mark.parametrize("objective", ["ncp", "entropy"])
def test_kernels_price_what_is_published(grid, objective) -> None:
    """A naive twin: the widths of all pairs of values, from the published ends alone."""
    table = _table(120).select("age")
    schema = declare(table, quasi=["age"])
    schema = Schema(tuple(replace(column, grid=grid) for column in schema.columns))
    data = encode(table, schema)
    domain = data.domains[0]
    values = sorted(set(table["age"]))
    counts = table["age"].value_counts()
    share = {value: count / table.height for value, count in counts.iter_rows()}
    info = {value: -share[value] * np.log(share[value]) for value in values}
    low, high = interval_ends(domain.values, step_of(domain.values, grid, "age"))
    boxes = make_boxes(data, data.weights, objective)
    space = make_space(data, objective)
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            inside = [v for v in values if low[i] <= v <= high[j]]
            if objective == "ncp":
                wide = (inside_range(high[j], values) - inside_range(low[i], values)) / (
                    values[-1] - values[0]
                )
                assert space.right[j] - space.left[i] == pytest.approx(wide)
            else:
                wide = sum(info[v] for v in inside[1:]) / sum(info[v] for v in values[1:])
                assert space.right[j] - space.left[i] == pytest.approx(sum(info[v] for v in inside))
            assert boxes.tab[i * (len(values) + 1) + j] == pytest.approx(wide)


def inside_range(value: float, values: list[float]) -> float:
    return min(max(value, values[0]), values[-1])


def test_groups_with_the_same_ends_are_one_class() -> None:
    table = pl.DataFrame({"age": [20, 21, 22, 23, 40, 41]})
    schema = declare(table, quasi=["age"])
    schema = Schema(tuple(replace(column, grid=5) for column in schema.columns))
    data = encode(table, schema)
    partition = Partition.from_labels(np.array([0, 0, 1, 1, 2, 2]))
    (join,) = joins(data, partition)
    _, which = join.distinct
    assert which[0] == which[1] != which[2]
    assert iloss(data, partition).rate == pytest.approx((4 * 5 + 2 * 1) / 21 / 6)
    assert KAnonymity(4).obstacle(data.whole()) is None
