"""Cells are written without ambiguity and read back to what they were."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import InputError
from shoal.releases import notation
from shoal.releases.notation import Cell, read
from shoal.tables.domain import Taxonomy, flat

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
# Texts made of what the notation is made of: far more likely to collide than any others.
tricky = st.text(st.sampled_from(list('*[]{}",- \\ab1\n')), min_size=1, max_size=6)
words = st.one_of(texts, tricky)


def test_the_four_forms():
    assert read("*") == Cell("star")
    assert read("Haiti") == Cell("exact", ("Haiti",))
    assert read("{Haiti, Peru}") == Cell("set", ("Haiti", "Peru"))
    assert read("[20-39]", pl.Int64) == Cell("interval", ("20", "39"))


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ([-7, -2], "[-7--2]"),
        ([-0.5, 1e-7], "[-0.5-1e-7]"),
        ([1.0, 2.0], "[1-2]"),
        ([1e300, 2e300], "[{}-{}]".format(*notation.as_text(pl.Series([1e300, 2e300])))),
        ([dt.date(2020, 1, 31), dt.date(2020, 2, 1)], "[2020-01-31-2020-02-01]"),
        ([dt.datetime(2020, 1, 31), dt.datetime(2020, 2, 1)], "[2020-01-31-2020-02-01]"),
        (
            [dt.datetime(2020, 1, 31, 8), dt.datetime(2020, 2, 1)],
            "[2020-01-31 08:00:00-2020-02-01 00:00:00]",
        ),
        (["a-b", "c"], '["a-b"-c]'),
        ([False, True], "[false-true]"),
    ],
)
def test_intervals(values, cell):
    series = pl.Series(values)
    written = notation.intervals(series, np.array([0]), np.array([1]))
    assert written.to_list() == [cell]
    ends = tuple(notation.as_text(series).to_list())
    assert read(cell, series.dtype) == Cell("interval", ends)
    several = notation.read_ordered(pl.Series([cell, "*", ends[0], None]), series.dtype)
    assert several["lo"].to_list() == [ends[0], None, ends[0], None]
    assert several["hi"].to_list() == [ends[1], None, ends[0], None]


@pytest.mark.slow
@given(st.lists(words, min_size=1, max_size=8, unique=True))
def test_exact_values_are_injective_and_come_back(values):
    cells = notation.exact(pl.Series(values, dtype=pl.String)).to_list()
    assert len(set(cells)) == len(values)
    assert [read(cell) for cell in cells] == [Cell("exact", (value,)) for value in values]


@pytest.mark.slow
@given(st.lists(st.frozensets(words, min_size=2, max_size=4), min_size=1, max_size=6))
def test_sets_come_back_and_never_look_like_values(wanted):
    values = sorted(frozenset().union(*wanted))
    number = {value: i for i, value in enumerate(values)}
    members = [sorted(number[value] for value in one) for one in wanted]
    starts = np.cumsum([0, *map(len, members)])
    cells = notation.sets(values, starts, np.concatenate(members))
    back = [read(cell) for cell in cells]
    assert [cell.form for cell in back] == ["set"] * len(wanted)
    assert [frozenset(cell.parts) for cell in back] == wanted
    assert len(set(cells)) == len(set(wanted))
    exact = set(notation.exact(pl.Series(values, dtype=pl.String)))
    assert not exact & {"*", *cells}
    # The reader of whole columns says the same.
    listed = notation.read_sets(pl.concat([cells, pl.Series(["*"])]))
    for i, one in enumerate(wanted):
        assert set(listed.filter(pl.col("cell") == i)["element"]) == one
    assert not listed.filter(pl.col("cell") == len(wanted)).height


@pytest.mark.slow
@given(st.lists(words, min_size=2, max_size=6, unique=True))
def test_intervals_of_ranks_come_back(values):
    series = pl.Series(values, dtype=pl.String)
    hi = np.arange(1, len(values))
    cells = notation.intervals(series, hi - 1, hi)
    back = notation.read_ordered(cells, pl.String())
    assert back["lo"].to_list() == values[:-1]
    assert back["hi"].to_list() == values[1:]
    assert len(set(cells)) == len(cells)


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique=True))
def test_intervals_of_numbers_come_back(values):
    series = pl.Series(sorted({value + 0.0 for value in values}), dtype=pl.Float64)
    hi = np.arange(len(series))
    cells = notation.intervals(series, np.zeros_like(hi), hi)
    back = notation.read_ordered(cells, pl.Float64())
    assert back["hi"].cast(pl.Float64).to_list() == series.to_list()
    assert back["lo"].cast(pl.Float64).to_list() == [series[0]] * len(series)


def test_taxonomy_labels_are_verbatim_and_a_star_follows():
    tree = Taxonomy.from_rows([("[1-2]", "{low}", "Any"), ("3", "{high}", "Any")], "x")
    assert set(notation.node_labels(tree)) == {"[1-2]", "3", "{low}", "{high}", "Any", "*"}
    assert notation.node_labels(tree)[tree.root] == "Any"
    quoted = Taxonomy.from_rows([("a", '"*"'), ("b", '"*"')], "x")
    assert notation.node_labels(quoted).to_list() == ["a", "b", '"\\"*\\""', "*"]


def test_a_leaf_that_looks_like_the_top_is_quoted():
    values = ["*", '"*"', "a"]
    labels = notation.node_labels(flat(values, "x"))
    assert labels.n_unique() == 4
    assert labels.to_list()[-3:] == ["a", "*", "*"]
    assert notation.read_labels(labels).to_list() == [*values, "*", "*"]


@pytest.mark.parametrize("cell", ["[1-2", "[a-b]", "[1]", "{a", "{a,b}", '"a', '"a"b', "{}", "[]"])
def test_what_is_no_cell_is_refused(cell):
    with pytest.raises(InputError, match=r"Cannot read the cell .*: a released cell is a value"):
        read(cell, pl.Int64)


def test_a_column_of_numbers_with_a_broken_interval_is_refused():
    with pytest.raises(InputError, match=r"Cannot read the cell '\[1-x\]'"):
        notation.read_ordered(pl.Series(["[1-2]", "[1-x]"]), pl.Int64())
    with pytest.raises(InputError, match=r"Cannot read the cell .\{a, b\}."):
        notation.read_ordered(pl.Series(["{a, b}"]), pl.String())
    with pytest.raises(InputError, match=r"Cannot read the cell '\[a-b\]'"):
        notation.read_sets(pl.Series(["[a-b]"]))


def test_a_long_cell_is_cut_in_the_message():
    with pytest.raises(InputError) as caught:
        read("[" + "x" * 500)
    assert len(str(caught.value)) < 400
