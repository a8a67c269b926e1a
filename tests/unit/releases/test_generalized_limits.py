"""Which published cells break a limit: one cell at a time, what is wrong worked out by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.base.roles import Kind, Role
from shoal.plan.parts import ColumnPart, ReleasePart
from shoal.plan.plan import Plan
from shoal.privacy import KAnonymity
from shoal.releases.generalized.check import check
from shoal.releases.generalized.limits import limit_faults, strata_labels, strata_of
from shoal.releases.open_release import declared_columns
from shoal.releases.opened import Opened
from shoal.tables.domain import Taxonomy
from shoal.tables.original import Original
from shoal.tables.schema import declare

NUMBERS = Taxonomy.from_rows(
    [(str(n), f"{n // 10 * 10}s", "young" if n < 40 else "old", "all") for n in (21, 25, 38, 52)],
    "x",
)


def found(
    cells: list[str | None],
    kind: Kind = Kind.ORDERED,
    original: list[Any] | None = None,
    suppress: float | None = None,
    **limits: Any,
) -> list[str]:
    """Return the faults of a column of cells under some limits."""
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
    plan = Plan(
        columns={"x": ColumnPart(role=Role.QUASI, kind=kind, **limits)},
        release=ReleasePart(suppress=suppress),
    )
    trees = {"x": NUMBERS} if kind is Kind.TAXONOMY else {}
    opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), trees, plan=plan)
    source = None
    if original is not None:
        table = pl.DataFrame({"x": original})
        source = Original(table, declare(table, quasi=["x"], taxonomies=trees))
    return limit_faults(opened, source)


def wrong(cell: str, **limits: Any) -> list[str]:
    """Return what is said of one cell among others that keep every limit."""
    return [fault.split(" that are ")[1].split(",")[0] for fault in found([cell, "*"], **limits)]


@pytest.mark.parametrize(
    ("cell", "limits", "said"),
    [
        ("[20-30]", {"coarsest": 10}, []),
        ("[20-31]", {"coarsest": 10}, ["wider than 10 (coarsest)"]),
        ("[1e9-1000000010]", {"coarsest": 10}, []),
        ("90+", {"coarsest": 10}, ["wider than 10 (coarsest)"]),
        ("90+", {"coarsest": 10, "top": 90}, []),
        ("80+", {"coarsest": 10, "top": 90}, ["wider than 10 (coarsest)", "beyond top = 90"][:1]),
        ("<=18", {"coarsest": 10, "bottom": 18}, []),
        ("<=20", {"coarsest": 10, "bottom": 18}, ["wider than 10 (coarsest)"]),
        ("[20-30]", {"finest": 10}, []),
        ("[20-29]", {"finest": 10}, ["narrower than 10 (finest)"]),
        ("25", {"finest": 10}, ["narrower than 10 (finest)"]),
        ("[80-90]", {"top": 90}, []),
        ("[80-91]", {"top": 90}, ["beyond top = 90"]),
        ("90", {"top": 90}, ["beyond top = 90"]),
        ("89", {"top": 90}, []),
        ("95+", {"top": 90}, ["beyond top = 90"]),
        ("90+", {"top": 90}, []),
        ("[18-20]", {"bottom": 18}, []),
        ("[17-20]", {"bottom": 18}, ["below bottom = 18"]),
        ("18", {"bottom": 18}, ["below bottom = 18"]),
        ("19", {"bottom": 18}, []),
        ("<=17", {"bottom": 18}, ["below bottom = 18"]),
        ("<=18", {"bottom": 18}, []),
        ("[-inf-inf]", {"bottom": 18, "top": 90}, []),
        ("[20-30]", {"within": True}, ["no single value (within)"]),
        ("25", {"within": True}, []),
    ],
)
def test_numbers(cell: str, limits: dict[str, Any], said: list[str]) -> None:
    assert wrong(cell, **limits) == said


@pytest.mark.parametrize(
    ("cell", "limits", "said"),
    [
        ("20s", {"coarsest": 1}, []),
        ("young", {"coarsest": 1}, ["coarser than level 1 (coarsest)"]),
        ("young", {"finest": 2}, []),
        ("20s", {"finest": 2}, ["finer than level 2 (finest)"]),
        ("21", {"finest": 1}, ["finer than level 1 (finest)"]),
        ("21", {"within": True}, []),
        ("20s", {"within": True}, ["no single value (within)"]),
        ("old", {"top": 52}, []),  # all from 52 on, and nothing less
        ("52", {"top": 52}, ["within what top = 52 puts together"]),
        ("young", {"top": 38}, ["within what top = 38 puts together"]),
        ("20s", {"top": 38}, []),
        ("all", {"top": 38}, []),
        ("20s", {"bottom": 25}, []),
        ("21", {"bottom": 25}, ["within what bottom = 25 puts together"]),
        ("30s", {"bottom": 25}, []),
    ],
)
def test_hierarchies(cell: str, limits: dict[str, Any], said: list[str]) -> None:
    assert wrong(cell, kind=Kind.TAXONOMY, **limits) == said


@pytest.mark.parametrize(
    ("cell", "limits", "said"),
    [
        ("[2020-01-01-2020-01-31]", {"coarsest": "month"}, []),
        ("[2020-01-01-2020-02-02]", {"coarsest": "month"}, ["wider than a month (coarsest)"]),
        ("[2020-01-01-2020-01-31]", {"finest": "month"}, []),
        ("[2020-01-01-2020-01-30]", {"finest": "month"}, ["narrower than a month (finest)"]),
        ("[2020-01-02-2020-02-29]", {"finest": "month"}, ["narrower than a month (finest)"]),
        ("[2020-01-01-2020-03-31]", {"coarsest": "quarter", "finest": "month"}, []),
    ],
)
def test_days(cell: str, limits: dict[str, Any], said: list[str]) -> None:
    assert wrong(cell, **limits) == said


@pytest.mark.parametrize(
    ("cell", "limits", "said"),
    [
        ("[2020-01-01 00:00:00-2020-02-01 00:00:00]", {"coarsest": "month"}, []),
        (
            "[2020-01-01 00:00:00-2020-02-01 00:00:01]",
            {"coarsest": "month"},
            ["wider than a month (coarsest)"],
        ),
        ("[2020-01-01 00:00:00-2020-02-01 00:00:00]", {"finest": "month"}, []),
        (
            "[2020-01-01 00:00:00-2020-01-31 23:59:59]",
            {"finest": "month"},
            ["narrower than a month (finest)"],
        ),
    ],
)
def test_moments(cell: str, limits: dict[str, Any], said: list[str]) -> None:
    assert wrong(cell, **limits) == said


def test_a_day_more_than_a_month_is_seen_where_days_are_known() -> None:
    cell = ["[2020-01-01-2020-02-01]"]
    # A moment up to midnight is published like this too.
    assert found([*cell], coarsest="month") == []
    assert found([*cell], original=[dt.datetime(2020, 1, 5)], coarsest="month") == []
    (fault,) = found([*cell], original=[dt.date(2020, 1, 5)], coarsest="month")
    assert "wider than a month" in fault


def test_a_fault_counts_its_rows_and_shows_one_cell() -> None:
    cells: list[str | None] = ["[20-30]", "[20-50]", "[20-50]", None]
    assert found(cells, coarsest=10) == [
        "Column 'x' has 2 cells that are wider than 10 (coarsest), for instance '[20-50]': its "
        "plan allows none."
    ]


def test_a_star_stands_for_a_missing_value_where_cells_are_limited() -> None:
    said = "Column 'x' has 1 cells '*' for values that are known"
    cells: list[str | None] = ["*", "*", "25"]
    for limits in ({"coarsest": 10}, {"within": True}):
        assert found(cells, original=[None, None, 25], **limits) == []
        (fault,) = found(cells, original=[None, 24, 25], **limits)
        assert fault.startswith(said)
        assert found(cells, **limits) == []  # not known without the original
    assert found(cells, original=[1, 2, 25], finest=0.5) == [
        "Column 'x' has 1 cells that are narrower than 0.5 (finest), for instance '25': its plan "
        "allows none."
    ]
    # More missing values than stars are no fault.
    assert found(["*", "25"], original=[None, None, 25], coarsest=10) == []


def test_rows_left_out_are_counted() -> None:
    cells: list[str | None] = ["1", "2", "3"]
    assert found(cells, original=[1, 2, 3, 4], suppress=0.25) == []
    (fault,) = found(cells, original=[1, 2, 3, 4, 5], suppress=0.25)
    assert fault.startswith("2 of 5 rows are left out, more than the 25.00%")
    assert found(cells, original=[1, 2, 3, 4, 5]) == []
    assert found(cells, suppress=0.0) == []


def test_strata_are_the_values_of_the_columns_that_are_within() -> None:
    frame = pl.DataFrame({"x": ["a", "b", "a", "b"], "y": ["1", "1", "2", "1"]})
    part = {name: ColumnPart(role=Role.QUASI, kind=Kind.SET) for name in ("x", "y")}
    own = {**part, "x": part["x"].model_copy(update={"within": True})}
    for columns, names in ((part, []), (own, ["x"])):
        plan = Plan(columns=columns)
        opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), plan=plan)
        assert strata_of(opened) == names
    labels = strata_labels(opened, ["x"])
    assert labels is not None
    cells = opened.published.cells["x"].to_list()
    assert (labels[cells.index("a")] != labels[cells.index("b")]) and len(set(labels)) == 2
    assert strata_labels(opened, []) is None


def test_a_set_is_a_fault_where_sets_are_never_published_and_a_gap_is_none() -> None:
    cells = ["a", "a", None, None, "{a, b}", "{a, b}", "*", "*"]
    for last, many in ((4, 0), (8, 2)):
        frame = pl.DataFrame({"x": cells[:last] if not many else cells})
        part = ColumnPart(role=Role.QUASI, kind=Kind.SET, sets="never")
        plan = Plan(columns={"x": part})
        opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), plan=plan)
        faults = check(opened, [KAnonymity(2)]).faults
        assert len(faults) == bool(many)
        assert all(f"a set of values in {many} rows" in fault for fault in faults)


def test_ends_of_days_that_are_published_apart_are_days() -> None:
    lows, highs = [dt.date(2020, 1, 1)] * 2, [dt.date(2020, 2, 1)] * 2
    frame = pl.DataFrame({"x_lo": lows, "x_hi": highs})
    part = ColumnPart(role=Role.QUASI, kind=Kind.ORDERED, coarsest="month")
    plan = Plan(columns={"x": part}, release=ReleasePart(typed=True))
    opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), plan=plan)
    (fault,) = limit_faults(opened, None)
    assert "wider than a month" in fault


def test_where_the_rows_are_known_a_star_is_held_against_its_own_row() -> None:
    frame = pl.DataFrame({"x": ["*", "25", "*"]})
    part = ColumnPart(role=Role.QUASI, kind=Kind.ORDERED, coarsest=10)
    plan = Plan(columns={"x": part})
    opened = Opened.from_tables({"release": frame}, declared_columns(plan, frame), plan=plan)
    table = pl.DataFrame({"x": [None, None, 25]})
    schema = declare(table, quasi=["x"])
    assert limit_faults(opened, Original(table, schema, np.array([0, 2, 1]))) == []
    (fault,) = limit_faults(opened, Original(table, schema, np.array([0, 1, 2])))
    assert fault.startswith("Column 'x' has 1 cells '*' for values that are known")
