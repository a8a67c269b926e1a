"""Copies of a release: the same cells, and a check of memory that sees everything else."""

import datetime as dt
import decimal
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from shoal.releases.check_bytes import _gaps, foreign_bytes
from shoal.releases.copy_cells import copy_cells

LONG = [f"a-text-of-more-than-twelve-bytes-{i}" for i in range(6)]
COLUMNS = {
    "texts": pl.Series([LONG[0], None, "short", LONG[1], "", LONG[0]]),
    "bytes": pl.Series([b"a" * 20, None, b"", b"b", b"c" * 13, b"d"]),
    "numbers": pl.Series([1, None, 3, 4, 5, 6]),
    "floats": pl.Series([1.5, None, -0.0, float("nan"), 5.0, 6.0]),
    "flags": pl.Series([True, None, False, True, True, False]),
    "days": pl.Series([dt.date(2020, 1, i + 1) for i in range(6)]),
    "moments": pl.Series([dt.datetime(2020, 1, i + 1) for i in range(6)]).dt.replace_time_zone(
        "Europe/Rome"
    ),
    "spans": pl.Series([dt.timedelta(seconds=i) for i in range(6)]),
    "times": pl.Series([dt.time(i) for i in range(6)]),
    "decimals": pl.Series([decimal.Decimal("1.50"), None, *map(decimal.Decimal, range(4))]),
    "categories": pl.Series([LONG[2], None, "b", LONG[2], "a", "b"], dtype=pl.Categorical),
    "enum": pl.Series(["b", None, "a", "b", "b", "a"], dtype=pl.Enum(["b", "c", "a"])),
    "lists": pl.Series([[LONG[0], None], None, [], [LONG[1]], [LONG[2], "x"], [""]]),
    "lists of enums": pl.Series(
        [["a"], None, [], ["b", None], ["a"], ["a"]], dtype=pl.List(pl.Enum(["b", "c", "a"]))
    ),
    "pairs": pl.Series([[1, 2], None, [3, None], [4, 5], [6, 7], [8, 9]], dtype=pl.Array(int, 2)),
    "structs": pl.Series([{"a": LONG[0], "b": 1}, None, *({"a": t, "b": None} for t in LONG[2:])]),
    "nothing": pl.Series([None] * 6),
    "all missing": pl.Series([None] * 6, dtype=pl.String),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("rows", [6, 0])
def test_a_copy_says_the_same(name, rows):
    table = COLUMNS[name].alias(name).head(rows).to_frame()
    copy = copy_cells(table)
    assert repr(copy.to_dicts()) == repr(table.to_dicts())
    if name not in ("enum", "lists of enums"):
        assert copy.schema == table.schema
    assert foreign_bytes({"release": copy}) == ()


def test_an_enumeration_keeps_the_order_of_what_is_published():
    assert copy_cells(COLUMNS["enum"].to_frame("x"))["x"].dtype == pl.Enum(["b", "a"])
    lists = copy_cells(COLUMNS["lists of enums"].to_frame("x"))["x"]
    assert lists.dtype == pl.List(pl.Enum(["b", "a"]))


def test_categories_go_out_in_the_order_of_the_release():
    pl.Series(["zebra", "yak", "ant"], dtype=pl.Categorical)  # seen before, in another order
    table = copy_cells(pl.Series("x", ["ant", "zebra"], dtype=pl.Categorical).to_frame())
    assert table.to_arrow()["x"].chunk(0).dictionary.to_pylist() == ["ant", "zebra"]


def test_structs_hold_nothing_under_a_null():
    inner = pl.Series("a", LONG)
    masked = pl.select(
        pl.when(pl.Series([True, False] * 3)).then(pl.struct(inner)).alias("x")
    ).to_series()
    stream = io.BytesIO()
    copy_cells(masked.to_frame()).write_ipc(stream)
    assert [text in stream.getvalue().decode("latin1") for text in LONG] == [True, False] * 3


def _masked(array, known):
    bits = np.packbits(known, bitorder="little")
    buffers = [pa.py_buffer(bits), *array.buffers()[1:]]
    return pl.from_arrow(pa.Array.from_buffers(array.type, len(array), buffers))


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pl.Series(LONG).gather([0, 1]), "texts that no cell has"),
        (pl.Series([*LONG, *[None] * 200]).gather([0, *range(6, 206)]), "texts that no cell has"),
        (pl.Series([t.encode() for t in LONG]).gather([0, 1]), "texts that no cell has"),
        (pl.Series(LONG).gather([5, 3, 4, 0, 2, 1]), "its texts in another order than the rows"),
        (pl.Series(["a", "b"], dtype=pl.Enum("abc")), "categories that no cell has"),
        (_masked(pa.array([7, 8]), [True, False]), "values under nulls"),
        (_masked(pa.array(["a", "b"], pa.large_string()), [True, False]), "texts under nulls"),
        (pl.Series([LONG[:2], LONG[2:]]).head(1), "elements that no cell has"),
    ],
    ids=[
        "rows left out",
        "left out beside gaps",
        "bytes left out",
        "order",
        "categories",
        "numbers",
        "texts",
        "elements",
    ],
)
def test_foreign_memory_is_seen(column, what):
    (fault,) = foreign_bytes({"release": column.alias("x").to_frame()})[:1]
    assert fault == (
        f"Column 'x' holds {what} in its memory: writing it to a file would publish that."
    )
    assert foreign_bytes({"release": copy_cells(column.to_frame())}) == ()


@pytest.mark.parametrize("name", COLUMNS)
def test_gaps_are_those_that_arrow_tells(name: str) -> None:
    table = COLUMNS[name].to_frame().to_arrow(compat_level=pl.CompatLevel.newest())
    for array in table.column(0).chunks:
        for part in (array, array[1:], array[2:5], array[:0]):
            assert _gaps(part).tolist() == part.is_null().to_pylist()
