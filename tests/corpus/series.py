"""Random series of releases under m-invariance, and an attack on them with code of its own.

A series is drawn by its seed: the table and how it changes, the types of its columns, the options
of each run. The attack reads the published files and the history, finds for every person the
values of the class of each release, and intersects them.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import random
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.base.errors import NotVerified, ShoalError
from shoal.releases.history.store import History
from tests.corpus.tables import TOWNS
from tools.soaking.checker import covers

ILLS = ("flu", "cold", "gout", "hiv", "acne", "tb")
TREE = shoal.Taxonomy.from_rows(list(TOWNS.values()), "town")


@dataclass
class Turn:
    """One release of a series: its table, its file, and where the audit can read it."""

    table: pl.DataFrame
    path: Path
    release: Any


@dataclass
class Drawn:
    """A series: what it promises, its releases, and why a run was refused, if one was."""

    m: int
    k: int
    options: dict[str, Any]
    quasi: list[str]
    folder: Path
    turns: list[Turn] = field(default_factory=list)
    refused: str = ""

    @property
    def history(self) -> Path:
        """The folder of its history."""
        return self.folder / "history"


def series(seed: int, folder: Path) -> Drawn:
    """Make a series of three to six releases; a run that is refused ends it."""
    rng = random.Random(seed)
    m, k = rng.choice([2, 2, 3, 4]), rng.choice([1, 1, 3, 5])
    quasi = rng.sample(["age", "seen", "pay", "town", "sex"], rng.randint(2, 4))
    drawn = Drawn(m, k, _options(rng, k, quasi), quasi, folder)
    drawn.history.mkdir(parents=True)
    pool = _people(rng, rng.randint(40, 140))
    for number in range(rng.randint(3, 6)):
        _change(rng, pool)
        there = [person for person in pool if number == 0 or rng.random() < rng.choice([0.6, 0.9])]
        rows = [{"id": person, **pool[person]} for person in rng.sample(there, len(there))]
        table = pl.DataFrame(rows, infer_schema_length=None).select("id", *quasi, "ill")
        path = folder / f"{number}.csv"
        try:
            drawn.turns.append(_released(drawn, table, path, rng.getrandbits(128)))
        except NotVerified:
            raise
        except ShoalError as error:
            drawn.refused = f"{type(error).__name__}: {error}"
            break
    return drawn


def _released(drawn: Drawn, table: pl.DataFrame, path: Path, seed: int) -> Turn:
    trees = {"town": TREE} if "town" in drawn.quasi else None
    with warnings.catch_warnings(action="ignore"):
        release = shoal.anonymize(
            table,
            quasi=drawn.quasi,
            sensitive="ill",
            person="id",
            m=drawn.m,
            hierarchies=trees,
            history=drawn.history,
            seed=seed,
            **drawn.options,
        )
        release.write(path)
    return Turn(table, path, release)


def _options(rng: random.Random, k: int, quasi: list[str]) -> dict[str, Any]:
    """Return options of the runs of a series; all runs have the same."""
    methods = ["shoal", "shoal", "mondrian", *(["buckets"] if k == 1 else [])]
    options: dict[str, Any] = {"method": rng.choice(methods)}
    if k > 1:
        options["k"] = k
    options |= rng.choice([{}, {"typed": True}, {"typed": True, "mid": True}])
    if rng.random() < 0.3 and options["method"] != "buckets":
        options["sets"] = "never"
    grids = {"age": [5, "off"], "seen": ["month", "off"], "pay": [0.5, "off"]}
    given = {name: rng.choice(grids[name]) for name in quasi if name in grids}
    if given and rng.random() < 0.4:
        options["grid"] = given
    if options["method"] == "shoal":
        options["effort"] = rng.choice(["fast", "normal"])
    return options


def _people(rng: random.Random, many: int) -> dict[str, dict[str, Any]]:
    """Return people by name; moments may all, partly or never fall on midnight."""
    step = rng.choice([1, 60, 3600, 86_400])
    gaps = rng.choice([0.0, 0.0, 0.1])
    weights = [rng.random() + 0.3 for _ in ILLS]

    def own() -> dict[str, Any]:
        seconds = rng.randrange(90 * 86_400) // step * step
        row = {
            "age": rng.randint(20, 70),
            "seen": dt.datetime(2019, 12, 1) + dt.timedelta(seconds=seconds),
            "pay": rng.randint(20, 60) / 2,
            "town": rng.choice(list(TOWNS)),
            "sex": rng.choice("fm"),
        }
        row = {name: None if rng.random() < gaps else value for name, value in row.items()}
        return {**row, "ill": rng.choices(ILLS, weights)[0] if rng.random() > gaps / 5 else None}

    return {f"p{number}": own() for number in range(many)}


def _change(rng: random.Random, pool: dict[str, dict[str, Any]]) -> None:
    """Let some people fall ill with something else, grow older or move, and some others come."""
    for own in pool.values():
        if rng.random() < 0.05:
            own["ill"] = rng.choice(ILLS)
        if own["age"] is not None and rng.random() < 0.3:
            own["age"] += 1
        if rng.random() < 0.1:
            own["town"] = rng.choice(list(TOWNS))
    fresh = _people(rng, rng.randint(0, len(pool) // 6))
    pool |= {f"{name}-{len(pool)}": own for name, own in fresh.items()}


# The attack


def faults(drawn: Drawn) -> list[str]:
    """Return what is wrong with a series, by its files, its tables and its history."""
    wrong: list[str] = []
    common: dict[tuple[str, Any], set[str]] = {}
    history = History.read(drawn.history)
    for number, turn in enumerate(drawn.turns):
        classes = _classes(turn.path, drawn.quasi)
        own = {row["id"]: row for row in turn.table.iter_rows(named=True)}
        inside: dict[tuple[str | None, ...], list[Any]] = {cells: [] for cells in classes}
        for person, value, name in history.classes(number).iter_rows():
            cells = tuple(map(_plain, json.loads(name)))
            if cells not in inside or own[person]["ill"] != value:
                wrong.append(f"{number}: {person} is in no class of the file, or has another value")
                continue
            inside[cells].append(value)
            if not _covered(cells, own.pop(person), turn.path, drawn.quasi):
                wrong.append(f"{number}: {person} is in a class that does not cover the person")
            held = {each for each in classes[cells] if each is not None}
            common[person, value] = common.get((person, value), held) & held
        wrong += [f"{number}: {person} is in no class" for person in own]
        false = _counterfeits(turn.path)
        for cells, values in classes.items():
            wrong += [f"{number}: {text}" for text in _class(values, inside[cells], drawn)]
            more = values.total() - len(inside[cells])
            if more != false.pop(cells, 0):
                wrong.append(f"{number}: {more} rows of {cells} are nobody's, which is not told")
        wrong += [f"{number}: counterfeits of {cells}, no class" for cells in false]
    few = [record for record, held in common.items() if len(held) < drawn.m]
    return [*wrong, *(f"{record} has {len(common[record])} values left" for record in few)]


def _class(values: Counter[str | None], own: list[Any], drawn: Drawn) -> list[str]:
    wrong = []
    known = {value: many for value, many in values.items() if value is not None}
    if not known or max(known.values()) * drawn.m > sum(known.values()):
        wrong.append(f"a value has more than 1/{drawn.m} of {dict(values)}")
    if Counter(own) - values:
        wrong.append(f"{own} are not among {dict(values)}")
    if len(own) < max(drawn.k, 1):
        wrong.append(f"a class has {len(own)} people")
    return wrong


def _columns(header: list[str], quasi: list[str]) -> list[str]:
    ends = ("", "_lo", "_hi", "_mid")
    return [name for name in (q + end for q in quasi for end in ends) if name in header]


def _classes(path: Path, quasi: list[str]) -> dict[tuple[str | None, ...], Counter[str | None]]:
    """Return the values of every class of a file."""
    found: dict[tuple[str | None, ...], Counter[str | None]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            cells = tuple(_plain(row[name]) for name in _columns(list(row), quasi))
            found.setdefault(cells, Counter())[row["ill"] or None] += 1
    return found


def _counterfeits(path: Path) -> dict[tuple[str | None, ...], int]:
    beside = path.with_suffix(".counterfeits.csv")
    if not beside.exists():
        return {}
    with beside.open(newline="") as file:
        rows = list(csv.reader(file))
    return {tuple(map(_plain, row[:-1])): int(row[-1]) for row in rows[1:]}


def _plain(text: str | None) -> str | None:
    """Return a cell as it is compared: a moment on midnight is a day, 39.0 is 39."""
    if not text:
        return None
    moment = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?", text)
    if moment:
        rest = (moment[3] or "").rstrip("0")
        clock = moment[2] + (f".{rest}" if rest else "")
        return moment[1] if clock == "00:00:00" else f"{moment[1]} {clock}"
    return text.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", text) else text


def _covered(
    cells: tuple[str | None, ...], own: dict[str, Any], path: Path, quasi: list[str]
) -> bool:
    with path.open(newline="") as file:
        names = _columns(next(csv.reader(file)), quasi)
    held = dict(zip(names, cells, strict=True))
    for name in quasi:
        value = own[name]
        if name in held:
            paths = {leaf: {*way} for leaf, way in TOWNS.items()} if name == "town" else None
            text = None if value is None else _plain(str(value))
            if not covers(held[name], text, paths):
                return False
            continue
        low, high = held[f"{name}_lo"], held[f"{name}_hi"]
        if low is None and high is None:
            continue
        if low is None or high is None or value is None:
            return False
        read = dt.datetime.fromisoformat if name == "seen" else float
        if not read(low) <= value <= read(high):
            return False
    return True
