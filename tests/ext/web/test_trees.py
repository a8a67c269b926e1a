"""Hierarchies as trees: every step, its refusals, and the way to text and back."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base.errors import SchemaError
from shoal.base.roles import Kind, Role
from shoal.ext.web import hierarchies, trees
from shoal.ext.web.trees import LabelTree
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Column

ROWS = [
    ("nurse", "care", "public", "*"),
    ("doctor", "care", "public", "*"),
    ("teacher", "school", "public", "*"),
    ("mason", "crafts", "crafts", "*"),
]


def tree() -> LabelTree:
    return trees.from_taxonomy(Taxonomy.from_rows(ROWS, "job"), "job")


def below(shape: LabelTree) -> dict[str, set[str]]:
    return {label: set(kids) for label, kids in shape.children.items()}


def test_a_tree_says_what_the_hierarchy_says() -> None:
    assert below(tree()) == {
        "*": {"public", "crafts"},
        "public": {"care", "school"},
        "care": {"nurse", "doctor"},
        "school": {"teacher"},
        "crafts": {"mason"},
    }
    again = trees.to_taxonomy(tree(), "job")
    assert set(again.values) == {row[0] for row in ROWS}
    assert below(trees.from_taxonomy(again, "job")) == below(tree())


def test_a_group_stands_where_its_first_label_stood() -> None:
    grouped = trees.group(tree(), "public", ["school"], "lessons")
    assert below(grouped)["lessons"] == {"school"}
    assert grouped.children["public"] == ("care", "lessons")


def test_values_are_added_under_a_group() -> None:
    assert below(trees.add(tree(), ["baker"], "crafts"))["crafts"] == {"mason", "baker"}


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (lambda t: trees.add(t, ["baker"], "mason"), "has no group 'mason'. Choose one of: '\\*'"),
        (lambda t: trees.add(t, ["nurse"], "crafts"), "already has a label 'nurse'"),
        (lambda t: trees.group(t, "care", ["nurse"], "school"), "already has a label 'school'"),
        (lambda t: trees.from_outline("*\n  a\n  a\n", "job"), "Line 3: 'a' already stands in"),
        (lambda t: trees.from_outline("*\n  a\nb", "job"), "Line 3: 'b' is not indented"),
        (lambda t: trees.from_outline("*", "job"), "at least one value"),
        (lambda t: trees.from_outline('*\n  "a', "job"), "starts with a quote"),
    ],
)
def test_a_step_that_makes_no_tree_is_refused_in_words(step, text) -> None:
    with pytest.raises(SchemaError, match=text):
        step(tree())


LABELS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(st.lists(LABELS, min_size=3, max_size=12, unique=True), st.randoms(use_true_random=False))
def test_text_and_back_is_the_same_tree(labels, random) -> None:
    children: dict[str, list[str]] = {}
    for place, label in enumerate(labels[1:], 1):
        children.setdefault(labels[random.randrange(place)], []).append(label)
    shape = LabelTree(labels[0], {label: tuple(kids) for label, kids in children.items()})
    text = trees.to_outline(shape)
    assert trees.from_outline(text, "x") == shape
    assert trees.from_outline(text.replace("\n", "\r\n"), "x") == shape


def test_what_a_hierarchy_lacks_is_counted_in_rows() -> None:
    series = pl.Series("job", ["nurse", "pilot", "pilot", None, "baker", "?"])
    column = Column("job", Role.QUASI, Kind.TAXONOMY, missing=("?",))
    left = hierarchies.lacking(Taxonomy.from_rows(ROWS, "job"), series, column)
    assert left == {"rows": 3, "values": ["pilot", "baker"], "counts": [2, 1]}


def test_every_maker_makes_a_hierarchy_that_covers(tmp_path) -> None:
    frame = pl.DataFrame(
        {
            "n": list(range(100)),
            "d": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 4, 9), eager=True),
            "z": [f"{10_000 + i * 37}" for i in range(100)],
        }
    )
    for column, how, numbers in (
        ("n", "intervals", "5, 10; 20"),
        ("n", "quantiles", "4,2"),
        ("z", "prefixes", "1,3"),
        ("d", "dates", ""),
        ("z", "flat", ""),
    ):
        path = tmp_path / f"{column}-{how}.csv"
        given_ = {"path": str(path), "how": how, "numbers": numbers}
        shown = hierarchies.work(frame, column, "make", given_)
        assert shown["covered"] == 100, how
        assert shown["lacking"] == []
        assert shown["tree"]["rows"] == 100
    with pytest.raises(Exception, match="numbers with commas"):
        hierarchies.work(frame, "n", "make", {**given_, "how": "intervals", "numbers": "five"})
