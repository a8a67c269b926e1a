"""Names of columns that would stand for several of them are refused at every door."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal


@pytest.mark.parametrize("name", ["*", "^x$", "^.*$", "^a\nb$"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "sqlite", "polars", "pandas"])
def test_a_name_that_is_a_pattern_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    frame = pl.DataFrame({"x": ["a", "b"], name: ["c", "?"]})
    match kind:
        case "csv":
            given: Any = tmp_path / "t.csv"
            frame.write_csv(given)
        case "parquet":
            given = tmp_path / "t.parquet"
            frame.write_parquet(given)
        case "arrow":
            given = tmp_path / "t.arrow"
            frame.write_ipc(given)
        case "sqlite":
            given = f"sqlite:{tmp_path / 't.db'}#t"
            with closing(sqlite3.connect(tmp_path / "t.db")) as database, database:
                database.execute(f'create table t (x text, "{name}" text)')
                database.executemany("insert into t values (?, ?)", frame.rows())
        case _:
            given = frame if kind == "polars" else frame.to_pandas()
    with pytest.raises(shoal.InputError) as told:
        shoal.anonymize(given, quasi=["x"], k=2, missing=["?"])
    assert f"read as patterns: {name!r}" in str(told.value)
    assert "rename the columns" in str(told.value)


@pytest.mark.parametrize("name", ["^x", "x$", "a*", "**", "^", "$", "^$x"])
def test_a_name_that_only_looks_like_one_is_taken(name: str) -> None:
    frame = pl.DataFrame({name: ["a", "a", "b", "b"], "xx": ["c", "d", "c", "d"]})
    outcome = shoal.anonymize(frame, quasi=[name], sensitive=["xx"], k=2, seed=1)
    assert outcome.frame.columns == [name, "xx"]
    assert sorted(outcome.frame[name]) == ["a", "a", "b", "b"]
