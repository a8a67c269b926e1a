"""One outlier neither ruins its column nor shows in what is written beside a release."""

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
from shoal.coding.encode import encode
from shoal.measures.outliers import idle_grids, outlier_warnings
from shoal.tables.domain import Taxonomy
from shoal.tables.grid import AUTO, TailedStep, interval_ends, outliers, step_of, usual_range
from shoal.tables.makers import intervals, prefixes
from shoal.tables.schema import Schema, declare
from tests.inprocess import shoal as command

ROWS = 280


def incomes(outlier: int | None = 7_654_321) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    income = rng.integers(8_000, 98_766, ROWS)
    income[5] = 98_765
    if outlier is not None:
        income[17] = outlier
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": income,
            "ill": rng.choice(["a", "b", "c"], ROWS),
        }
    )


def test_the_usual_range_ends_where_tukey_calls_a_value_far_out() -> None:
    points = np.arange(0.0, 101.0)  # quartiles 25 and 75, so fences at -125 and 225
    assert usual_range(points) == (0.0, 100.0)
    assert usual_range(np.append(points, 224.0)) == (0.0, 224.0)
    least, most = usual_range(np.concatenate(([-500.0], points, [300.0])))
    assert (least, most) == (0.0, 100.0)
    below, above = outliers(np.concatenate(([-500.0], points, [300.0])))
    assert (below.tolist(), above.tolist()) == ([-500.0], [300.0])
    assert usual_range(np.array([1.0, 2.0, 3.0, 1000.0])) == (1.0, 1000.0)  # too few to say


def test_the_step_is_the_one_without_the_outlier() -> None:
    plain = step_of(incomes(None)["income"].unique().sort(), AUTO, "income")
    values = incomes()["income"].unique().sort()
    step = step_of(values, AUTO, "income")
    assert step == TailedStep(plain, 8_000, 100_000)
    low, high = interval_ends(values, step)
    assert (low[-1], high[-1]) == (5_000_000, 10_000_000)
    assert high[-2] == 100_000


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8),
    st.sampled_from([1, 7, 1000]),
    st.sampled_from([pl.Int64, pl.Float64]),
)
def test_ends_of_outliers_hold_them_and_keep_their_order(far, scale, dtype) -> None:
    values = pl.Series(sorted({*far, *range(0, 200 * scale, scale)}), dtype=dtype)
    step = step_of(values, AUTO, "x")
    low, high = interval_ends(values, step)
    assert ((low <= values) & (values <= high)).all()
    assert low.is_sorted()
    assert high.is_sorted()


@given(st.lists(st.dates(dt.date(1, 1, 2), dt.date(9998, 1, 1)), min_size=1, max_size=5))
def test_dates_far_out_are_published_with_their_year(far) -> None:
    days = pl.date_range(pl.date(2021, 3, 3), pl.date(2021, 9, 9), "1d", eager=True).to_list()
    values = pl.Series(sorted({*far, *days}))
    step = step_of(values, AUTO, "day")
    if step is None:
        return
    low, high = interval_ends(values, step)
    assert ((low <= values) & (values <= high)).all()
    assert low.is_sorted()
    assert high.is_sorted()
    points = values.to_physical().cast(pl.Float64).to_numpy()
    under = np.flatnonzero(points < usual_range(points)[0]).tolist()
    assert all(low[i].timetuple().tm_yday == 1 for i in under)


def test_widths_are_measured_in_the_range_without_outliers() -> None:
    table = incomes()
    (domain,) = encode(table, declare(table, quasi=["income"])).domains
    least, most = domain.usual
    assert most <= 98_765
    assert domain.span == most - least
    places = np.arange(domain.size)
    # The interval over everybody but the outlier, and over everybody, cost the same: all.
    first, last = places[:1], places[-1:]
    assert domain.width(first, last) == domain.width(first, last - 1) == 1.0
    # What a cell covers is not cut: the one that reaches to the outlier holds it.
    assert domain.covered[1][-1] == domain.size - 1


def test_one_outlier_leaves_the_others_their_classes() -> None:
    with pytest.warns(shoal.ShoalWarning, match="1 person lies far above all others"):
        release = shoal.anonymize(incomes(), quasi=["income"], sensitive="ill", k=10, seed=2**70)
    cells = release.frame["income"].unique().to_list()
    assert len(cells) > 20
    reaching = [cell for cell in cells if cell.endswith("-10000000]")]
    assert len(reaching) == 1
    assert not any("7654" in cell for cell in cells)
    assert release.audit().holds


def test_an_outlier_is_named_with_a_top_that_enough_people_reach() -> None:
    table = incomes()
    with pytest.warns(shoal.ShoalWarning) as said:
        shoal.anonymize(table, quasi=["income"], sensitive="ill", k=10)
    (text,) = [str(w.message) for w in said if "far above" in str(w.message)]
    assert "7654321" not in text
    top = int(re.search(r"--top income=(\d+)", text)[1])
    assert table.filter(pl.col("income") >= top).height >= 10
    release = shoal.anonymize(
        table, quasi=["income"], sensitive="ill", k=10, top={"income": top}, strict=True
    )
    assert not any("10000000" in cell for cell in release.frame["income"])
    assert release.with_original(shoal.open(table, plan=release.plan)).audit().holds


def test_one_of_three_or_four_values_is_named_too() -> None:
    def warnings(*values: int) -> list[str]:
        rows = [*values[:-1]] * 20 + [values[-1]]
        frame = pl.DataFrame({"x": rows, "y": ["a"] * len(rows)})
        return [*outlier_warnings(frame, declare(frame, quasi=["x"]), 5)]

    assert "far above" in warnings(0, 1, 1_000_000)[0]
    assert "far below" in warnings(7, 8, 9, -99)[0]
    assert not warnings(0, 1, 4)
    assert not warnings(0, 1_000_000)  # nothing says which of two is far out


