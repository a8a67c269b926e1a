"""Cells: typed only when nothing is lost, blank only when said so, one text per value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.tables.cells import (
    as_text,
    blank_and_typed,
    holds_numbers,
    infer_type,
    missing_to_null,
    sorted_values,
)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "-2", None], pl.Int64),
        ([" 1", "2 "], pl.Int64),
        (["007", "123"], pl.String),
        (["+7", "1"], pl.String),
        (["-0", "1"], pl.Float64),
        (["9223372036854775807"], pl.Int64),
        (["9223372036854775808"], pl.String),
        (["12345678901234567890.5"], pl.String),
        (["1.5", "2", ".5", "5.", "-1e3"], pl.Float64),
        (["1.5", "01.5"], pl.String),
        (["1e999", "1"], pl.String),
        (["1.5", "inf"], pl.String),
        (["1,5", "2,5"], pl.String),
        (["1", "a"], pl.String),
        (["-", "."], pl.String),
        (["True", "false", None], pl.Boolean),
        (["true", "yes"], pl.String),
        (["2020-02-29", "1999-12-31"], pl.Date),
        (["2020-02-30", "1999-12-31"], pl.String),
        (["31/12/1999"], pl.String),
        (["2020-01-01 10:30", "2020-01-01T10:30:59.5"], pl.Datetime("us")),
        (["2020-01-01 25:30"], pl.String),
        (["2020-01-01", "2020-01-01 10:30"], pl.String),
        ([None, None], pl.String),
        (["nan", "nan"], pl.String),
        (["*", "[1-2]", "{a}"], pl.String),
    ],
)
def test_a_column_is_typed_only_when_every_cell_fits(cells: list[str], dtype: pl.DataType) -> None:
    series = pl.Series("x", cells, dtype=pl.String)
    result = infer_type(series)
    assert result.dtype == dtype
    assert result.name == "x"
    assert result.is_null().to_list() == series.is_null().to_list()


def test_a_text_far_below_keeps_a_column_text() -> None:
    cells = ["1"] * 5000 + ["x"]
    assert infer_type(pl.Series(cells)).to_list() == cells
    spaced = ["1"] * 5000 + [" 2"]
    assert infer_type(pl.Series(spaced))[-1] == 2


def test_nan_among_numbers_is_missing() -> None:
    assert infer_type(pl.Series(["1.5", "NaN", "nan"])).to_list() == [1.5, None, None]


def test_other_types_are_left_alone() -> None:
    assert infer_type(pl.Series([1.5])).dtype == pl.Float64


def test_moments_are_read_to_the_second() -> None:
    moments = infer_type(pl.Series(["2020-01-01 10:30", "2020-01-01T10:30:59.5", None]))
    assert moments.to_list() == [
        dt.datetime(2020, 1, 1, 10, 30),
        dt.datetime(2020, 1, 1, 10, 30, 59, 500_000),
        None,
    ]


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1))
def test_numbers_come_back_as_they_were(numbers: list[int]) -> None:
    assert infer_type(pl.Series([str(n) for n in numbers])).to_list() == numbers


@pytest.mark.slow
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6), min_size=1, max_size=20
    )
)
def test_typing_loses_no_cell(texts: list[str]) -> None:
    series = missing_to_null(pl.Series(texts, dtype=pl.String))
    result = infer_type(series)
    lost = result.is_null() & series.is_not_null()
    assert set(series.filter(lost).str.strip_chars().to_list()) <= {"nan", "NaN", "NAN"}


def test_blank_takes_what_is_listed_and_what_is_empty() -> None:
    series = pl.Series("x", ["a", "", " ", "?", " ?", "NA", None])
    assert missing_to_null(series).to_list() == ["a", None, None, "?", " ?", "NA", None]
    assert missing_to_null(series, ["?", "NA"]).to_list() == ["a", *[None] * 6]
    assert missing_to_null(series, ["?"]).name == "x"
    assert series[1] == ""


@pytest.mark.slow
@given(
    st.lists(
        st.none()
        | st.text("aN?!é \t\x0b\x1f\x85\xa0\u1680\u2003\u2028\u3000\U0010ffff", max_size=4),
        max_size=20,
    ),
    st.lists(st.sampled_from(["?", "N", "é", " a ", "aN", "\U0010ffff"]), max_size=3),
)
def test_blank_takes_what_trimming_every_text_would_find(
    texts: list[str | None], missing: list[str]
) -> None:
    series = pl.Series("x", texts, dtype=pl.String)
    trimmed = series.str.strip_chars()
    listed = {"", *(text.strip() for text in missing)}
    wanted = [
        None if short is None or short in listed else text
        for text, short in zip(series, trimmed, strict=True)
    ]
    assert missing_to_null(series, missing).to_list() == wanted


def test_blank_knows_categories_and_nan() -> None:
    kind = pl.Enum(["a", "?"])
    assert missing_to_null(pl.Series(["a", "?"], dtype=kind), ["?"]).to_list() == ["a", None]
    assert missing_to_null(pl.Series(["a", "?"], dtype=kind), ["?"]).dtype == kind
    category = missing_to_null(pl.Series(["a", "?", None], dtype=pl.Categorical), ["?"])
    assert category.to_list() == ["a", None, None]
    assert category.dtype == pl.Categorical
    assert missing_to_null(pl.Series([1.0, float("nan")])).to_list() == [1.0, None]
    assert missing_to_null(pl.Series([1, None]), ["1"]).to_list() == [1, None]


# Polars 2 writes a plus sign, older ones do not.
BIG = pl.Series([1e20]).cast(pl.String)[0].replace(".0", "")


@pytest.mark.parametrize(
    ("series", "texts"),
    [
        (pl.Series([39.0, None, 2.5, -0.0]), ["39", None, "2.5", "0"]),
        (pl.Series([float("nan"), 1.0]), [None, "1"]),
        (pl.Series([1e20, 1e-7]), [BIG, "1e-7"]),
        (pl.Series([0.1, 3.0], dtype=pl.Float32), ["0.1", "3"]),
        (pl.Series([7, -1], dtype=pl.Int8), ["7", "-1"]),
        (pl.Series([True, False, None]), ["true", "false", None]),
        (pl.Series([dt.date(2020, 3, 1)]), ["2020-03-01"]),
        (pl.Series([dt.datetime(2020, 3, 1), None]), ["2020-03-01", None]),
        (
            pl.Series([dt.datetime(2020, 3, 1), dt.datetime(2020, 3, 1, 7)]),
            ["2020-03-01 00:00:00", "2020-03-01 07:00:00"],
        ),
        (
            pl.Series([dt.datetime(2020, 3, 1, 7)]).dt.replace_time_zone("UTC"),
            ["2020-03-01 07:00:00+00:00"],
        ),
        (pl.Series([Decimal("39.00"), Decimal("1.50"), Decimal("100.00")]), ["39", "1.5", "100"]),
        (pl.Series([Decimal("100")]), ["100"]),
        (pl.Series(["b", None], dtype=pl.Categorical), ["b", None]),
        (pl.Series(["é ", "*"]), ["é ", "*"]),
        (pl.Series([None, None]), [None, None]),
    ],
)
def test_every_value_has_one_text(series: pl.Series, texts: list[str | None]) -> None:
    assert as_text(series).to_list() == texts


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_different_numbers_have_different_texts(numbers: list[float]) -> None:
    series = pl.Series(numbers, dtype=pl.Float64)
    assert as_text(series).n_unique() == series.n_unique()
    assert as_text(series).cast(pl.Float64).to_list() == numbers


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["12", "x", "13"], ("12", "x")),
        (["x", "2.5"], ("2.5", "x")),
        (["007", "12"], None),
        (["a", "nan"], None),
        (["a", "b"], None),
        ([None], None),
    ],
)
def test_mixed_numbers_and_texts_are_found(cells: list[str], found: tuple[str, str] | None) -> None:
    assert holds_numbers(pl.Series(cells, dtype=pl.String)) == found


def test_a_column_of_numbers_is_not_mixed() -> None:
    assert holds_numbers(pl.Series([1, 2])) is None


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([10, 9, None, 9]), [9, 10]),
        (pl.Series(["10", "9", None, " 9 "]), [" 9 ", "9", "10"]),
        (pl.Series(["10", "9", "low"]), ["10", "9", "low"]),
        (pl.Series(["b", None, "a"]), ["a", "b"]),
        (pl.Series(["inf", "2", "10"]), ["10", "2", "inf"]),
        (pl.Series(["low", "high"], dtype=pl.Enum(["low", "mid", "high"])), ["low", "high"]),
        (pl.Series([None, None], dtype=pl.String), []),
    ],
    ids=["numbers", "numbers as text", "mixed", "texts", "infinite", "enumeration", "missing"],
)
def test_values_in_their_natural_order(column: pl.Series, expected: list[object]) -> None:
    assert sorted_values(column).to_list() == expected


@pytest.mark.parametrize("rows", [300, 5_000])
def test_numbers_may_begin_with_many_that_are_none(rows: int) -> None:
    column = pl.Series("a", ["nan"] * (rows - 1) + ["9"])
    for read in (infer_type(column), *blank_and_typed([column, column.alias("b")], (), ())):
        assert read.to_list() == [None] * (rows - 1) + [9.0]
