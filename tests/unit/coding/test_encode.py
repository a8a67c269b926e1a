"""Encoding: positions, codes, and everything that is odd but legal."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.api.opening import read_table
from shoal.base.errors import SchemaError, ShoalWarning
from shoal.base.roles import Kind, Role
from shoal.coding.encode import Encoded, encode
from shoal.tables.domain import Nominal, Ordered, Taxonomy, flat
from shoal.tables.hierarchy import read_directory
from shoal.tables.native import from_native
from shoal.tables.schema import Column, Schema, declare

SHARED = Path(__file__).parents[4] / "shared" / "data"
AGES = Taxonomy.from_rows(
    [("26", "[20,30)", "*"), ("39", "[30,40)", "*"), ("28", "[20,30)", "*")], "age"
)


def one(cells: Any, kind: Kind, taxonomy: Taxonomy | None = None, **options: Any) -> Encoded:
    """Encode a table of one quasi-identifier ``x``."""
    series = cells if isinstance(cells, pl.Series) else pl.Series("x", cells)
    flat_sets = options.pop("flat_sets", False)
    schema = Schema((Column("x", Role.QUASI, kind, **options),))
    taxonomies = {} if taxonomy is None else {"x": taxonomy}
    return encode(series.alias("x").to_frame(), schema, taxonomies, flat_sets=flat_sets)


def decoded(data: Encoded) -> list[Any]:
    """Say every cell of a table of one column as its domain has it, None for missing."""
    values = list(data.domains[0].values)
    return [None if c == len(values) else values[c] for c in data.codes[:, 0]]


def test_the_ten_patients() -> None:
    frame = pl.DataFrame(
        {
            "age": [None, 26, 28, 39],
            "sex": ["m", "f", None, "m"],
            "zip": [12000, 18000, 19000, None],
            "id": [1, 2, 3, 4],
            "disease": ["flu", None, "cold", "flu"],
        }
    )
    schema = declare(
        frame,
        quasi=["zip", "age", "sex"],
        sensitive=["disease"],
        identifier=["id"],
        taxonomies=["age"],
    )
    data = encode(frame, schema, {"age": AGES})
    assert data.names == ("age", "sex", "zip")  # the table's order
    assert data.codes.tolist() == [[3, 1, 0], [0, 0, 1], [1, 2, 2], [2, 1, 3]]
    assert data.codes.dtype == np.int32
    assert data.domains[0] is AGES
    assert isinstance(data.domains[1], Nominal)
    assert isinstance(data.domains[2], Ordered)
    assert data.missing.sum() == 3
    assert data.sensitive["disease"].tolist() == [1, -1, 0, 1]
    assert data.sensitive_names == {"disease": ("cold", "flu")}
    for array in (data.codes, data.sensitive["disease"]):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "cells",
    [
        [26, 39, None],
        [26.0, 39.0, None],
        [26.0, 39.0, float("nan")],
        ["26", "39", ""],
        ["26", "39", "*"],
        pl.Series([Decimal("26.00"), Decimal("39"), None]),
        pl.Series(["26", "39", None], dtype=pl.Categorical),
        pl.Series([26, 39, None], dtype=pl.UInt8),
    ],
)
def test_taxonomy_values_match_by_their_text(cells: Any) -> None:
    assert one(cells, Kind.TAXONOMY, AGES).codes[:, 0].tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("cells", "leaves"),
    [
        ([2.5, 10.0], ("2.50", "10.0")),
        ([7, 123], ("007", "123")),
        ([True, False], ("True", "FALSE")),
        ([dt.date(2020, 1, 2), dt.date(2020, 1, 1)], ("2020-01-02", "2020-01-01")),
    ],
)
def test_other_spellings_of_a_number_or_boolean_match_too(
    cells: list[Any], leaves: tuple[str, ...]
) -> None:
    assert one(cells, Kind.TAXONOMY, flat(leaves, "x")).codes[:, 0].tolist() == [0, 1]


def test_spellings_that_are_not_unique_match_nothing() -> None:
    with pytest.raises(SchemaError, match="lacks 1 value that is in 1 row: '7'"):
        one([7], Kind.TAXONOMY, flat(("07", "007"), "x"))


def test_values_without_a_leaf_and_all_other_faults_at_once() -> None:
    frame = pl.DataFrame({"age": [26, 27, 27], "y": ["low", "high", "x"], "z": [1.0, 2.0, np.inf]})
    schema = Schema(
        (
            Column("age", Role.QUASI, Kind.TAXONOMY),
            Column("y", Role.QUASI, Kind.ORDERED, order=("low", "high")),
            Column("z", Role.QUASI, Kind.ORDERED),
            Column("seks", Role.QUASI, Kind.SET),
        )
    )
    with pytest.raises(SchemaError) as caught:
        encode(frame, schema, {"age": AGES})
    text = str(caught.value)
    assert len(caught.value.faults) == 4
    assert "hierarchy of column 'age' lacks 1 value that is in 2 rows: '27' (2 rows)." in text
    assert "'y' holds values that its order does not list: 'x' in 1 rows. Add them" in text
    assert "'z' holds an infinite number" in text
    assert "no column 'seks'" in text


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pl.Series([3, 1, None, 1]), [1, 3]),
        (pl.Series([0.5, -0.0, 0.0, float("nan")]), [0.0, 0.5]),
        (pl.Series([dt.date(2020, 1, 2), dt.date(2020, 1, 1)]), [dt.date(2020, 1, 1), ...]),
        (pl.Series([dt.datetime(2020, 1, 2), None]), [dt.datetime(2020, 1, 2)]),
        (pl.Series([dt.time(3), dt.time(2)]), [dt.time(2), dt.time(3)]),
        (pl.Series([True, False]), [False, True]),
        (pl.Series([Decimal("2.5"), Decimal("1")]), [Decimal(1), Decimal("2.5")]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["z", "b", "a"])), ["b", "a"]),
    ],
)
def test_ordered_columns_stand_in_ascending_order(cells: pl.Series, values: list[Any]) -> None:
    data = one(cells, Kind.ORDERED)
    domain = data.domains[0]
    assert isinstance(domain, Ordered)
    assert all(
        got == want
        for got, want in zip(domain.values.to_list(), values, strict=False)
        if want is not ...
    )
    assert domain.values.dtype == cells.dtype
    assert (np.diff(domain.points) > 0).all()
    back = decoded(data)
    assert [v for v in back if v is not None] == [
        v for v in cells.to_list() if v is not None and v == v
    ]


def test_texts_in_a_listed_order() -> None:
    data = one(["mid", "low", None], Kind.ORDERED, order=("low", "mid", "high"))
    domain = data.domains[0]
    assert isinstance(domain, Ordered)
    assert domain.values.to_list() == ["low", "mid"]
    assert domain.points.tolist() == [0.0, 1.0]
    assert data.codes[:, 0].tolist() == [1, 0, 2]


def test_texts_that_mean_missing_in_one_column() -> None:
    data = one(["39", "?", "26"], Kind.ORDERED, missing=("?",))
    assert decoded(data) == [39, None, 26]
    assert decoded(one(["a", "?"], Kind.SET, missing=("?",))) == ["a", None]
    frame = pl.DataFrame({"x": [1], "s": ["unknown"]})
    schema = Schema(
        (Column("x", Role.QUASI, Kind.SET), Column("s", Role.SENSITIVE, missing=("unknown",)))
    )
    assert encode(frame, schema).sensitive["s"].tolist() == [-1]


def test_values_that_look_like_our_notation_are_values() -> None:
    cells = ["*", "[1-2]", "{a}", '"q"', None]
    for flat_sets in (False, True):
        data = one(cells, Kind.SET, flat_sets=flat_sets)
        assert decoded(data) == cells
        assert data.domains[0].size == 4
        assert isinstance(data.domains[0], Taxonomy if flat_sets else Nominal)


@pytest.mark.parametrize("kind", [Kind.SET, Kind.ORDERED, Kind.TAXONOMY])
@pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.Null])
@pytest.mark.parametrize("flat_sets", [False, True])
def test_a_column_entirely_missing_works_and_warns(kind: Kind, dtype: Any, flat_sets: bool) -> None:
    cells = pl.Series([None, None], dtype=dtype)
    with pytest.warns(
        ShoalWarning, match="Column 'x' is entirely missing: it is released as '\\*'"
    ):
        data = one(cells, kind, AGES, flat_sets=flat_sets)
    assert data.domains[0].size == (3 if kind is Kind.TAXONOMY else 0)
    assert data.missing.all()


def test_numbers_mixed_with_text_are_names_and_warn() -> None:
    with pytest.warns(ShoalWarning, match="mixes numbers, for instance '39', with texts.*'forty'"):
        data = one(["39", "forty", None, "39"], Kind.SET)
    assert decoded(data) == ["39", "forty", None, "39"]


def test_mixed_objects_from_pandas_are_names_and_warn() -> None:
    import pandas as pd

    frame = from_native(pd.DataFrame({"x": [39, "forty", None]}))
    with pytest.warns(ShoalWarning, match="for instance '39'"):
        data = encode(frame, declare(frame, quasi=["x"]))
    assert decoded(data) == ["39", "forty", None]


def test_a_hierarchy_of_codes_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one(["250", "V70"], Kind.TAXONOMY, flat(("250", "V70"), "x"))
        one([True, False], Kind.SET)


def test_all_rows_equal_and_a_single_row() -> None:
    assert one(["a"] * 5, Kind.SET).codes[:, 0].tolist() == [0] * 5
    assert one([4], Kind.ORDERED).domains[0].size == 1


def test_sensitive_values_are_coded_in_their_own_order() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3], "pay": [10, 9, None], "ok": [True, None, False]})
    schema = declare(frame, quasi=["x"], sensitive=["pay", "ok"])
    data = encode(frame, schema)
    assert data.sensitive_names == {"pay": ("9", "10"), "ok": ("false", "true")}
    assert data.sensitive["pay"].tolist() == [1, 0, -1]
    whole = data.whole()
    assert whole.sizes.tolist() == [3]


def test_texts_that_are_numbers_are_coded_by_size() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "pay": ["10", "9", None, "-2.5"]})
    data = encode(frame, declare(frame, quasi=["x"], sensitive=["pay"]))
    assert data.sensitive_names == {"pay": ("-2.5", "9", "10")}
    assert data.sensitive["pay"].tolist() == [2, 1, -1, 0]


def test_the_frame_is_not_changed_and_other_columns_do_not_matter() -> None:
    frame = pl.DataFrame({"x": ["", "a"], "odd": [[1], [2]]})
    before = frame.clone()
    encode(frame, declare(frame, quasi=["x"], keep=["odd"]))
    assert frame.equals(before)


CELLS = st.lists(
    st.none()
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=3)
    | st.sampled_from(["*", "1", "2"]),
    min_size=1,
    max_size=30,
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
@given(CELLS, st.booleans())
def test_every_text_comes_back(cells: list[str | None], flat_sets: bool) -> None:
    data = one(pl.Series(cells, dtype=pl.String), Kind.SET, flat_sets=flat_sets)
    assert decoded(data) == [cell if cell and cell.strip() else None for cell in cells]
    names = list(data.domains[0].values)
    assert sorted(names) == sorted(set(names))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")
@given(st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1, max_size=30))
def test_order_of_positions_is_order_of_values(cells: list[float | None]) -> None:
    data = one(pl.Series(cells, dtype=pl.Float64), Kind.ORDERED)
    assert decoded(data) == cells


@pytest.mark.slow
def test_many_distinct_values() -> None:
    n = 300_000
    order = np.random.default_rng(3).permutation(n)
    frame = pl.DataFrame({"n": order, "t": pl.Series(order).cast(pl.String) + "x"})
    data = encode(frame, declare(frame, quasi=["n", "t"]))
    assert [domain.size for domain in data.domains] == [n, n]
    assert np.array_equal(data.codes[:, 0], order)
    assert len(np.unique(data.codes[:, 1])) == n


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_adult_has_the_missing_rates_that_the_literature_gives() -> None:
    quasi = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "race",
        "sex",
        "native-country",
    ]
    frame = read_table(SHARED / "adult.csv.gz")
    taxonomies = read_directory(SHARED / "hierarchies" / "adult", quasi)
    data = encode(frame, declare(frame, quasi=quasi, taxonomies=taxonomies), taxonomies)
    assert data.rows == 48_842
    assert round(100 * data.missing.mean(), 2) == 1.65
    assert round(100 * data.missing.any(axis=1).mean(), 2) == 7.41
    assert (~data.missing.any(axis=1)).sum() == 45_222
    assert data.domains[0].size == 100
