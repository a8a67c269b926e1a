"""Frames of other libraries: read by position, untouched, and given back in kind."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from shoal.base.errors import InputError
from shoal.tables.native import from_native, to_native

DATA: dict[str, list[Any]] = {
    "age": [39, 50, 38],
    "city": ["Ælst", None, "?"],
    "score": [1.5, float("nan"), 2.0],
    "born": [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)],
    "ok": [True, False, True],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_the_caller_gets_back_the_kind_of_frame_given(make: Any) -> None:
    given = make(DATA)
    frame = from_native(given, missing=("?",))
    assert isinstance(frame, pl.DataFrame)
    assert frame["city"].to_list() == ["Ælst", None, None]
    assert frame["score"].to_list() == [1.5, None, 2.0]
    assert frame["born"].to_list() == DATA["born"]
    back = to_native(frame, given)
    assert type(back) is type(given)
    assert from_native(back).equals(frame)


def test_the_frame_given_is_never_changed() -> None:
    given = pd.DataFrame(DATA, index=[7, 7, 3])
    before = given.copy(deep=True)
    from_native(given, missing=("?",))
    pd.testing.assert_frame_equal(given, before)
    table = pl.DataFrame(DATA)
    from_native(table, missing=("?",))
    assert_frame_equal(table, pl.DataFrame(DATA))


def test_an_odd_index_means_nothing() -> None:
    given = pd.DataFrame({"a": [1, 2, 3]}, index=[9, 0, 9]).iloc[::-1]
    frame = from_native(given)
    assert frame["a"].to_list() == [3, 2, 1]
    assert list(to_native(frame, given).index) == [0, 1, 2]


def test_names_that_are_no_texts_come_back() -> None:
    given = pd.DataFrame([[1, 2]], columns=[0, ("x", 1)])
    frame = from_native(given)
    assert frame.columns == ["0", "('x', 1)"]
    back = to_native(frame.with_columns(new=pl.lit(1)), given)
    assert list(back.columns) == [0, ("x", 1), "new"]


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ([1, "a", None], ["1", "a", None]),
        ([1.5, "NA", pd.NA], ["1.5", "NA", None]),
        ([1 + 2j, 2, np.nan], ["(1+2j)", "(2+0j)", None]),
        (pd.period_range("2020-01", periods=2, freq="M"), ["2020-01", "2020-02"]),
        (pd.interval_range(0, 2), ["(0, 1]", "(1, 2]"]),
    ],
)
def test_objects_that_no_column_can_hold_become_texts(cells: Any, texts: list[Any]) -> None:
    assert from_native(pd.DataFrame({"x": cells}))["x"].to_list() == texts


def test_pandas_types_come_back() -> None:
    given = pd.DataFrame(
        {
            "n": pd.array([1, None], dtype="Int64"),
            "c": pd.Categorical(["b", "a"]),
            "k": pd.Categorical([1, 2]),
        }
    )
    frame = from_native(given)
    assert frame["n"].to_list() == [1, None]
    assert frame["c"].cast(pl.String).to_list() == ["b", "a"]
    assert frame["k"].to_list() == [1, 2]
    back = to_native(frame, given)
    assert str(back["n"].dtype) == "Int64"
    assert list(back["c"]) == ["b", "a"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
    ],
)
def test_duplicate_names_are_refused(frame: Any) -> None:
    with pytest.raises(InputError, match=r"The frame has duplicate column names: '[a1]'\. Every"):
        from_native(frame)


@pytest.mark.parametrize("thing", [{"a": [1]}, [1, 2], None, np.zeros((2, 2)), pl.Series([1])])
def test_what_is_no_frame_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match=r"Cannot read a table from .* pandas, polars or pyarrow"):
        from_native(thing)


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": []}), pl.DataFrame({"a": []})])
def test_a_frame_without_rows_is_refused(frame: Any) -> None:
    with pytest.raises(InputError, match=r"has column names \('a'\) but no rows"):
        from_native(frame)


def test_a_frame_without_columns_is_refused() -> None:
    with pytest.raises(InputError, match="but no rows"):
        from_native(pd.DataFrame())
