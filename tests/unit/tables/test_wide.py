"""Wide tables: short columns are read together, and each comes out as if it were read alone."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.api.opening import read_table
from shoal.tables.cells import blank_and_typed, infer_type, missing_to_null

CELLS = (
    "1", " 2", "007", "-0", "1.5", "nan", "1e999", "true", "False ", "2020-02-29", "2020-02-30",
    "2020-01-01 10:30", "2020-01-01T10:30:59.5", "a", "?", " ", "",
)  # fmt: skip
PER_COLUMN = 200  # calls of functions; one column at a time took some 2,000


@st.composite
def columns(draw: st.DrawFn) -> list[pl.Series]:
    height = draw(st.integers(1, 4))
    cell = st.sampled_from(CELLS) | st.none()
    drawn = draw(st.lists(st.lists(cell, min_size=height, max_size=height), min_size=1, max_size=9))
    return [pl.Series(f"c{i}", cells, pl.String) for i, cells in enumerate(drawn)]


@pytest.mark.slow
@given(columns())
def test_columns_read_together_are_those_read_alone(texts: list[pl.Series]) -> None:
    together = blank_and_typed(texts, ["?"], {"c1"})
    for column, result in zip(texts, together, strict=True):
        alone = missing_to_null(column, ["?"])
        alone = alone if column.name == "c1" else infer_type(alone)
        assert (result.name, result.dtype) == (column.name, alone.dtype)
        assert result.equals(alone, null_equal=True)


@pytest.mark.slow
def test_a_wide_table_takes_few_calls_for_every_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOAL_THREADS", "1")  # calls are counted in this thread
    row = ["1", "x", "1.5", "2020-01-01", "true"]
    counts = []
    for width in (200, 800):
        path = tmp_path / f"{width}.csv"
        names = [f"c{i}" for i in range(width)]
        path.write_text("\n".join(",".join(cells) for cells in [names, *[row * (width // 5)] * 20]))
        read_table(path)  # whatever is loaded once is loaded
        profile = cProfile.Profile()
        frame = profile.runcall(read_table, path)
        assert frame.shape == (20, width)
        assert frame.dtypes[:5] == [pl.Int64, pl.String, pl.Float64, pl.Date, pl.Boolean]
        counts.append(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]
    few, many = counts
    assert (many - few) / 600 < PER_COLUMN
