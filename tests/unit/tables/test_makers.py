"""Made hierarchies: levels nest, every value lies in its interval, labels are what one expects."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import ParameterError, SchemaError
from shoal.tables.domain import Taxonomy
from shoal.tables.makers import dates, intervals, prefixes


def path(taxonomy: Taxonomy, value: str) -> list[str]:
    position = taxonomy.values.index(value)
    return [taxonomy.labels[node] for node in taxonomy.levels[:, position]]


def test_ages_get_the_intervals_that_everyone_draws() -> None:
    taxonomy = intervals(range(17, 91), "age")
    assert path(taxonomy, "39") == ["39", "[35-39]", "[30-39]", "[20-39]", "[0-39]", "*"]
    assert taxonomy.values[:2] == ("17", "18")  # ascending


def test_widths_are_taken_as_given() -> None:
    taxonomy = intervals([26, 28, 48], widths=(10, 30))
    assert path(taxonomy, "28") == ["28", "[20-29]", "[0-29]", "*"]
    taxonomy = intervals([-7, 3, 4], widths=(5,))
    assert path(taxonomy, "-7") == ["-7", "[-10--6]", "*"]


def test_decimals_fall_into_the_interval_that_starts_with_them() -> None:
    taxonomy = intervals([0.1, 0.2, 0.3, 0.7], widths=(0.1, 0.2))
    assert path(taxonomy, "0.3") == ["0.3", "[0.3-0.4)", "[0.2-0.4)", "*"]
    assert path(taxonomy, "0.7") == ["0.7", "[0.7-0.8)", "[0.6-0.8)", "*"]


def test_steps_divide_the_range() -> None:
    taxonomy = intervals([0, 5, 9], steps=(2,))
    assert path(taxonomy, "5") == ["5", "[5-9]", "*"]
    taxonomy = intervals([0.0, 0.5, 1.0], steps=(4, 2))
    assert path(taxonomy, "1") == ["1", "[0.75-1]", "[0.5-1]", "*"]  # the greatest one is inside
    assert path(taxonomy, "0.5") == ["0.5", "[0.5-0.75)", "[0.5-1]", "*"]


def test_quantiles_hold_equally_many_cells() -> None:
    cells = [1] * 10 + [2] * 10 + [3] * 5 + [4] * 5 + [100] * 10
    taxonomy = intervals(cells, how="quantile", steps=(4, 2))
    assert path(taxonomy, "3") == ["3", "[3-99]", "[3-100]", "*"]
    assert path(taxonomy, "1") == ["1", "[0-1]", "[0-2]", "*"]


def test_missing_cells_texts_and_pandas_floats_are_understood() -> None:
    for cells in ([1.0, None, 12.0], ["1", None, "12"], [1, float("nan"), 12]):
        assert intervals(cells, widths=(10,)).values == ("1", "12")


def test_one_value_is_a_tree_of_one_leaf() -> None:
    for taxonomy in (intervals([7]), intervals([7], how="quantile"), intervals([7.5], steps=(2,))):
        assert taxonomy.levels.shape == (2, 1)


NUMBERS = st.lists(
    st.integers(-1000, 1000) | st.floats(-1e4, 1e4, allow_nan=False).map(lambda x: round(x, 3)),
    min_size=1,
    max_size=30,
)
SHAPES: list[dict[str, Any]] = [
    {},
    {"widths": (5, 10, 40)},
    {"widths": (0.3, 0.6)},
    {"steps": (12, 6, 3)},
    {"how": "quantile"},
    {"how": "quantile", "steps": (6, 3)},
]
LABEL = re.compile(r"\[(-?[\d.e+-]+?)-(-?[\d.e+-]+)([\])])$")


@pytest.mark.slow
@given(NUMBERS, st.sampled_from(SHAPES))
def test_every_value_lies_in_all_its_intervals(numbers: list[float], shape: dict[str, Any]) -> None:
    taxonomy = intervals([float(number) for number in numbers], **shape)
    for value in taxonomy.values:
        for label in path(taxonomy, value)[:-1]:
            found = LABEL.match(label)
            if not found:
                assert label == value
                continue
            low, high, bracket = float(found[1]), float(found[2]), found[3]
            assert low <= float(value)
            assert float(value) <= high if bracket == "]" else float(value) < high


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"how": "size"}, "'how' parameter of intervals must be one of 'width', 'quantile'. Got"),
        ({"steps": (4, 3)}, "'steps' parameter of intervals must be whole numbers from fine"),
        ({"steps": ()}, "'steps' parameter"),
        ({"steps": (0,)}, "'steps' parameter"),
        ({"widths": (10, 15)}, "each a multiple of the one before, for instance (5, 10, 20). Got"),
        ({"widths": (-1,)}, "must be positive numbers"),
        ({"widths": (1,), "steps": (2,)}, "goes with how='width' and without 'steps'"),
        ({"widths": (1,), "how": "quantile"}, "goes with how='width'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        intervals([1, 2, 3], **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([None], "has no known value to make intervals from"),
        (["1", "x"], "'x' is not a number"),
        ([True], "'true' is not a number"),
        ([1.0, float("inf")], "it holds an infinite number"),
    ],
)
def test_what_is_no_number_is_refused(cells: list[Any], words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        intervals(cells, "age")
    assert "Column 'age'" in str(caught.value)
    assert words in str(caught.value)


def test_zip_codes_lose_a_digit_a_level() -> None:
    taxonomy = prefixes(["12345", "12399", "99999", None], "zip")
    assert path(taxonomy, "12345") == ["12345", "1234*", "123**", "12***", "1****", "*"]
    assert path(prefixes(["12345", "99"], drop=(2, 4)), "12345") == [
        "12345", "123**", "1****", "*",
    ]  # fmt: skip


def test_short_codes_keep_their_own_label() -> None:
    taxonomy = prefixes(["123", "12345", "9"])
    assert path(taxonomy, "123")[:4] == ["123", "123", "123", "12***"]
    assert path(taxonomy, "12345")[:4] == ["12345", "1234*", "123**", "12***"]


@pytest.mark.slow
@given(st.lists(st.text("abc1", min_size=1, max_size=5), min_size=1, max_size=20))
def test_prefixes_always_make_a_tree(codes: list[str]) -> None:
    taxonomy = prefixes(codes)
    assert sorted(set(codes)) == sorted(taxonomy.values)


def test_bad_prefixes_are_refused() -> None:
    with pytest.raises(ParameterError, match="'drop' parameter of prefixes must be ascending"):
        prefixes(["123"], drop=(2, 1))
    with pytest.raises(SchemaError, match="no known value to make a hierarchy from"):
        prefixes([None], "zip")


def test_dates_by_month_quarter_and_year() -> None:
    days = [dt.date(2020, 3, 14), dt.date(2020, 4, 1), None, dt.date(2021, 3, 1)]
    taxonomy = dates(days)
    assert path(taxonomy, "2020-03-14") == ["2020-03-14", "2020-03", "2020-Q1", "2020", "*"]
    assert dates(["2020-03-14", "2021-01-01"]).values == ("2020-03-14", "2021-01-01")


def test_moments_are_grouped_by_day_first() -> None:
    moments = pl.Series([dt.datetime(2020, 3, 14, 9), dt.datetime(2020, 5, 1, 10, 30)])
    assert path(dates(moments), "2020-03-14 09:00:00")[:3] == [
        "2020-03-14 09:00:00", "2020-03-14", "2020-03",
    ]  # fmt: skip
    midnight = pl.Series([dt.datetime(2020, 3, 14), dt.datetime(2020, 5, 1)])
    assert path(dates(midnight), "2020-03-14")[:2] == ["2020-03-14", "2020-03"]


def test_what_is_no_date_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"holds no dates, for instance '14/3/2020'"):
        dates(["14/3/2020"], "born")
    with pytest.raises(SchemaError, match=r"Column 'born' holds no dates\. Dates are written"):
        dates([None], "born")
