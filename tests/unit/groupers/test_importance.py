"""The importance of columns: used by a method, or refused by name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError
from shoal.catalog import METHODS

RULES = {
    "k-anonymity": {"k": 3},
    "l-diversity": {"l": 2},
    "alpha-k-anonymity": {"alpha": 0.6, "k": 3},
    "frequency-l-diversity": {"l": 2, "l_kind": "frequency"},
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(21)
    ill = rng.permutation(["flu", "gout", "cold", "mumps"] * 30)
    return pl.DataFrame({"a": rng.integers(0, 40, 120), "b": rng.integers(0, 40, 120), "ill": ill})


def lost(table: pl.DataFrame, method: str, importance: dict[str, float]) -> tuple[float, float]:
    asked = METHODS[method].needs or METHODS[method].rules or ("k-anonymity",)
    rule = next(RULES[name] for name in asked if name in RULES)
    made = shoal.anonymize(
        table,
        quasi=["a", "b"],
        sensitive="ill",
        importance=importance,
        method=method,
        seed=2**80,
        **rule,
    )
    by_column = made.loss.by_column
    return by_column["a"], by_column["b"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::shoal.base.errors.ShoalWarning")  # seeds of what draws
@pytest.mark.parametrize("method", METHODS)
def test_importance_is_used_or_refused_by_name(table: pl.DataFrame, method: str) -> None:
    if METHODS[method].weighs:
        first, second = (lost(table, method, {name: 50.0}) for name in ("a", "b"))
        assert first[0] < second[0]
        assert first[1] > second[1]
        return
    refused = rf"method '{method.replace('+', '[+]')}' cannot go by the importance.*'b'.*k-member"
    with pytest.raises(ParameterError, match=refused):
        lost(table, method, {"b": 2.0})
    assert lost(table, method, {"a": 2.0, "b": 2.0})  # all alike: nothing to go by
