"""Random tables about made-up people, and what to ask of them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from soaking.checker import Promise

ODD = ["*", "[1-2]", "{a}", 'a, "b"', "o'd", "größe", "日本", "=1+1", "null?", "x\ny", "-", "a-b"]
ILLS = ["flu", "cold", "gout", "ulcer", "hiv", 'odd "one", too']
ODD += ["%", "\\", "a;b", "a\tb", "[", "{", "#", "<b>", "w" * 300, "true", "1e5x", "'", ","]


@dataclass(frozen=True)
class Case:
    """A table on the disk, the words of a command, and what its release has to keep."""

    table: pd.DataFrame
    file: Path
    words: tuple[str, ...]
    promise: Promise
    suffix: str


def make_case(folder: Path, rng: np.random.Generator, most: int = 1500) -> Case:
    """Write a random table to a folder and choose a method and rules for it."""
    rows = int(np.exp(rng.uniform(np.log(4), np.log(most))))
    count = int(rng.integers(1, 6))
    makers = rng.choice(len(KINDS), count)
    quasi = {}
    for at, kind in enumerate(makers):
        prefix, maker = KINDS[kind]
        quasi[f"{prefix}{at}"] = _gaps(maker(rng, rows), rng)
    values = rng.choice(ILLS, rows, p=_skew(rng))
    table = pd.DataFrame({"id": [f"ID-{rng.integers(1 << 60):015x}" for _ in range(rows)], **quasi})
    table["ill"] = _gaps(pd.Series(values, dtype=object), rng, 0.2)
    table["tag"] = rng.permutation(rows) + 1000
    trees = {name: _tree(table[name]) for name in quasi if name.startswith("t_")}
    for name, paths in trees.items():
        (folder / "trees").mkdir(exist_ok=True)
        lines = [[value, *path] for value, path in paths.items()]
        file = folder / "trees" / f"{name}.csv"
        pd.DataFrame(lines).to_csv(file, sep=";", header=False, index=False)
    file = folder / f"people{rng.choice(['.csv', '.csv', '.parquet'])}"
    if file.suffix == ".parquet":
        table.to_parquet(file, index=False)
    else:
        table.to_csv(file, index=False)
    method, flags, limits = _asked(rng, rows, has_trees=len(trees) == count)
    typed = limits.get("shape", "generalized") == "generalized" and rng.random() < 0.3
    # pandas cannot read the sets of dummy values from an Arrow file.
    suffixes = [".csv", ".parquet"] if limits.get("shape") else [".csv", ".parquet", ".arrow"]
    suffix = str(rng.choice(suffixes))
    names = tuple(quasi)
    words = ("anonymize", str(file), "--quasi", ",".join(names), "--sensitive", "ill")
    words += ("--identifier", "id", "--keep", "tag", "--method", method, *flags)
    words += ("--hierarchies", str(folder / "trees")) if trees else ()
    words += ("--typed",) if typed else ()
    promise = Promise(
        **({"shape": "generalized"} | limits),
        quasi=names,
        sensitive="ill",
        tag="tag",
        identifier="id",
        typed=typed,
        paths={n: {v: set(path) for v, path in paths.items()} for n, paths in trees.items()},
    )
    return Case(table, file, words, promise, suffix)


def _asked(
    rng: np.random.Generator, rows: int, *, has_trees: bool
) -> tuple[str, tuple[str, ...], dict]:
    """Choose a method and rules that it takes."""
    k = int(rng.integers(2, max(3, min(12, rows // 2 + 1))))
    l_ = int(rng.integers(2, 4))
    if rng.random() < 0.2:
        method, kind = [("dummies", "distinct"), ("anatomy", "frequency")][int(rng.integers(2))]
        shape = "dummies" if method == "dummies" else "anatomy"
        return method, ("--l", str(l_), "--l-kind", kind), {"shape": shape, kind: l_}
    rules = [
        (("--k", str(k)), {"k": k}),
        (("--k", str(k), "--l", str(l_)), {"k": k, "distinct": l_}),
        (("--l", "1.5", "--l-kind", "entropy"), {"entropy": 1.5}),
        (("--l", "2", "--c", "3", "--l-kind", "recursive"), {"recursive": (3.0, 2)}),
        (("--l", "2", "--l-kind", "frequency"), {"frequency": 2}),
        (("--alpha", "0.7", "--k", str(k)), {"alpha": 0.7, "k": k}),
        (("--k", str(k), "--t", "0.4"), {"k": k, "t": 0.4}),
        (("--k", str(k), "--beta", "3"), {"k": k, "beta": 3.0}),
    ]
    methods = ["shoal", "kaim", "k-member", "mondrian", "alpha-k"]
    methods += ["incognito"] if has_trees else []
    flags, limits = rules[int(rng.integers(len(rules)))]
    if rng.random() < 0.1:
        method = str(rng.choice(["tp", "tp+"]))
        return method, ("--l", "2", "--l-kind", "frequency"), {"frequency": 2}
    if rng.random() < 0.1:
        return "l-clustering", ("--l", str(l_)), {"distinct": l_}
    method = str(rng.choice(methods))
    if method == "shoal" and rng.random() < 0.5:
        flags += ("--effort", "fast")
    if method == "k-member" and rng.random() < 0.3:
        return method, (*flags, "--option", "missing=drop"), limits | {"all_rows": False}
    if method == "incognito":
        return method, (*flags, "--option", "suppression=0.1"), limits | {"all_rows": False}
    return method, flags, limits


def _skew(rng: np.random.Generator) -> np.ndarray:
    shares = rng.dirichlet(np.full(6, 2.0)) + 0.05
    return shares / shares.sum()


def _gaps(column: pd.Series, rng: np.random.Generator, most: float = 0.5) -> pd.Series:
    share = rng.uniform(0, most) if rng.random() < 0.6 else 0.0
    return column.mask(pd.Series(rng.random(len(column)) < share))


def _tree(column: pd.Series) -> dict[str, list[str]]:
    return {v: [v[:1] + "*", "all"] for v in column.dropna().unique()} or {"x": ["x*", "all"]}


def _whole(rng: np.random.Generator, rows: int) -> pd.Series:
    high = int(rng.choice([2, 10, 90, 10**6, 2**40]))
    return pd.Series(rng.integers(-high // 3, high, rows), dtype="Int64")


def _real(rng: np.random.Generator, rows: int) -> pd.Series:
    return pd.Series(np.round(rng.normal(50, 20, rows), int(rng.integers(1, 4))))


def _date(rng: np.random.Generator, rows: int) -> pd.Series:
    days = rng.integers(0, int(rng.choice([3, 400, 30_000])), rows)
    first = dt.date(1930, 1, 1)
    return pd.Series([first + dt.timedelta(days=int(day)) for day in days], dtype=object)


def _word(rng: np.random.Generator, rows: int) -> pd.Series:
    words = rng.permutation([*ODD, "Rome", "Oslo", "Lima", "Bonn"])[: int(rng.integers(1, 16))]
    return pd.Series(rng.choice(words, rows), dtype=object)


def _leaf(rng: np.random.Generator, rows: int) -> pd.Series:
    letters, numbers = rng.choice(list("abc"), rows), rng.integers(0, 6, rows)
    return pd.Series([f"{a}{b}" for a, b in zip(letters, numbers, strict=True)], dtype=object)


# Names that begin with o_ are ordered, with t_ come with a hierarchy, with s_ are sets.
KINDS = [("o_whole", _whole), ("o_real", _real), ("o_date", _date)]
KINDS += [("s_word", _word), ("t_leaf", _leaf)]
