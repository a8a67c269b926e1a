"""Dates, times and numbers as people write them, read only where one reading fits."""

from __future__ import annotations

import warnings
from datetime import date, datetime

import polars as pl
import pytest

from shoal.base.errors import ShoalWarning
from shoal.tables.local_formats import read_local_forms


def read(texts: list[str | None], **forms: str) -> tuple[list[object], list[str]]:
    """Return what a column is read as, and the warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ShoalWarning)
        column = read_local_forms(pl.Series("when", texts), **forms)
    assert column.name == "when"
    return column.to_list(), [str(one.message) for one in heard]


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["20.04.2023 20:16", "01.02.2023 03:05"], datetime(2023, 4, 20, 20, 16)),
        (["20.04.2023 20:16:05"], datetime(2023, 4, 20, 20, 16, 5)),
        (["4/20/2023 8:16 PM", "4/21/2023 8:16 AM"], datetime(2023, 4, 20, 20, 16)),
        (["4/20/2023 12:01 am", "4/20/2023 12:01 PM"], datetime(2023, 4, 20, 0, 1)),
        (["20/04/23 20.16"], datetime(2023, 4, 20, 20, 16)),
        (["20-04-2023T20:16", "21-04-2023 01:02"], datetime(2023, 4, 20, 20, 16)),
        (["2023/04/20 20:16:05.25"], datetime(2023, 4, 20, 20, 16, 5, 250_000)),
        ([" 20.04.2023, 20:16 ", None], datetime(2023, 4, 20, 20, 16)),
        (["20.04.2023", None], date(2023, 4, 20)),
    ],
)
def test_one_reading_is_taken(texts: list[str | None], first: object) -> None:
    values, heard = read(texts)
    assert values[0] == first
    assert [value is None for value in values] == [text is None for text in texts]
    assert not heard


def test_noon_and_midnight() -> None:
    values, _ = read(["4/20/2023 12:01 AM", "4/20/2023 12:01 PM", "4/20/2023 1:00 p.m."])
    assert values == [
        datetime(2023, 4, 20, hour, minute) for hour, minute in ((0, 1), (12, 1), (13, 0))
    ]


@pytest.mark.parametrize(
    ("texts", "warning"),
    [
        (["03/04/2023 10:00"], "can be read in 2 ways (d/m/y, m/d/y)"),
        (["03/04/45"], "years have two digits. That leaves the century open"),
        (["20.04.2023 25:16"], "looks like dates, but not all fit"),
        (["20.04.2023 13:16 PM"], "looks like dates, but not all fit"),
        (["31.02.2024"], "looks like dates, but not all fit"),
        (["20.04.2023", "20.04.2023 10:00"], "looks like dates, but not all fit"),
        (["20.04.2023"] * 30 + ["soon"], "looks like dates, but 1 of its 31 values are not"),
        (["34"] * 30 + ["90+"], "looks like numbers, but 1 of its 31 values are not"),
    ],
)
def test_a_column_that_is_not_read_stays_text_with_a_warning(
    texts: list[str], warning: str
) -> None:
    values, heard = read(texts)
    assert values == texts
    (text,) = heard
    assert warning in text
    assert "soon" not in text, "a warning must not repeat a value"
    assert "90+" not in text


@pytest.mark.parametrize("texts", [["007", "012"], ["A12", "B7"], ["1", "x", "y"], ["10.0.0.1"]])
def test_codes_are_left_alone_without_a_word(texts: list[str]) -> None:
    assert read(texts) == (texts, [])


def test_a_named_form_decides_and_covers_the_time() -> None:
    values, heard = read(["03/04/2023 10:00"], dates="m/d/y")
    assert values == [datetime(2023, 3, 4, 10, 0)]
    assert not heard
    assert read(["20.04.2023 20:16"], dates="off") == (["20.04.2023 20:16"], [])


def test_a_fault_far_down_is_seen() -> None:
    texts: list[str | None] = ["20.04.2023 20:16"] * 3_000 + ["20.04.2023 20:60"]
    values, heard = read(texts)
    assert values == texts
    assert heard
