"""A release never holds the table that it was made from, and no copy of it does."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal

ROWS = 240
# No cell and no end of a cell can be one of these by chance.
EXACT = [1_000_003 + 7_919 * (row // 2 * 101 % ROWS) for row in range(ROWS)]


def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"nominal-{row}" for row in range(ROWS)],
            "who": [f"person-{row // 2}" for row in range(ROWS)],
            "income": EXACT,
            "town": [f"placename-{row // 2}" for row in range(ROWS)],
            "ill": [f"illness-{row % 4}" for row in range(ROWS)],
            "note": [f"undeclared-{row}" for row in range(ROWS)],
            "gone": [f"dropped-{row}" for row in range(ROWS)],
        }
    )


def released(method: str) -> shoal.Release[pl.DataFrame]:
    asked = {"sensitive": "ill", "identifier": "name", "drop": "gone", "quasi": ["income"]}
    asked |= {
        "shoal": {"person": "who", "quasi": ["income", "town"], "k": 5, "pseudonym": True},
        "dummies": {"l": 2},
        "anatomy": {"l": 2, "l_kind": "frequency"},
    }[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what this table is
        return shoal.anonymize(table(), **asked, method=method)


def reached(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield everything that hangs on a value, however deep."""
    if id(value) in seen or isinstance(value, (type, str, bytes, int, float)):
        yield value
        return
    seen.add(id(value))
    yield value
    inner: list[Any] = []
    if isinstance(value, Mapping):
        inner = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = [*value]
    elif isinstance(value, pl.DataFrame):
        inner = value.get_columns()
    elif not isinstance(value, (pl.Series, np.ndarray)) and type(value).__module__ != "builtins":
        inner = [*getattr(value, "__dict__", {}).values()]
        inner += [getattr(value, name, None) for name in getattr(value, "__slots__", ())]
    for each in inner:
        yield from reached(each, seen)


def texts(value: Any) -> Iterator[str]:
    for each in reached(value, set()):
        if isinstance(each, (pl.Series, np.ndarray)):
            yield from map(str, each.to_list() if isinstance(each, pl.Series) else each.ravel())
        elif isinstance(each, (str, bytes)):
            yield str(each)


def hidden(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the texts of the table that no published cell says."""
    said = json.dumps([frame.to_dict(as_series=False) for frame in tables.values()], default=str)
    return [
        text
        for column in table().select(pl.exclude("income"))
        for text in column.unique()
        if text not in said
    ]


SHAPES = pytest.mark.parametrize("method", ["shoal", "dummies", "anatomy"])


@SHAPES
def test_nothing_that_hangs_on_a_release_is_the_original(method: str) -> None:
    release = released(method)
    gone = set(hidden(release.tables))
    assert {"nominal-7", "person-7", "undeclared-7", "dropped-7"} <= gone
    release.verdict, release.risk(), release._repr_html_(), release.page()  # whatever is kept then
    assert gone.isdisjoint(texts(release))
    for each in reached(release, set()):
        if isinstance(each, (pl.Series, np.ndarray)) and len(each) >= ROWS:
            told = [str(one) for one in pl.Series(each).to_list()]
            assert method != "shoal" or set(told).isdisjoint(map(str, EXACT))
            # Nor does anything say which row of the table a row was: an order, or its undoing.
            counted = [str(row) for row in range(ROWS)]
            assert told == counted or sorted(told) != sorted(counted)


@SHAPES
def test_no_copy_of_a_release_put_beside_its_original_holds_it(method: str) -> None:
    bare = released(method)
    gone = hidden(bare.tables)
    release = bare.with_original(table())
    assert release.original is not None and bare.original is None
    attacks, verdict = release.attack(targets=20, seed=1), release.audit()
    risks = release.risk()
    packed = pickle.dumps(release)
    for each in (packed, *map(pickle.dumps, (attacks, verdict, risks, release.made))):
        assert [text for text in gone if text.encode() in each] == []
    shown = [f(of) for f in (repr, str) for of in (release, attacks, verdict, risks, release.made)]
    shown += [of._repr_html_() for of in (release, attacks, verdict, risks)]
    shown += [of.to_json() for of in (release, attacks, verdict, risks)]
    shown += [json.dumps(release.to_dict(), default=str), release.page(audience="public")]
    assert [text for text in gone if any(text in page for page in shown)] == []
    for again in (pickle.loads(packed), copy.copy(release), copy.deepcopy(release)):
        assert again.original is None and again.pending is None
        assert not set(gone) & set(texts(again))
        assert again.to_dict()["loss"] == bare.to_dict()["loss"]
        assert again.frame.equals(bare.frame)
        assert again.with_original(table()).audit().holds
    fields = {part.name for part in dataclasses.fields(release)}
    assert fields == {"opened", "run", "kind", "spark", "original", "pending", "dictionary"}
