"""What tight cells give away, against every table that could be behind them."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.roles import Kind, Role
from shoal.measures.deduced_values import read_off
from shoal.plan.parts import ColumnPart
from shoal.plan.plan import Plan
from shoal.releases.opened import Opened
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column

TREE = Taxonomy.from_rows(
    [("fr", "west", "*"), ("be", "west", "*"), ("at", "mid", "*"), ("ch", "mid", "*"),
     ("de", "mid", "*")],
    "land",
)  # fmt: skip
COVERS = {
    "fr": ["fr"], "be": ["be"], "at": ["at"], "ch": ["ch"], "de": ["de"],
    "west": ["fr", "be"], "mid": ["at", "ch", "de"], "*": ["fr", "be", "at", "ch", "de"],
}  # fmt: skip
COLUMNS = (
    Column("age", Role.QUASI, Kind.ORDERED),
    Column("land", Role.QUASI, Kind.TAXONOMY),
    Column("job", Role.QUASI, Kind.SET),
)


def opened(rows: list[tuple[str, str, str]], grid: float | str = "off") -> Opened:
    frame = pl.DataFrame(rows, schema=["age", "land", "job"], orient="row")
    parts = {
        "age": ColumnPart(role=Role.QUASI, kind=Kind.ORDERED, grid=grid),
        "land": ColumnPart(role=Role.QUASI, kind=Kind.TAXONOMY),
        "job": ColumnPart(role=Role.QUASI, kind=Kind.SET),
    }
    return Opened({"release": frame}, COLUMNS, {"land": TREE}, plan=Plan(columns=parts))


@pytest.mark.parametrize(
    ("cells", "known", "certain"),
    [
        (("[20-29]", "fr", "nurse"), 2, 2),  # somebody is 20, somebody 29
        (("25", "west", "nurse"), 2, 2),  # both children of the node occur
        (("25", "mid", "nurse"), 0, 0),  # two of three do
        (("25", "fr", "{cook, nurse}"), 2, 2),
        (("[20-29]", "fr", "{cook, nurse}"), 0, 4),  # which goes with which is open
        (("*", "fr", "nurse"), 0, 0),  # a missing value explains it
        (("25", "*", "nurse"), 0, 0),
    ],
)
def test_one_class(cells, known, certain) -> None:
    told = read_off(opened([cells] * 5))
    assert (told.known, told.cells, told.exact) == (known, certain, 0)
    assert told.share == known / 5


def test_exact_rows_are_told_apart_and_a_grid_says_nothing() -> None:
    rows = [("25", "fr", "cook")] * 3 + [("[20-30]", "fr", "cook")] * 3
    told = read_off(opened(rows, grid=5))
    assert (told.known, told.cells, told.exact) == (0, 0, 3)
    assert read_off(opened(rows)).known == 2


def test_what_nobody_has_said_is_no_certainty() -> None:
    """Flags do not tell a grid, slack or a label of a hierarchy from data."""
    table = _people()
    release = shoal.anonymize(table, quasi=table.columns, k=3)
    assert read_off(release.local_tables).known < 0.01 * table.height
    told = read_off(shoal.open_release(release.frame, quasi=table.columns).local_tables, table)
    assert told.wrong > 0
    assert told.assumed
    assert not told.warns
    assert told.describe().startswith("If all interval ends and labels are values of the table")
    tried = shoal.attack(release.frame, original=table, known=table.columns, attacks=["readoff"])
    assert tried.results[0].success == (told.known - told.wrong) / table.height
    ordered = {"role": "quasi", "kind": "ordered"}
    plan = Plan(columns={"age": ordered, "weight": ordered, "sex": {"role": "quasi"}})
    assert (
        read_off(shoal.open_release(release.frame, plan=plan).local_tables).known
        < 0.01 * table.height
    )


def test_typed_columns_say_the_same() -> None:
    frame = pl.DataFrame({"age_lo": [20, 20, 31], "age_hi": [29, 29, 31], "job": ["a", "a", "b"]})
    columns = (COLUMNS[0], COLUMNS[2])
    told = read_off(Opened({"release": frame}, columns))
    assert (told.known, told.exact) == (2, 1)


# The naive twin: a row is certain if it is in every table that the cells allow.

AGES = {"20": [20], "21": [21], "[20-21]": [20, 21], "[20-22]": [20, 21, 22], "*": [20, 21, 22]}
JOBS = {"a": ["a"], "b": ["b"], "{a, b}": ["a", "b"], "*": ["a", "b"]}


def _tight(cell: str, values: list[object]) -> bool:
    """Tell whether the cell is what a method would publish for these values of a class."""
    if cell == "*":
        return True
    if cell.startswith("["):
        low, high = map(int, cell[1:-1].split("-"))
        return min(values) == low and max(values) == high
    if cell.startswith("{"):
        return set(values) == {"a", "b"}
    if cell == "west":
        return {"fr", "be"} <= set(values)
    if cell == "mid":
        return len(set(values)) > 1
    return True


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.sampled_from(sorted(AGES)),
    st.sampled_from(["fr", "de", "west", "mid"]),
    st.sampled_from(sorted(JOBS)),
    st.integers(2, 3),
)
def test_equals_what_all_possible_tables_share(age, land, job, size) -> None:
    rows = list(product(AGES[age], COVERS[land], JOBS[job]))
    tables = [
        set(table)
        for table in product(rows, repeat=size)
        if all(_tight(cell, [row[j] for row in table]) for j, cell in enumerate((age, land, job)))
    ]
    if not tables:  # no class of this size could be published so
        return
    certain = set.intersection(*tables)
    told = read_off(opened([(age, land, job)] * size))
    exact = len(rows) == 1
    assert told.known == (0 if exact else len(certain))
    assert told.exact == (size if exact else 0)


OFF = {"age": "off", "weight": "off"}


def _people(rows: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "weight": rng.integers(45, 120, rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_every_claim_is_right_and_the_grid_takes_them_away() -> None:
    table = _people()
    with pytest.warns(shoal.ShoalWarning, match="can be deduced with certainty"):
        loose = shoal.anonymize(
            table, quasi=table.columns, k=2, grid=dict.fromkeys(("age", "weight"), "off")
        )
    told = read_off(loose.local_tables, table)
    assert told.known > 20
    assert told.wrong == 0
    assert told.unique > 0
    on_grid = shoal.anonymize(table, quasi=table.columns, k=2)
    assert read_off(on_grid.local_tables, table).known < told.known / 4
    assert on_grid.made.read_off.warns is False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The intervals in column")
def test_slack_leaves_nothing_certain() -> None:
    table = _people()
    release = shoal.anonymize(table, quasi=table.columns, k=3, grid=OFF, slack=0.3, seed=2**66)
    assert read_off(release.local_tables).known == 0
    assert release.with_original(shoal.open(table, quasi=table.columns)).audit(k=3).holds
    with pytest.warns(shoal.ShoalWarning, match="be deduced"):
        tight = shoal.anonymize(table, quasi=table.columns, k=3, grid=OFF, seed=2**66)
    assert release.loss.rate > tight.loss.rate
    widest = shoal.anonymize(table, quasi=table.columns, k=3, slack=1.0, seed=2**66)
    assert not any(cell.isdigit() for cell in widest.frame["age"])


def test_slack_is_refused_where_nothing_is_generalized() -> None:
    table = _people().with_columns(illness=pl.Series(["a", "b", "c"] * 200))
    with pytest.raises(shoal.ShoalError, match="publishes every quasi-identifier as it is"):
        shoal.anonymize(
            table,
            quasi="age",
            sensitive="illness",
            l=2,
            l_kind="frequency",
            method="anatomy",
            slack=0.2,
        )
