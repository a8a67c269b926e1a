"""Local recoding: joins, widths, and the published table."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.base.errors import SchemaError, ShoalError
from shoal.base.partition import Partition
from shoal.base.roles import Kind, Role
from shoal.coding import joins as coding_joins
from shoal.coding.encode import Encoded, encode
from shoal.coding.joins import joins, merge
from shoal.releases.generalized.make import generalize
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from shoal.tables.schema import Column, Schema
from tests.tables import encoded


def schema(**columns):
    """``age="ordered", disease="sensitive"``: a kind makes a quasi-identifier."""
    return Schema(
        tuple(
            Column(name, Role.QUASI, Kind(part)) if part in set(Kind) else Column(name, Role(part))
            for name, part in columns.items()
        )
    )


def paired(rows):
    return Partition.from_labels(np.arange(rows) // 2)


# Joins as a lattice


def tree():
    return Taxonomy.from_rows(
        [
            ("a", "ab", "*"),
            ("b", "ab", "*"),
            ("c", "cde", "*"),
            ("d", "cde", "*"),
            ("e", "cde", "*"),
        ],
        "t",
    )


DOMAINS = (
    tree(),
    Ordered(pl.Series([1, 2, 5, 9, 10]), np.array([1.0, 2, 5, 9, 10])),
    Nominal(("p", "q", "r", "s", "t")),
)


def one_group(rows):
    """Join of a bag of rows: what each column is published as, and its width."""
    codes = np.array(rows, np.int32)
    data = Encoded(("t", "o", "s"), codes, DOMAINS, {}, {})
    found = joins(data, Partition(np.arange(len(rows)), np.array([0, len(rows)])))
    keys = (
        int(found[0].node[0]),
        None if found[1].star[0] else (int(found[1].lo[0]), int(found[1].hi[0])),
        None if found[2].star[0] else tuple(found[2].members.tolist()),
    )
    return keys, np.array([join.width[0] for join in found])


rows_of_three = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=5)


@pytest.mark.slow
@given(rows_of_three, rows_of_three)
def test_joins_do_not_care_for_order_or_repetition_and_widths_never_shrink(a, b):
    joined, width = one_group(a + b)
    assert one_group(b + a)[0] == joined  # commutative, and associative: bags of any split
    assert one_group(a + b + a)[0] == joined  # idempotent
    for part in (a, b):
        assert (one_group(part)[1] <= width + 1e-15).all()
    assert ((width >= 0) & (width <= 1)).all()


@given(rows_of_three)
def test_joins_of_joins_are_joins(rows):
    """The join of all members is the smallest node, interval or set over them, by definition."""
    (node, interval, members), _ = one_group(rows)
    t, o, s = (np.array(column) for column in zip(*rows, strict=True))
    domain = DOMAINS[0]
    if t.max() == 5:
        assert node == domain.root
    else:
        over = [n for n in range(8) if domain.lo[n] <= t.min() and domain.hi[n] >= t.max()]
        assert node == min(over, key=lambda n: domain.hi[n] - domain.lo[n])
    assert interval == (None if o.max() == 5 else (o.min(), o.max()))
    assert members == (None if s.max() == 5 else tuple(sorted(set(s.tolist()))))


def test_widths_by_hand():
    assert one_group([(0, 0, 0)])[1].tolist() == [0, 0, 0]
    assert one_group([(0, 0, 0), (1, 2, 1)])[1].tolist() == [2 / 5, 4 / 9, 1 / 4]
    assert one_group([(2, 4, 0), (4, 0, 4)])[1].tolist() == [3 / 5, 1, 1 / 4]
    assert one_group([(5, 5, 5), (4, 0, 4)])[1].tolist() == [1, 1, 1]


def test_joins_equal_plain_loops():
    rng = np.random.default_rng(5)
    for _ in range(20):
        data = encoded(rng, 30, "toss")
        partition = Partition.from_labels(rng.integers(-1, 6, 30))
        found = joins(data, partition)
        for g in range(partition.groups):
            members = partition.rows[partition.starts[g] : partition.starts[g + 1]]
            for j, (domain, join) in enumerate(zip(data.domains, found, strict=True)):
                codes = data.codes[members, j]
                assert (join.lo[g], join.hi[g]) == (codes.min(), codes.max())
                assert join.known[g] == (codes < domain.size).sum()
                if codes.max() == domain.size:
                    assert join.star[g]
                    assert join.width[g] == 1


# The published table


def sample():
    frame = pl.DataFrame(
        {
            "name": ["Ann", "Bob", "Cid", "Dan"],
            "age": [30, -5, 41, None],
            "disease": ["flu", None, "flu", "gout"],
            "city": ["Rome", "*", "Oslo", "Oslo"],
            "note": [1.5, 2.5, None, 0.0],
            "secret": ["x", "x", "x", "x"],
        }
    )
    plan = schema(note="keep", name="identifier", age="ordered", city="set", disease="sensitive")
    return frame, plan


def test_what_is_published():
    frame, plan = sample()
    release = generalize(frame, plan, encode(frame, plan), paired(4))
    assert release.frame.to_dict(as_series=False) == {
        "age": ["[-5-30]", "[-5-30]", "*", "*"],
        "disease": ["flu", None, "flu", "gout"],
        "city": ['{"*", Rome}', '{"*", Rome}', "Oslo", "Oslo"],
        "note": [1.5, 2.5, None, 0.0],
    }
    assert list(release.tables) == ["release"]


def test_flat_taxonomies_of_sets_are_written_as_sets_are():
    frame, plan = sample()
    data = encode(frame, plan, flat_sets=True)
    alone = generalize(frame, plan, data, Partition.from_labels(np.arange(4)))
    assert alone.frame["city"].to_list() == ["Rome", '"*"', "Oslo", "Oslo"]
    release = generalize(frame, plan, data, paired(4))
    assert release.frame["city"].to_list() == ["*", "*", "Oslo", "Oslo"]


def test_typed_columns_keep_their_type():
    frame = pl.DataFrame(
        {"born": [dt.date(1990, 1, 1), dt.date(1980, 5, 5), None, dt.date(2000, 1, 1)]}
    )
    plan = schema(born="ordered")
    release = generalize(frame, plan, encode(frame, plan), paired(4), typed=True).frame
    assert release.schema == {"born_lo": pl.Date, "born_hi": pl.Date}
    assert release["born_lo"].to_list() == [dt.date(1980, 5, 5)] * 2 + [None] * 2
    assert release["born_hi"].to_list() == [dt.date(1990, 1, 1)] * 2 + [None] * 2


def test_rows_are_published_in_the_order_given_without_those_left_out():
    frame, plan = sample()
    partition = Partition.from_labels(np.array([0, -1, 0, 1]))
    release = generalize(frame, plan, encode(frame, plan), partition, order=np.array([3, 2, 1, 0]))
    assert release.order.tolist() == [3, 2, 0]
    assert release.frame["note"].to_list() == [0.0, None, 1.5]
    assert release.frame["age"].to_list() == ["*", "[30-41]", "[30-41]"]


def test_the_input_is_left_alone_and_nothing_is_published_of_an_empty_partition():
    frame, plan = sample()
    before = frame.clone()
    nothing = generalize(frame, plan, encode(frame, plan), Partition.from_labels(np.full(4, -1)))
    assert nothing.frame.height == 0
    assert nothing.frame.columns == ["age", "disease", "city", "note"]
    assert frame.equals(before)


def test_a_column_entirely_missing_is_a_star():
    frame = pl.DataFrame(
        {"a": pl.Series([None, None], dtype=pl.Int64), "b": ["x", "y"], "c": [None, None]},
        schema_overrides={"c": pl.String},
    )
    plan = schema(a="ordered", b="set", c="set")
    with pytest.warns(UserWarning, match="entirely missing"):
        data = encode(frame, plan)
    release = generalize(frame, plan, data, paired(2)).frame
    assert release.rows() == [("*", "{x, y}", "*")] * 2
    typed = generalize(frame, plan, data, paired(2), typed=True).frame
    assert typed.rows() == [(None, None, "{x, y}", "*")] * 2


def test_groups_published_alike_are_one_class():
    frame = pl.DataFrame({"a": [1, 2, 2, 1, None, 1, 2, None], "s": list("xyyxzzwz")})
    plan = schema(a="ordered", s="set")
    data = encode(frame, plan)
    partition = paired(8)
    classes = merge(joins(data, partition), partition)
    # {1,2}{x,y} twice; * with {z}; * with {w,z}
    assert classes[0] == classes[1]
    assert len(set(classes.tolist())) == 3


@pytest.mark.parametrize(
    ("rows", "starts", "left_out"),
    [
        ([0, 1, 1], [0, 3], []),
        ([0, 1, 2], [0, 3], []),
        ([0, 1, 2, 3, 3], [0, 5], []),
        ([0, 1, 2, 9], [0, 4], []),
        ([0, 1, 2, 3], [0, 4], [3]),
        ([0, 1, 2, -1], [0, 4], []),
    ],
)
def test_a_partition_that_loses_or_doubles_rows_is_refused(rows, starts, left_out):
    frame, plan = sample()
    wrong = Partition(*(np.array(x, np.int64) for x in (rows, starts, left_out)))
    with pytest.raises(ShoalError, match="does not hold each of the 4 rows once"):
        joins(encode(frame, plan), wrong)


@pytest.mark.parametrize("starts", [[0, 2, 2, 4], [0, 2]])
def test_a_partition_with_bad_starts_is_refused(starts):
    frame, plan = sample()
    wrong = Partition(np.arange(4), np.array(starts))
    with pytest.raises(ShoalError, match="empty group, or its last group"):
        joins(encode(frame, plan), wrong)


def test_an_order_that_is_no_permutation_is_refused():
    frame, plan = sample()
    data = encode(frame, plan)
    for order in ([0, 1, 2, 2], [0, 1], [1, 2, 3, 4]):
        with pytest.raises(
            ShoalError, match=r"each row number from 0 to 3 once; got .*permutation"
        ):
            generalize(frame, plan, data, paired(4), order=np.array(order))


def test_another_frame_is_refused():
    frame, plan = sample()
    with pytest.raises(ShoalError, match="The frame has 2 rows but 4 were encoded"):
        generalize(frame.head(2), plan, encode(frame, plan), paired(4))


def test_a_quasi_identifier_that_was_not_encoded_never_passes_through():
    frame, plan = sample()
    less = schema(age="ordered", city="sensitive")
    with pytest.raises(SchemaError, match="'city' was not encoded, so it cannot be generalized"):
        generalize(frame, plan, encode(frame, less), paired(4))


def test_a_typed_pair_that_meets_a_column_of_its_name_is_refused():
    frame = pl.DataFrame({"x": [1, 2], "x_lo": [5, 6]})
    plan = schema(x="ordered", x_lo="keep")
    with pytest.raises(SchemaError, match="'x_lo', but the table has one already"):
        generalize(frame, plan, encode(frame, plan), paired(2), typed=True)


def test_the_geometry_of_a_partition_is_worked_out_once_a_run(monkeypatch):
    """Recoding, the loss and the sizes of the classes look at the same joins."""
    asked = []
    real = coding_joins._join

    def counted(*args):
        asked.append(args[-1])
        return real(*args)

    monkeypatch.setattr(coding_joins, "_join", counted)
    frame = pl.DataFrame({"age": [20, 21, 30, 31], "sex": ["f", "m", "f", "m"]})
    with pytest.warns(shoal.ShoalWarning):
        shoal.anonymize(frame, quasi=["age", "sex"], k=2, seed=1)
    assert sorted(asked) == [0, 1]


def test_the_joins_of_another_table_are_not_taken_for_those_of_this_one():
    rng = np.random.default_rng(1)
    first, second = encoded(rng, 6, "o"), encoded(rng, 6, "o")
    partition = paired(6)
    before = joins(first, partition)[0]
    assert joins(first, partition)[0] is before
    assert joins(second, partition)[0] is not before
