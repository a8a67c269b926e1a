"""Taxonomies: every subtree is an interval of leaves, and what is no tree is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import SchemaError
from shoal.tables.domain import STAR, Nominal, Ordered, Taxonomy, flat

ANIMALS = [
    ("cat", "mammal", "animal", "*"),
    ("oak", "tree", "plant", "*"),
    ("dog", "mammal", "animal", "*"),
    ("hen", "bird", "animal", "*"),
    ("moss", "moss", "plant", "*"),
]


def leaves_under(rows: list[tuple[str, ...]], label: str) -> set[str]:
    return {row[0] for row in rows if label in row}


def assert_is_tree_of(taxonomy: Taxonomy, rows: list[tuple[str, ...]]) -> None:
    """Check every array of a taxonomy against the paths it came from, by plain loops."""
    assert sorted(taxonomy.values) == sorted(row[0] for row in rows)
    assert len(set(taxonomy.labels)) == len(taxonomy.labels)
    assert set(taxonomy.labels) == {label for row in rows for label in row}
    for node, label in enumerate(taxonomy.labels):
        covered = taxonomy.values[taxonomy.lo[node] : taxonomy.hi[node] + 1]
        assert set(covered) == leaves_under(rows, label)
        parent = taxonomy.labels[taxonomy.up[node]]
        for row in rows:
            if label in row:
                wider = [x for x in row[row.index(label) :] if x != label]
                assert parent == (wider[0] if wider else label)
    for row in rows:
        position = taxonomy.values.index(row[0])
        path = [taxonomy.labels[node] for node in taxonomy.levels[:, position]]
        assert tuple(path) == tuple(row)


def test_a_small_tree_by_hand() -> None:
    taxonomy = Taxonomy.from_rows(ANIMALS, "x")
    # Depth first, in the order of the file: the animals, then the plants.
    assert taxonomy.values == ("cat", "dog", "hen", "oak", "moss")
    assert taxonomy.size == 5
    assert taxonomy.labels[taxonomy.root] == "*"
    assert taxonomy.up[taxonomy.root] == taxonomy.root
    width = dict(zip(taxonomy.labels, taxonomy.width, strict=True))
    assert width["mammal"] == 2 / 5
    assert width["animal"] == 3 / 5
    assert width["*"] == 1
    assert width["cat"] == width["moss"] == 0
    assert_is_tree_of(taxonomy, ANIMALS)


def test_cover_is_the_lowest_common_ancestor() -> None:
    taxonomy = Taxonomy.from_rows(ANIMALS, "x")
    lo = np.array([0, 0, 0, 3, 0, 2, 5])
    hi = np.array([0, 1, 2, 4, 4, 5, 5])
    labels = [taxonomy.labels[node] for node in taxonomy.cover(lo, hi)]
    assert labels == ["cat", "mammal", "animal", "plant", "*", "*", "*"]


def test_a_group_reached_at_different_levels_is_one_interval() -> None:
    # G stands on level 1 of one path and on level 2 of another, with 'c' of the same T between.
    rows = [("a", "G", "T", "T", "*"), ("c", "c", "T", "T", "*"), ("b", "b", "G", "T", "*")]
    taxonomy = Taxonomy.from_rows(rows, "x")
    assert_is_tree_of(taxonomy, rows)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Random trees as padded paths: the padding repeats labels at random places."""
    parents = draw(st.lists(st.integers(0, 100), min_size=0, max_size=12))
    up = {0: 0}
    for node, parent in enumerate(parents, 1):
        up[node] = parent % node
    leaves = [node for node in up if node not in up.values()]
    if not leaves:  # the root alone
        return [("leaf", "*")]
    paths = []
    for leaf in leaves:
        path = [leaf]
        while path[-1] != 0:
            path.append(up[path[-1]])
        paths.append(path)
    depth = max(map(len, paths)) + draw(st.integers(0, 1))
    rows = []
    for path in paths:
        while len(path) < depth:
            place = draw(st.integers(0, len(path) - 1))
            path.insert(place, path[place])
        rows.append(tuple("*" if node == 0 else f"n{node}" for node in path))
    return draw(st.permutations(rows))


@pytest.mark.slow
@given(trees())
def test_every_tree_is_rebuilt_from_its_paths(rows: list[tuple[str, ...]]) -> None:
    rows = [row for row in rows if row[0] != "*"] or [("leaf", "*")]
    assert_is_tree_of(Taxonomy.from_rows(rows, "x"), rows)


