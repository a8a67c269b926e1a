"""Checks a release from the definitions, with pandas and nothing of the package.

It reads the published files by itself and knows what was promised as plain numbers. A row of the
original is found again by its tag, a harmless column that numbers the rows: so every published cell
can be held against the cell it was made of.

Diversity, frequency and alpha are those of the known sensitive values of a class; a class without
any passes no rule on them. For t and beta a missing sensitive value is one more value. A missing
cell is a value like any other when rows are grouped.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

SLACK = 1e-9
MISSING = "\0missing"
NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
MOMENT = r"\d{4}-\d\d-\d\d(?:[ T][\d:.]+)?"
INTERVALS = [
    re.compile(rf"\[({MOMENT})-({MOMENT})\]"),
    re.compile(rf"\[({NUMBER})-({NUMBER})\]"),
]


@dataclass(frozen=True)
class Promise:
    """What a release must keep; a figure that is None was not asked for."""

    shape: str  # generalized, dummies or anatomy
    quasi: tuple[str, ...]
    sensitive: str
    tag: str
    identifier: str
    k: int = 1
    distinct: int | None = None
    entropy: float | None = None
    recursive: tuple[float, int] | None = None
    frequency: float | None = None
    alpha: float | None = None
    t: float | None = None
    beta: float | None = None
    typed: bool = False
    all_rows: bool = True
    paths: dict[str, dict[str, set[str]]] = field(default_factory=dict)


def read(path: Path) -> pd.DataFrame:
    """Read a published file; in a text file every cell stays a text, an empty one is missing."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix in {".arrow", ".feather"}:
        return pd.read_feather(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])


def check(original: pd.DataFrame, release: Path, promise: Promise) -> list[str]:
    """Return every fault of a release, in words; none when it keeps its promise."""
    second = None
    if promise.shape == "anatomy":
        second = read(release.with_name(f"{release.stem}.st{release.suffix}"))
    return faults(original, read(release), second, promise)


def faults(
    original: pd.DataFrame, table: pd.DataFrame, second: pd.DataFrame | None, promise: Promise
) -> list[str]:
    """Return the faults of a release that was read."""
    wrong = _columns(table, promise)
    if wrong:
        return wrong
    tags = table[promise.tag].astype(int)
    if tags.duplicated().any():
        return ["a row is published twice"]
    if not set(tags) <= set(original[promise.tag]):
        return ["a row is published that was not there"]
    if promise.all_rows and len(table) != len(original):
        wrong.append(f"{len(original) - len(table)} rows are missing")
    if len(tags) > 30 and tags.is_monotonic_increasing:
        wrong.append("rows stand in the order of the original")
    before = original.set_index(promise.tag).loc[tags].reset_index()
    wrong += _uncovered(before, table.reset_index(drop=True), promise)
    if promise.shape == "dummies":
        return wrong + _dummies(before, table, promise)
    if promise.shape == "anatomy":
        if second is None:
            return [*wrong, "there is no second table"]
        return wrong + _anatomy(before, table, second, promise)
    said = [_text(value) for value in table[promise.sensitive]]
    if said != [_text(value) for value in before[promise.sensitive]]:
        wrong.append("a sensitive value was changed")
    names = [name for name in _published(promise) if name not in {promise.sensitive, promise.tag}]
    cells = table[names].map(_text).fillna(MISSING)
    classes = cells.agg("\1".join, axis=1) if names else pd.Series("", index=table.index)
    # Methods may leave rows out: classes are compared with the table that is published.
    whole = before[promise.sensitive].map(_text)
    for _, rows in pd.Series(said, dtype=object).groupby(classes.to_numpy()):
        seen = sorted(map(str, rows))[:9]
        wrong += [f"{fault}: {seen}" for fault in broken(rows, whole, promise)]
    return wrong


