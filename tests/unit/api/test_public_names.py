"""What somebody sees who types `shoal.` and presses the tab key, or looks at a result."""

from __future__ import annotations

import datetime as dt
import inspect
import re
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import hierarchies
from shoal.tables.hierarchy_methods import MAKERS

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
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


CALLS = [getattr(shoal, name) for name in ("open", "open_release", "inspect")]
CALLS += [getattr(shoal, name) for name in ("anonymize", "compare", "audit", "risk", "attack")]
CALLS += [shoal.estimate, shoal.Table.anonymize, shoal.Table.compare]
CALLS += [shoal.Release.audit, shoal.Release.attack, shoal.Release.estimate]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_every_argument_is_explained_and_in_that_order(call: Any) -> None:
    text = inspect.cleandoc(call.__doc__).split("Parameters\n-")[1].split("Raises\n-")[0]
    explained = ", ".join(re.findall(r"^(\w[\w, ]*)\n {4}\S", text, flags=re.M)).split(", ")
    taken = [name for name in inspect.signature(call).parameters if name != "self"]
    assert sorted(explained) == sorted(taken)
    named = inspect.getfullargspec(call).kwonlyargs
    assert named == [name for name in explained if name in named]


def test_somebody_who_begins_sees_the_roles_first() -> None:
    data, *named = inspect.signature(shoal.anonymize).parameters
    assert (data, named[:3]) == ("data", ["quasi", "sensitive", "identifier"])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_release_goes_out_as_any_kind_of_frame(kind: Any) -> None:
    rows = {"age": [20, 21, 22, 35, 36, 37] * 2, "ill": list("abcabd") * 2}
    release = shoal.anonymize(kind(rows), quasi="age", sensitive="ill", k=4, method="mondrian")
    assert len(release) == 12
    assert type(release.head()) is type(release.frame) is type(kind(rows))
    assert (len(release.head()), len(release.head(3))) == (5, 3)
    frames = [release.to_pandas(), release.to_arrow(), release.to_polars()]
    assert list(map(type, frames)) == [pd.DataFrame, pa.Table, pl.DataFrame]
    texts = [pl.from_pandas(frames[0]), pl.from_arrow(frames[1]), shoal.open(release.frame).frame]
    assert all(text.equals(frames[2]) for text in texts)
    compared = shoal.compare(kind(rows), quasi="age", methods="mondrian", k=4, seed=1)
    assert type(compared.frame()) is type(release.frame)
    told = f"{release!r} {shoal.open(kind(rows), quasi='age')!r} {compared!r}"
    assert not any(cell in told for cell in ("20", "[20", "37", release.to_polars()["age"][0]))


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
