"""Which columns single rows out: against the slow twin, by hand, and on the shared data."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.api.opening import read_table
from shoal.measures.singling import COLUMNS, TOP, Combination, _count, _Table, singling_out
from tests.naive import singling as naive

SHARED = Path(__file__).parents[4] / "shared" / "data"


def random_table(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    return pl.DataFrame(
        {
            f"c{j}": [None if v == 0 else int(v) for v in rng.integers(0, rng.integers(2, 9), rows)]
            for j in range(columns)
        },
        schema={f"c{j}": pl.Int64 for j in range(columns)},
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_every_figure_is_that_of_the_slow_twin(seed: int) -> None:
    frame = random_table(seed)
    names = frame.columns
    single = {each.columns[0]: each for each in singling_out(frame, names).columns}
    scores, found = _count(_Table.encode(frame, names), names, [single[name] for name in names])
    for each in [*single.values(), *found]:
        assert (each.distinct, each.unique, each.alike) == naive.figures(frame, each.columns)
    many = len(names)
    assert len(found) == many * (many - 1) // 2 + many * (many - 1) * (many - 2) // 6
    assert scores.tolist() == [naive.score(frame, row) for row in range(frame.height)]


@pytest.mark.parametrize("seed", range(40, 60))
def test_the_worst_rows_have_the_minimal_combinations_of_the_slow_twin(seed: int) -> None:
    frame = random_table(seed)
    found = singling_out(frame, frame.columns)
    scores = [naive.score(frame, row) for row in range(frame.height)]
    assert [row.score for row in found.worst] == [s for s in sorted(scores)[::-1][:TOP] if s]
    assert found.unique == sum(score > 0 for score in scores)
    for row in found.worst:
        minimal = {tuple(sorted(names)) for names in row.minimal}
        assert minimal == naive.minimal(frame, row.row, 3)


def test_a_table_worked_out_by_hand() -> None:
    """The example of Motwani and Xu's section 2 in its form: age, sex and state of five people."""
    frame = pl.DataFrame(
        {
            "age": [20, 30, 40, 20, 40],
            "sex": ["F", "F", "M", "M", "M"],
            "state": ["CA", "TX", "NY", "CA", "CA"],
        }
    )
    found = singling_out(frame, frame.columns)
    by = {tuple(sorted(each.columns)): each for each in (*found.columns, *found.together)}
    assert by["age",].distinction == pytest.approx(3 / 5)
    assert by["age",].separation == pytest.approx(8 / 10)
    assert by["sex",].distinction == pytest.approx(2 / 5)
    assert by["sex",].separation == pytest.approx(6 / 10)
    assert by["sex", "state"].distinction == pytest.approx(4 / 5)
    assert by["sex", "state"].separation == pytest.approx(9 / 10)
    assert by["age", "sex", "state"].unique == 5
    assert found.unique == 5
    # The row of 30 years is alone by its age and by its state.
    worst = found.worst[0]
    assert (worst.row, set(worst.minimal)) == (1, {("age",), ("state",)})


@pytest.mark.slow
def test_odd_tables() -> None:
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)})
    assert singling_out(empty, ["a"]).unique == 0
    assert singling_out(pl.DataFrame({"a": [1]}), []).columns == ()
    one = singling_out(pl.DataFrame({"a": [1]}), ["a"])
    assert (one.unique, one.columns[0].separation) == (1, 0.0)
    same = singling_out(pl.DataFrame({"a": [1] * 9, "b": [2] * 9}), ["a", "b"])
    assert (same.unique, same.worst) == (0, ())
    mixed = pl.DataFrame(
        {
            "day": [dt.date(2020, 1, 1), None, None],
            "yes": [True, False, None],
            "kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            "list": [[1], [2], [3]],
        }
    )
    found = singling_out(mixed, mixed.columns)
    assert sorted(found.tried) == ["day", "kind", "yes"]
    assert found.unique == 3


def test_of_many_columns_those_are_put_together_that_tell_most() -> None:
    columns = {f"c{j:02d}": [i % (j + 2) for i in range(90)] for j in range(COLUMNS + 4)}
    found = singling_out(pl.DataFrame(columns), list(columns))
    assert sorted(found.tried) == list(columns)[4:]
    assert len(found.columns) == COLUMNS + 4
    assert len(found.together) == 2 * TOP


def test_threads_do_not_change_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = read_or_make()
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        found.append(singling_out(frame, frame.columns))
    assert found[0] == found[1]


def read_or_make() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame({f"c{j}": rng.integers(0, 3 + 4 * j, 500) for j in range(7)})


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not here")
@pytest.mark.parametrize(("name", "unique"), [("heart", 916), ("fars", 34_399)])
def test_the_shared_tables(name: str, unique: int) -> None:
    frame = read_table(SHARED / f"{name}.csv.gz")
    found = singling_out(frame, frame.columns)
    by_polars = [_polars(frame, each.columns) for each in found.together]
    assert [(each.distinct, each.unique) for each in found.together] == by_polars
    assert found.unique == unique


def _polars(frame: pl.DataFrame, names: tuple[str, ...]) -> tuple[int, int]:
    sizes = frame.group_by(list(names)).len()["len"]
    return len(sizes), int((sizes == 1).sum())


def test_shares_of_an_empty_combination() -> None:
    none = Combination(("a",), 0, 0, 0, 0)
    assert (none.distinction, none.separation, none.alone) == (0.0, 0.0, 0.0)