def broken(values: pd.Series, whole: pd.Series, promise: Promise) -> list[str]:
    """Return the rules that a class of these sensitive values breaks; ``whole``: the table's."""
    wrong = [] if len(values) >= promise.k else [f"a class of {len(values)} rows"]
    asked = (promise.distinct, promise.entropy, promise.recursive, promise.frequency)
    if any(limit is not None for limit in (*asked, promise.alpha)):
        wrong += _of_known(values.dropna().value_counts(), promise)
    # Under these two a missing value is one more value (docs/reference/missing.md).
    shares = values.fillna(MISSING).value_counts(normalize=True)
    table = whole.fillna(MISSING).value_counts(normalize=True)
    if promise.t is not None:
        distance = shares.sub(table, fill_value=0.0).abs().sum() / 2
        if distance > promise.t + SLACK:
            wrong.append(f"distance {distance:.3f} from the table")
    if promise.beta is not None:
        gain = (shares / table.reindex(shares.index, fill_value=0.0) - 1).max()
        if gain > promise.beta + SLACK:
            wrong.append(f"a gain of {gain:.3f}")
    return wrong


def _of_known(counts: pd.Series, promise: Promise) -> list[str]:
    """Return the rules that a class of these known values breaks."""
    if counts.empty:
        return ["a class without a known value"]
    wrong = []
    shares = counts / counts.sum()
    if promise.distinct is not None and len(counts) < promise.distinct:
        wrong.append(f"{len(counts)} different values")
    if promise.entropy is not None:
        mixed = -sum(share * math.log(share) for share in shares)
        if mixed < math.log(promise.entropy) - SLACK:
            wrong.append(f"entropy of {math.exp(mixed):.3f} values")
    if promise.recursive is not None:
        c, first = promise.recursive
        if not counts.iloc[0] < c * counts.iloc[first - 1 :].sum():
            wrong.append("the most frequent value outweighs the rare ones")
    if promise.frequency is not None and shares.max() > 1 / promise.frequency + SLACK:
        wrong.append(f"a value with a share of {shares.max():.3f}")
    if promise.alpha is not None and shares.max() > promise.alpha + SLACK:
        wrong.append(f"a value with a share of {shares.max():.3f}, above alpha")
    return wrong


def covers(cell: object, value: object, paths: dict[str, set[str]] | None) -> bool:
    """Say whether a published cell may stand for a value of the original."""
    text, exact = _text(cell), _text(value)
    if text in (None, "*"):
        return True
    if exact is None:
        return False
    if paths is not None:
        return text in paths.get(exact, set()) or text == exact
    if text.startswith('"'):
        return bool(json.loads(text) == exact)
    if text.startswith("{"):
        return exact in elements(text)
    for pattern in INTERVALS:
        ends = pattern.fullmatch(text)
        if ends:
            return _scale(ends[1]) <= _scale(exact) <= _scale(ends[2])
    return text == exact or _scale(text) == _scale(exact)


def elements(text: str) -> list[str]:
    """Return the members of a published set: JSON strings where they hold a separator."""
    body, found = text[1:-1], []
    while body:
        if body.startswith('"'):
            member, end = json.JSONDecoder().raw_decode(body)
        else:
            end = body.find(", ") if ", " in body else len(body)
            member = body[:end]
        found.append(member)
        body = body[end:].removeprefix(", ")
    return found


def _columns(table: pd.DataFrame, promise: Promise) -> list[str]:
    expected = _published(promise)
    if list(table.columns) == expected:
        return []
    return [f"the columns are {list(table.columns)} and not {expected}"]


def _published(promise: Promise) -> list[str]:
    """Return the columns in the order of the table, as ``tables.py`` lays them out."""
    names: list[str] = []
    for name in promise.quasi:
        ordered = promise.typed and name.startswith("o_")
        names += [f"{name}_lo", f"{name}_hi"] if ordered else [name]
    last = [promise.tag] if promise.shape == "anatomy" else [promise.sensitive, promise.tag]
    return [*names, *last, *(["group_id"] if promise.shape == "anatomy" else [])]


