"""The regression of benchmarks.gaps: what a published cell counts as, and coefficients by hand."""

import numpy as np
import polars as pl
import pytest

from benchmarks.gaps import Case, coefficients, columns, number


@pytest.mark.parametrize(
    ("cell", "wanted", "value"),
    [
        ("41", None, 41.0),
        ("[20-30]", None, 25.0),
        ("[60-80)", None, 70.0),
        ("[1.5-2.5]", None, 2.0),
        ("Male", "Male", 1.0),
        ("Female", "Male", 0.0),
        ("{Female, Male}", "Male", np.nan),
        ("*", "Male", np.nan),
        ("*", None, np.nan),
        (None, None, np.nan),
    ],
)
def test_what_a_cell_counts_as(cell, wanted, value):
    assert number(cell, wanted) == pytest.approx(value, nan_ok=True)


def test_a_cell_without_a_value_counts_as_the_mean():
    x = np.array([[0.0], [1.0], [2.0], [np.nan]])
    y = np.array([0.0, 2.0, 4.0, 2.0])  # twice x, and at its mean where x is not known
    assert coefficients(x, y, np.zeros(1), np.ones(1)) == pytest.approx([2.0])
    # In standard deviations of the original.
    assert coefficients(x, y, np.zeros(1), np.full(1, 0.5)) == pytest.approx([1.0])


def test_the_predictors_of_a_release():
    frame = pl.DataFrame({"age": ["[20-30]", "*"], "sex": ["Male", "{Female, Male}"]})
    case = Case("x", frame, ["age", "sex"], "y", {"age": None, "sex": "Male"}, "y")
    assert columns(case, frame) == pytest.approx(
        np.array([[25.0, 1.0], [np.nan, np.nan]]), nan_ok=True
    )