def test_outliers_are_counted_in_people() -> None:
    table = incomes().with_columns(pid=pl.Series([0 if i < 60 else i for i in range(ROWS)]))
    many = table.with_columns(
        income=pl.when(pl.int_range(pl.len()) < 30).then(7_000_000).otherwise("income")
    )
    said = "In column 'income' 1 person lies far above all others"
    with pytest.warns(shoal.ShoalWarning, match=said):
        shoal.anonymize(
            many.filter(pl.col("income") != 7_654_321), quasi=["income"], person="pid", k=5
        )


def test_dates_far_out_are_named_without_a_top() -> None:
    days = [dt.date(2023, 1, 1) + dt.timedelta(days=i) for i in range(ROWS - 1)]
    table = pl.DataFrame({"day": [*days, dt.date(1900, 1, 1)], "ill": ["a", "b"] * (ROWS // 2)})
    with pytest.warns(shoal.ShoalWarning, match="1 person lies far below all others.*list it as"):
        release = shoal.anonymize(table, quasi=["day"], sensitive="ill", k=7)
    assert any(cell.startswith("[1900-01-01-2023") for cell in release.frame["day"])


def test_an_outlier_under_a_hierarchy_of_intervals_is_named_too() -> None:
    table, said = incomes(), "'income' 1 person lies far above all others.*an open end"
    tree = intervals(table["income"], "income")

    def warnings(frame: pl.DataFrame, made=tree) -> list[str]:
        schema = declare(frame, quasi=["income"], taxonomies=["income"])
        return list(outlier_warnings(frame, schema, 10, {"income": made}))

    (text,) = warnings(table)
    assert re.search(said, text) and "7654321" not in text
    (text,) = warnings(table.with_columns(pl.col("income").cast(pl.String)))
    assert re.search(said, text)
    plain = incomes(None)
    flat = [(str(value), "*") for value in table["income"].unique()]
    assert not warnings(plain, intervals(plain["income"], "income"))
    # Nothing but * above the values shows nothing, and codes are no intervals.
    assert not warnings(table, Taxonomy.from_rows(flat, "income"))
    assert not warnings(table, prefixes(table["income"].cast(pl.String), "income"))
    with pytest.warns(shoal.ShoalWarning, match=said):
        shoal.anonymize(table, quasi=["income"], k=10, hierarchies={"income": tree})


def test_the_finest_intervals_of_a_hierarchy_ignore_outliers() -> None:
    tree = intervals(incomes()["income"], "income")
    plain = intervals(incomes(None)["income"], "income")
    of = dict(zip(tree.values, tree.levels[1].tolist(), strict=True))
    own = dict(zip(plain.values, plain.levels[1].tolist(), strict=True))
    assert tree.labels[of["98765"]] == plain.labels[own["98765"]] == "[95000-99999]"


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--typed",)])
def test_no_file_beside_the_release_tells_the_step(tmp_path, words) -> None:
    incomes().write_csv(tmp_path / "t.csv")
    base = ("anonymize", "t.csv", "--quasi", "age,income", "--sensitive", "ill", "--k", "10")
    out = ("-o", "r.csv", "--report", "r.html", "--audience", "public", "--dictionary")
    done = command(tmp_path, *base, *words, *out, "--seed", str(2**80))
    assert done.returncode == 0, done.stderr
    manifest = (tmp_path / "r.csv.manifest.json").read_text()
    assert '"grid": "auto"' in manifest
    assert "2000" not in re.sub(r'"[0-9a-f]{64}"', "", manifest)
    for file in tmp_path.glob("r.*"):
        assert "7654321" not in file.read_text()
    again = command(
        tmp_path,
        *("audit", "--again", "--manifest", "r.csv.manifest.json"),
        *("--data", "t.csv", "--seed", str(2**80)),
    )
    assert again.returncode == 0, again.stdout + again.stderr


def moments(every: str, many: int) -> pl.Series:
    start = dt.datetime(2023, 1, 1)
    return pl.datetime_range(start, start + dt.timedelta(days=many), every, eager=True)


def with_grid(frame: pl.DataFrame, grid: str | float) -> Schema:
    (column,) = declare(frame, quasi=["at"]).columns
    return Schema((replace(column, grid=grid),))


@pytest.mark.parametrize(
    ("every", "days", "step"),
    [("1h", 12, "day"), ("30m", 12, "hour"), ("1d", 80, "week"), ("1h", 5, "hour")],
)
def test_an_automatic_grid_of_moments_is_wider_than_they_lie_apart(every, days, step) -> None:
    values = moments(every, days)
    assert step_of(values, AUTO, "at") == step
    table = pl.DataFrame({"at": values})
    idle = every == "1h" and step == "hour"  # no wider step has ten intervals in five days
    said = list(idle_grids(table, with_grid(table, AUTO)))
    assert len(said) == idle
    if idle:
        assert "'at' every value lies on a full hour" in said[0] and "--grid at=day" in said[0]
        with pytest.warns(shoal.ShoalWarning, match="every value lies on a full hour"):
            shoal.anonymize(table, quasi=["at"], k=5)


def test_a_grid_that_was_asked_for_and_hides_nothing_is_named() -> None:
    table = pl.DataFrame({"at": moments("1h", 40)})
    assert [len(list(idle_grids(table, with_grid(table, grid)))) for grid in ("hour", AUTO)] == [
        1,
        0,
    ]
    numbers = pl.DataFrame({"at": range(100)})  # a whole number says no more than itself
    assert not list(idle_grids(numbers, with_grid(numbers, 1.0)))
