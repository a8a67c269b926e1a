"""Random counting queries: drawn as the paper says, errors as defined, methods compared."""

import math

import numpy as np
import polars as pl
import pytest

from benchmarks.query_errors import compare_queries
from experiments.views import read_view
from shoal.base.errors import ParameterError, SchemaError
from shoal.measures.losses.queries import Truth, query_error, true_counts, workload
from shoal.releases.base import Query


def people(rows=400):
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m"], rows)
    # Illness depends on sex, so that mixing the sexes up costs something.
    ill = np.where(sex == "f", rng.integers(0, 4, rows), rng.integers(2, 8, rows))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": sex,
            "town": rng.choice(["A", "B", "C"], rows),
            "ill": [f"i{each}" for each in ill],
        }
    )


def test_queries_are_drawn_as_the_paper_says():
    frame = people()
    queries = workload(
        frame, ["age", "sex", "town"], "ill", np.random.default_rng(1), g=2, s=0.07, repeats=50
    )
    assert len(queries) == 50
    sizes = {name: frame[name].n_unique() for name in ("age", "sex", "town")}
    for query in queries:
        assert query.of == "ill"
        assert len(query.where) == 2
        for name, values in query.where.items():
            assert len(set(values)) == len(values) == math.ceil(sizes[name] * 0.07 ** (1 / 3))
            assert set(values) <= set(frame[name].cast(pl.String))
    assert len({tuple(query.where) for query in queries}) > 3


def test_true_counts_by_hand():
    frame = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"], "s": ["u", "v", "u"]})
    truth = true_counts(frame, ["a", "b"], [Query("s", {"a": ["1"]}), Query("s", {"b": ["x"]})])
    assert truth.values == ("u", "v")
    assert truth.counts.tolist() == [[1, 1], [2, 0]]


def test_errors_by_hand():
    """Rows 1 and 2 share a cell: asked for a = 1, which has one row with u, it says 1/2 and 1/2."""
    released = pl.DataFrame({"a": ["[1-2]", "[1-2]", "3"], "s": ["u", "v", "v"]})
    view = read_view(released, "s")
    queries = [Query("s", {"a": ["1"]}), Query("s", {"a": ["3"]}), Query("s", {"a": ["9"]})]
    truth = Truth(("u", "v", "w"), np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]]))
    found = query_error(view, queries, truth)
    # Off by 1/2 twice over three values, and not at all in the second query.
    assert found.mse == pytest.approx((0.5**2 * 2 / 3 + 0) / 2)
    assert (found.relative, found.median) == (0.25, 0.25)
    assert (found.queries, found.empty) == (2, 1)


def test_queries_that_cannot_be():
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match=r"g=4 quasi-identifiers.*got 2. Take g=2 or less"):
        workload(people(), ["age", "sex"], "ill", rng, g=4)
    with pytest.raises(ParameterError, match=r"'s' parameter.*Got 2.0 instead"):
        workload(people(), ["age", "sex"], "ill", rng, g=1, s=2)
    with pytest.raises(SchemaError, match="no column 'agee'"):
        workload(people(), ["agee", "sex"], "ill", rng, g=1)
    view = read_view(pl.DataFrame({"a": ["*"], "s": ["u"]}), "s")
    with pytest.raises(ParameterError, match="No row of the table fits any of the 1 queries"):
        query_error(view, [Query("s")], Truth(("u",), np.zeros((1, 1))))


@pytest.mark.slow
def test_methods_are_compared_in_one_call():
    found = compare_queries(
        people(3_000),
        quasi=["age", "sex", "town"],
        sensitive="ill",
        l=3,
        g=2,
        s=0.1,
        repeats=30,
        queries_seed=4,
    )
    assert found["method"].to_list() == ["mondrian", "tp", "dummies", "anatomy"]
    mse = dict(zip(found["method"], found["mse"], strict=True))
    assert mse["dummies"] < mse["anatomy"]
    assert (found["queries"] == 30).all()
    with pytest.raises(ParameterError, match="'simanony' is made for"):
        compare_queries(
            people(), quasi=["age", "sex"], sensitive="ill", methods=["simanony"], g=1, l=2
        )