@pytest.mark.slow
@given(trees(), st.data())
def test_joins_grow_and_never_shrink_in_width(rows: list[tuple[str, ...]], data: st.DataObject):
    taxonomy = Taxonomy.from_rows([r for r in rows if r[0] != "*"] or [("leaf", "*")], "x")
    place = st.integers(0, taxonomy.size)
    a, b, c = (data.draw(place) for _ in range(3))

    def join(*places: int) -> int:
        return int(taxonomy.cover(np.array([min(places)]), np.array([max(places)]))[0])

    assert join(a, b) == join(b, a)
    assert taxonomy.width[join(a, b)] <= taxonomy.width[join(a, b, c)]
    assert taxonomy.lo[join(a, b)] <= min(a, b)
    if max(a, b) < taxonomy.size:
        assert taxonomy.hi[join(a, b)] >= max(a, b)
    else:
        assert join(a, b) == taxonomy.root


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "is empty: it needs one row per value"),
        ([("a", "*"), ("b", "x", "*")], "is uneven: row 2 has 3 levels, row 1 has 2"),
        ([("a",), ("b",)], "has one level only"),
        ([("a", "*"), ("b", "all")], "has 2 different tops, in rows 1 and 2 for instance"),
        ([("a", "*"), ("a", "*")], "lists the value 'a' twice. Keep one of the rows."),
        (
            [("a", "g", "x", "*"), ("b", "g", "y", "*")],
            "gives 'g' two parents, 'x' and 'y'. A label stands for one node: rename one",
        ),
        ([("a", "g", "h", "g", "*")], "has a cycle: a > g > h > g"),
        ([("a", "*", "g", "*")], "has a cycle: a > * > g > *"),
        ([("a", "g", "*"), ("b", "*", "g")], "different tops"),
        ([("a", "b", "*"), ("b", "b", "*")], "uses 'b' both as a value and as a group"),
    ],
)
def test_what_is_no_tree_is_refused(rows: list[tuple[str, ...]], words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Taxonomy.from_rows(rows, "city")
    assert "The hierarchy of column 'city'" in str(caught.value)
    assert words in str(caught.value)


def test_all_faults_of_a_hierarchy_are_told_at_once() -> None:
    rows = [("a", "g", "x", "*"), ("b", "g", "y", "*"), ("a", "g", "x", "*")]
    with pytest.raises(SchemaError) as caught:
        Taxonomy.from_rows(rows, "city")
    assert len(caught.value.faults) == 2


@pytest.mark.slow
def test_zip_codes_by_the_thousand() -> None:
    rows = [
        (f"{z:05d}", f"{z // 10:04d}*", f"{z // 100:03d}**", f"{z // 1000:02d}***", "*")
        for z in range(15_000)
    ]
    taxonomy = Taxonomy.from_rows(rows, "zip")
    assert taxonomy.size == 15_000
    assert taxonomy.values[:2] == ("00000", "00001")


def test_flat_puts_every_value_under_the_star() -> None:
    taxonomy = flat(("b", "a"), "x")
    assert taxonomy.values == ("b", "a")
    assert taxonomy.labels == ("b", "a", STAR)
    assert taxonomy.up.tolist() == [2, 2, 2]
    assert taxonomy.width.tolist() == [0, 0, 1]
    assert_is_tree_of(taxonomy, [("b", "*"), ("a", "*")])


def test_flat_takes_a_star_as_a_value_and_no_values_at_all() -> None:
    star = flat(("*", "a"), "x")
    assert star.size == 2
    assert star.cover(np.array([0]), np.array([0]))[0] == 0
    empty = flat((), "x")
    assert (empty.size, empty.root) == (0, 0)
    assert empty.width.tolist() == [1]
    assert empty.cover(np.array([0]), np.array([0])).tolist() == [0]


def test_flat_refuses_a_value_twice() -> None:
    with pytest.raises(SchemaError, match="lists the value 'a' twice"):
        flat(("a", "a"), "x")


def test_sizes_and_spans() -> None:
    import polars as pl

    ages = Ordered(pl.Series([26, 30, 48]), np.array([26.0, 30.0, 48.0]))
    assert (ages.size, ages.span) == (3, 22.0)
    one = Ordered(pl.Series([26]), np.array([26.0]))
    assert one.span == 1.0
    assert Ordered(pl.Series([], dtype=pl.Int64), np.array([])).span == 1.0
    assert Nominal(("a", "b")).size == 2
