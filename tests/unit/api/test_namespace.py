"""`frame.shoal` of pandas and polars, as a notebook's user finds it."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd
import polars as pl
import pytest

import shoal
import shoal.pandas
import shoal.polars
from shoal.api.namespace import Namespace

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
ROWS: dict[str, list[Any]] = {"age": [20, 21, 22, 35, 36, 37] * 2, "ill": list("abcabd") * 2}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_a_frame_anonymizes_itself(kind: type) -> None:
    frame = kind(ROWS)
    release = frame.shoal.anonymize(quasi="age", sensitive="ill", k=4, method="mondrian")
    assert type(release.frame) is kind
    assert release.achieved["k"] >= 4
    assert release.frame.shoal.audit(quasi="age", k=4).holds
    assert not frame.shoal.audit(quasi="age", k=4).holds
    assert frame.shoal.risk(quasi="age").quasi == ("age",)


@pytest.mark.parametrize("name", [name for name in vars(Namespace) if name[0] != "_"])
def test_a_method_says_what_its_function_says(name: str) -> None:
    function, method = getattr(shoal, name), getattr(Namespace, name)
    assert method.__doc__ == function.__doc__
    own, *others = inspect.signature(function).parameters.values()
    me, *taken = inspect.signature(method).parameters.values()
    assert (me.name, taken) == ("self", others)
    assert own.name in ("data", "released")


def test_a_wrong_argument_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"anonymize\(\) .*'quassi'\. Did you mean 'quasi'"):
        pd.DataFrame(ROWS).shoal.anonymize(quassi="age")
