"""Incognito: the paper's example, every node against its plain twin, and what is published."""

import warnings

import numpy as np
import polars as pl
import pytest

from shoal.base.errors import Infeasible, ParameterError, ShoalError, ShoalWarning
from shoal.base.partition import Cover, Partition
from shoal.coding.encode import Encoded, encode
from shoal.coding.joins import joins
from shoal.groupers import incognito
from shoal.groupers.levels import ladders
from shoal.measures.losses.ncp import iloss
from shoal.privacy import AlphaK, EntropyLDiversity, FrequencyLDiversity, KAnonymity, LDiversity
from shoal.privacy.closeness import TCloseness
from shoal.releases.generalized.make import generalize
from shoal.tables.domain import Nominal, Ordered, Taxonomy
from shoal.tables.schema import declare
from tests.checking import verify
from tests.naive import fulldomain
from tests.naive.rules import passes
from tests.tables import encoded

RULES = [
    KAnonymity(2),
    KAnonymity(4),
    LDiversity(2, "s0"),
    FrequencyLDiversity(2, "s0"),
    AlphaK(0.6, 3, "s0"),
    EntropyLDiversity(2.0, "s0"),
]


def as_sets(partition):
    return {frozenset(rows.tolist()) for rows in np.split(partition.rows, partition.starts[1:-1])}


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        return call(*args, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(48))
@pytest.mark.parametrize("suppression", [0.0, 0.2])
def test_equals_its_twin(seed, suppression):
    rng = np.random.default_rng(seed)
    kinds = ["tt", "to", "ts", "o", "tos", "ttt"][seed % 6]
    n = int(rng.integers(8, 40))
    data = encoded(rng, n, kinds, missing=[0.0, 0.2][seed % 2], sensitive=[4])
    rule = RULES[(seed // 2) % len(RULES)]
    if not passes(data, rule, range(n)):
        with pytest.raises(Infeasible):
            incognito.solutions(data, rule)
        return
    limit = int(suppression * n + 1e-9)
    found = fulldomain.search(data, lambda rows: passes(data, rule, rows), limit)
    got = quietly(incognito.solutions, data, rule, suppression=suppression)
    assert {tuple(node) for node in np.argwhere(got.passing)} == set(found)
    assert set(got.minimal) == fulldomain.minimal(found)
    usable = {node: loss for node, (groups, loss) in found.items() if groups}
    assert got.loss == pytest.approx(min(usable.values()))
    assert got.loss == pytest.approx(usable[got.best])
    part = quietly(incognito.group, data, rule, rng, suppression=suppression)
    assert as_sets(part) == found[got.best][0]
    assert part.left_out.size == got.removed <= limit
    assert iloss(data, part).rate == pytest.approx(got.loss)


def patients():
    """Figure 1 and 2 of the paper: birth date, sex and zip code of six patients."""
    frame = pl.DataFrame(
        {
            "birth": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
            "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
            "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
            "disease": ["Flu", "Hepatitis", "Bronchitis", "Broken Arm", "AIDS", "Hang Nail"],
        }
    )
    taxonomies = {
        "birth": Taxonomy.from_rows([(v, "*") for v in frame["birth"].unique().sort()], "birth"),
        "sex": Taxonomy.from_rows([("Male", "Person"), ("Female", "Person")], "sex"),
        "zip": Taxonomy.from_rows(
            [
                ("53715", "5371*", "537**"),
                ("53703", "5370*", "537**"),
                ("53706", "5370*", "537**"),
            ],
            "zip",
        ),
    }
    schema = declare(
        frame, quasi=["birth", "sex", "zip"], sensitive=["disease"], taxonomies=taxonomies
    )
    return frame, schema, taxonomies, encode(frame, schema, taxonomies)


def test_the_papers_example():
    frame, schema, taxonomies, data = patients()
    found = incognito.solutions(data, KAnonymity(2))
    assert set(found.minimal) == {(1, 1, 0), (1, 0, 2), (0, 1, 2)}
    part = incognito.group(data, KAnonymity(2), None)
    assert part.notes["levels"] == dict(zip(data.names, found.best, strict=True))
    assert len(part.notes["minimal"]) == 3
    release = generalize(frame, schema, data, part)
    verdict = verify(
        *(release.frame, schema.quasi, [KAnonymity(2)]),
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
        order=release.order,
    )
    assert verdict.holds


def test_a_cell_is_published_on_its_level_even_where_a_smaller_node_covers_the_class():
    """The only primary school is a level of its own: its rows still say 'primary education'."""
    taxonomy = Taxonomy.from_rows(
        [
            ("Preschool", "Primary School", "Primary", "*"),
            ("9th", "High School", "Secondary", "*"),
            ("10th", "High School", "Secondary", "*"),
            ("HS-grad", "Graduated", "Secondary", "*"),
        ],
        "school",
    )
    frame = pl.DataFrame({"school": ["Preschool", "Preschool", "9th", "10th", "HS-grad"]})
    schema = declare(frame, quasi=["school"], taxonomies=["school"])
    data = encode(frame, schema, {"school": taxonomy})
    part = incognito.group(data, KAnonymity(2), None)
    assert part.notes["levels"] == {"school": 2}
    cells = generalize(frame, schema, data, part).frame["school"].to_list()
    assert cells == ["Primary", "Primary", "Secondary", "Secondary", "Secondary"]
    # The label costs its one leaf of four, although it says no more than the value.
    assert iloss(data, part).rate == pytest.approx((2 * 0.25 + 3 * 0.75) / 5)


def test_missing_is_a_star_on_every_level():
    taxonomy = Taxonomy.from_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")], "v")
    frame = pl.DataFrame({"v": ["a", "b", None, None, "c", "c"]})
    schema = declare(frame, quasi=["v"], taxonomies=["v"])
    data = encode(frame, schema, {"v": taxonomy})
    part = incognito.group(data, KAnonymity(2), None)
    assert generalize(frame, schema, data, part).frame["v"].to_list() == list("xx**yy")
    assert as_sets(incognito.group(data, KAnonymity(3), None)) == {frozenset(range(6))}


def test_rows_of_failing_classes_are_left_out_up_to_the_limit():
    taxonomy = Taxonomy.from_rows([("a", "*"), ("b", "*")], "v")
    codes = np.array([[0]] * 9 + [[1]], np.int32)
    data = Encoded(("v",), codes, (taxonomy,), {}, {})
    assert incognito.solutions(data, KAnonymity(2)).best == (1,)
    part = incognito.group(data, KAnonymity(2), None, suppression=0.1)
    assert part.left_out.tolist() == [9]
    assert iloss(data, part).rate == pytest.approx(0.1)


def test_ordered_columns_get_nested_intervals_and_sets_go_to_star():
    domain = Ordered(pl.Series(np.arange(16)), np.arange(16.0))
    codes = np.stack([np.arange(17) % 17, np.zeros(17)], axis=1).astype(np.int32)
    data = Encoded(("o", "s"), codes, (domain, Nominal(("a", "b"))), {}, {})
    ordered, sets = ladders(data)
    assert [np.unique(row).size for row in ordered.code] == [17, 9, 5, 3, 1]
    assert ordered.lo[1, :4].tolist() == [0, 0, 2, 2]
    assert ordered.hi[1, :4].tolist() == [1, 1, 3, 3]
    assert ordered.hi[3, [0, 15]].tolist() == [7, 15]
    assert ordered.width[:, 0] == pytest.approx([0, 1 / 15, 3 / 15, 7 / 15, 1])
    assert (ordered.width[:, 16] == 0).all()
    assert sets.hi.tolist() == [[0, 1, 2], [2, 2, 2]]
    part = incognito.group(data, KAnonymity(4), None, suppression=0.06)
    release = joins(data, part)
    assert part.notes["levels"] == {"o": 2, "s": 0}
    assert release[0].width == pytest.approx([3 / 15] * 4)


def test_few_values_have_few_levels():
    codes = np.array([[0], [1], [0], [1]], np.int32)
    data = Encoded(("o",), codes, (Ordered(pl.Series([1, 2]), np.array([1.0, 2.0])),), {}, {})
    assert ladders(data)[0].levels == 2
    nothing = Encoded(("o",), codes * 0, (Ordered(pl.Series([]), np.array([])),), {}, {})
    assert ladders(nothing)[0].levels == 1
    assert as_sets(incognito.group(nothing, KAnonymity(2), None)) == {frozenset(range(4))}


def test_a_rule_that_does_not_prune_says_so():
    data = encoded(np.random.default_rng(0), 60, "tt", sensitive=[3])
    with pytest.warns(ShoalWarning, match="counts all .* combinations of levels, without pruning"):
        incognito.solutions(data, FrequencyLDiversity(2, "s0"), suppression=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        incognito.solutions(data, FrequencyLDiversity(2, "s0"))
        incognito.solutions(data, LDiversity(2, "s0"), suppression=0.1)


def test_t_closeness_is_asked_of_the_rows_that_are_left():
    data = encoded(np.random.default_rng(3), 200, "tt", missing=0.0, sensitive=[4])
    rule = TCloseness(0.25, "s0")
    part = quietly(incognito.group, data, rule, None, suppression=0.2)
    kept = Encoded(
        data.names,
        data.codes[part.rows],
        data.domains,
        {"s0": data.sensitive["s0"][part.rows]},
        data.sensitive_names,
    )
    again = Partition(np.arange(part.rows.size), part.starts)
    assert rule.holds(kept.stats(again)).all()


def test_a_lattice_too_large_is_refused():
    data = encoded(np.random.default_rng(0), 30, "t" * 14)
    with pytest.raises(ParameterError, match=r"combinations of levels .* such as mondrian"):
        incognito.group(data, KAnonymity(2), None)


def test_keys_too_long_for_a_number_are_compared_as_codes(monkeypatch):
    data = encoded(np.random.default_rng(7), 200, "ttt")
    want = incognito.solutions(data, KAnonymity(3)).minimal
    # Every row gets the same key: only comparing the codes can tell classes apart.
    monkeypatch.setattr(incognito, "_strides", lambda steps: (np.zeros(len(steps), int), False))
    assert incognito.solutions(data, KAnonymity(3)).minimal == want


def test_pruning_spares_most_of_the_counting():
    data = encoded(np.random.default_rng(1), 2000, "ttttt")
    found = incognito.solutions(data, KAnonymity(10))
    assert found.checked < found.passing.size


def test_a_cover_that_does_not_cover_is_refused():
    taxonomy = Taxonomy.from_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")], "v")
    data = Encoded(("v",), np.array([[0], [1]], np.int32), (taxonomy,), {}, {})
    rows, starts = np.arange(2), np.array([0, 2])
    cover = Cover.none(1, 1)
    assert joins(data, Partition(rows, starts, cover=cover))[0].node.tolist() == [
        taxonomy.labels.index("x")
    ]
    cover.node[0, 0] = taxonomy.labels.index("y")
    with pytest.raises(ShoalError, match="does not cover"):
        joins(data, Partition(rows, starts, cover=cover))
    numbers = Ordered(pl.Series([1, 2, 3]), np.array([1.0, 2.0, 3.0]))
    data = Encoded(("v",), np.array([[0], [1]], np.int32), (numbers,), {}, {})
    cover.lo[0, 0], cover.hi[0, 0] = 1, 2
    with pytest.raises(ShoalError, match="does not cover"):
        joins(data, Partition(rows, starts, cover=cover))
    sets = Nominal(("a", "b", "c"))
    data = Encoded(("v",), np.array([[0], [1]], np.int32), (sets,), {}, {})
    cover.lo[0, 0], cover.hi[0, 0] = 0, 2
    with pytest.raises(ShoalError, match="does not cover"):
        joins(data, Partition(rows, starts, cover=cover))
    cover.hi[0, 0] = 3
    assert joins(data, Partition(rows, starts, cover=cover))[0].star.all()
