"""What somebody sees who types `shoal.` and presses the tab key, or looks at a result."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import polars as pl
import pytest

import shoal
from shoal import hierarchies
from shoal.tables.making import MAKERS

VALUES: dict[str, list[Any]] = {
    "decades": [1987, 1999, 2024],
    "countries": ["DE", "FR", "JP"],
    "icd10": ["A00", "B20", "C34"],
    "nuts": ["DE212", "DE300", "FR101"],
    "prefixes": ["12345", "12399", "20000"],
    "dates": [dt.date(2024, 1, 5), dt.date(2024, 2, 7), dt.date(2025, 1, 1)],
    "weeks": [dt.date(2024, 1, 5), dt.date(2024, 2, 7), dt.date(2025, 1, 1)],
}


def test_public_names_alone_are_listed() -> None:
    _ = [getattr(shoal, name) for name in shoal.__all__]  # what was loaded is in its globals then
    assert set(dir(shoal)) == {*shoal.__all__, "__version__"}
    assert not [name for name in dir(hierarchies) if name.startswith("_")]


def test_there_is_a_function_for_every_maker() -> None:
    made = {getattr(hierarchies, name) for name in dir(hierarchies)}
    assert len(made) == len(MAKERS) == 13
    wrapped = {"frequency"}  # with the numbers of the command line
    assert {way.make for name, way in MAKERS.items() if name not in wrapped} < made
    assert hierarchies.frequencies in made


@pytest.mark.parametrize("name", dir(hierarchies))
def test_a_maker_takes_a_column_of_any_library(name: str) -> None:
    values = VALUES.get(name, [20, 35, 61])
    make = getattr(hierarchies, name)
    trees = [make(kind) for kind in (values, pl.Series(values), pd.Series(values, index=[7, 7, 1]))]
    assert [tree.labels for tree in trees] == [trees[0].labels] * 3
    assert trees[0].labels[-1] == "*"
    assert make.__doc__
