"""Faults planted in a good release: a checker that does not see them is worth nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from soaking.checker import Promise, faults
from soaking.trials import Fault

PROMISE = Promise("generalized", ("o_age", "s_city"), "ill", "tag", "id", k=3, distinct=2)


def good() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table and a release of it that keeps :data:`PROMISE`, both written by hand."""
    rows = np.arange(36)
    table = pd.DataFrame(
        {
            "id": [f"ID-{row:015x}" for row in rows],
            "o_age": 20 + rows,
            "s_city": [("Rome", "Oslo", None)[row % 3] for row in rows],
            "ill": [("flu", "cold", "gout")[row // 4 % 3] for row in rows],
            "tag": rows,
        }
    )
    ends = 20 + rows // 6 * 6
    release = pd.DataFrame(
        {
            "o_age": [f"[{lo}-{lo + 5}]" for lo in ends],
            "s_city": "*",
            "ill": table["ill"],
            "tag": rows,
        }
    )
    return table, release.sample(frac=1, random_state=1).reset_index(drop=True)


def _put(release: pd.DataFrame, column: str, at: int, value: object) -> pd.DataFrame:
    changed = release.copy()
    changed.loc[at, column] = value
    return changed


GENERALIZED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a row that stands alone": lambda r: _put(r, "o_age", 0, "*"),
    "a cell that does not cover": lambda r: r.replace("[20-25]", "[21-25]"),
    "an exact cell for a missing one": lambda r: r.assign(s_city="Rome"),
    "a class of one value": lambda r: r.assign(ill=r["ill"].mask(r["o_age"] == "[20-25]", "flu")),
    "a value changed": lambda r: _put(r, "ill", 3, "leprosy"),
    "a published identifier": lambda r: r.assign(id="ID-0"),
    "a row lost": lambda r: r.iloc[1:],
    "a row twice": lambda r: pd.concat([r, r.iloc[:1]]),
    "a row from nowhere": lambda r: _put(r, "tag", 5, 999),
    "the order kept": lambda r: r.sort_values("tag"),
    "half a file": lambda r: r.iloc[: len(r) // 2],
}
# Sensitive values of a class in a table of 10 a, 6 b, 4 c; what it must not pass for.
CLASSES = {
    "too few rows": ("ab", {"k": 3}),
    "too few values": ("aab", {"distinct": 3}),
    "too little entropy": ("aaaab", {"entropy": 2.0}),
    "one value outweighs": ("aaaabc", {"recursive": (2.0, 2)}),
    "one value too frequent": ("aab", {"frequency": 2}),
    "above alpha": ("aab", {"alpha": 0.6}),
    "far from the table": ("cccc", {"t": 0.5}),
    "too much gained": ("ccb", {"beta": 2.0}),
    "nothing known": ("??", {"distinct": 1}),
    "missing values far from the table's": ("aab???", {"t": 0.4}),
    "a gain in missing values": ("aab?", {"beta": 2.0}),
    "a gap is no value": ("aab?", {"distinct": 3}),
    "a gap takes no share": ("aab?", {"frequency": 2}),
}


def seen() -> int:
    """Plant every fault; return how many there were, or say which one passed unseen."""
    table, release = good()
    _expect(not faults(table, release, None, PROMISE), "a good release is refused")
    for name, spoil in GENERALIZED.items():
        _expect(bool(faults(table, spoil(release), None, PROMISE)), name)
    for name, (values, limits) in CLASSES.items():
        _expect(bool(_class_faults(values, limits)), name)
        _expect(not _class_faults("abc" * 4, {"k": 3, "distinct": 3}), "a good class is refused")
    return len(GENERALIZED) + len(CLASSES) + _exact(table)


def _class_faults(values: str, limits: dict[str, object]) -> list[str]:
    from soaking.checker import broken

    letters = pd.Series(list(values)).replace("?", None)
    whole = pd.Series(list("a" * 10 + "b" * 6 + "c" * 4))
    return broken(letters, whole, replace(PROMISE, **({"k": 1, "distinct": None} | limits)))


def _exact(table: pd.DataFrame) -> int:
    """Plant faults in sets of dummy values and in two tables."""
    sets = replace(PROMISE, shape="dummies", k=1)
    other = {"flu": "cold", "cold": "gout", "gout": "flu"}
    cells = [json.dumps(sorted((value, other[value]))) for value in table["ill"]]
    dummies = table[["o_age", "s_city"]].assign(ill=cells, tag=table["tag"])
    dummies = dummies.sample(frac=1, random_state=2).reset_index(drop=True)
    _expect(not faults(table, dummies, None, sets), "good sets are refused")
    spoilt = {
        "a set without its true value": _put(dummies, "ill", 0, '["x", "y"]'),
        "a set of one value": dummies.assign(
            ill=[json.dumps([value]) for value in table["ill"].loc[dummies["tag"]]]
        ),
        "a quasi-identifier changed": _put(dummies, "o_age", 4, 99),
    }
    for name, release in spoilt.items():
        _expect(bool(faults(table, release, None, sets)), name)
    two = replace(PROMISE, shape="anatomy", k=1, distinct=None, frequency=2)
    group = table["tag"] % 4
    first = table[["o_age", "s_city"]].assign(tag=table["tag"], group_id=group)
    first = first.sample(frac=1, random_state=3).reset_index(drop=True)
    counts = table.assign(group_id=group).groupby(["group_id", "ill"]).size()
    second = counts.rename("count").reset_index()
    _expect(not faults(table, first, second, two), "two good tables are refused")
    pairs = {
        "a count too many": (first, _put(second, "count", 0, 9)),
        "a group that lists another value": (first, _put(second, "ill", 0, "mumps")),
        "a row in the wrong group": (_put(first, "group_id", 0, 77), second),
    }
    for name, (one, other_table) in pairs.items():
        _expect(bool(faults(table, one, other_table, two)), name)
    return len(spoilt) + len(pairs)


def _expect(truth: bool, name: str) -> None:
    if not truth:
        raise Fault(f"the checker: {name}")