def _uncovered(before: pd.DataFrame, table: pd.DataFrame, promise: Promise) -> list[str]:
    wrong = []
    for name in promise.quasi:
        values = before[name].tolist()
        if f"{name}_lo" in table:
            pairs = zip(table[f"{name}_lo"], table[f"{name}_hi"], values, strict=True)
            bad = [trio for trio in pairs if not _between(*trio)]
        else:
            paths = promise.paths.get(name)
            cells = zip(table[name].tolist(), values, strict=True)
            if promise.shape == "generalized":
                bad = [pair for pair in cells if not covers(*pair, paths)]
            else:  # quasi-identifiers are published as they are
                bad = [pair for pair in cells if not _same(*pair)]
        if bad:
            wrong.append(f"{len(bad)} cells of {name!r} do not cover their source: {bad[0]}")
    return wrong


def _between(lo: object, hi: object, value: object) -> bool:
    low, high, exact = _text(lo), _text(hi), _text(value)
    if low is None and high is None:
        return True
    if low is None or high is None or exact is None:
        return False
    return _scale(low) <= _scale(exact) <= _scale(high)


def _same(cell: object, value: object) -> bool:
    text, exact = _text(cell), _text(value)
    if text is None or exact is None:
        return text is exact
    return text == exact or _scale(text) == _scale(exact)


def _dummies(before: pd.DataFrame, table: pd.DataFrame, promise: Promise) -> list[str]:
    wrong = []
    domain = set(before[promise.sensitive].map(_text).dropna())
    for cell, value in zip(table[promise.sensitive], before[promise.sensitive], strict=True):
        members = json.loads(cell) if isinstance(cell, str) else [str(x) for x in cell]
        true = _text(value)
        if len(set(members)) != len(members) or len(members) < (promise.distinct or 2):
            wrong.append(f"a set of {len(set(members))} values")
        elif true is not None and true not in members:
            wrong.append(f"a set without its true value {true!r}")
        elif not set(members) <= domain and promise.all_rows:
            wrong.append(f"a value that is not of the column: {set(members) - domain}")
    return wrong[:5]


def _anatomy(
    before: pd.DataFrame, table: pd.DataFrame, second: pd.DataFrame, promise: Promise
) -> list[str]:
    wrong = []
    numbers = table["group_id"].map(_text)
    listed = second.assign(
        group=second["group_id"].map(_text),
        value=second[promise.sensitive].map(_text),
        count=second["count"].astype(int),
    )
    sizes = listed.groupby("group")["count"].sum().to_dict()
    if sizes != numbers.value_counts().to_dict():
        wrong.append("the two tables count different rows in a group")
    for _, rows in listed.groupby("group"):
        values = rows["value"].repeat(rows["count"])
        wrong += broken(values, before[promise.sensitive], promise)
    inside = {(g, v) for g, v in zip(listed["group"], listed["value"].fillna("\0"), strict=True)}
    values = before[promise.sensitive].map(_text).fillna("\0")
    if not set(zip(numbers, values, strict=True)) <= inside:
        wrong.append("a row's value is not listed for its group")
    total = listed.groupby(listed["value"].fillna("\0"))["count"].sum().to_dict()
    if total != values.value_counts().to_dict():
        wrong.append("the second table counts other values than the original has")
    return wrong


def _text(value: object) -> str | None:
    """Return a cell as text, None when it is missing: 3.0 as 3, midnight as its date."""
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, float) or type(value).__name__.startswith("float"):
        whole = float(value).is_integer() and abs(value) < 1e15
        return str(int(value)) if whole else repr(float(value))
    if value is pd.NA:
        return None
    return str(value)


def _scale(text: str) -> tuple[int, object]:
    """Return what a text is compared by: a number, a moment, or itself."""
    try:
        return (0, float(text))
    except ValueError:
        pass
    if re.fullmatch(MOMENT, text):
        return (1, pd.Timestamp(text))
    return (2, text)
