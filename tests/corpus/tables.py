"""Small releases laid out by hand: every class is written down, not found by a method.

The original and what is published of it are made together, class by class, so that it is known
without any check what each class holds. Nothing here uses the package.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass

import polars as pl

TOWNS = {
    f"{a}{b}{c}": (f"{a}{b}{c}", f"{a}{b}", a, "all") for a in "xy" for b in "pq" for c in "12"
}
"""The hierarchy of towns: every leaf with its way to the top."""
ILLS = ("asthma", "asthma", "flu", "flu", "gout", "gout", "polio", "typhus")
"""The sensitive values of every class: five different ones, none more often than twice in eight."""
PAYS = (10, 10, 20, 20, 30, 30, 40, 50)
SIZE, CLASSES = len(ILLS), 6
DAY = dt.date(2020, 1, 1)


@dataclass
class Laid:
    """An original, what is published of each of its rows, and the class of each row.

    Row ``i`` of ``released`` is row ``i`` of ``original``, until :func:`shuffled`.
    """

    original: pl.DataFrame
    released: pl.DataFrame
    label: list[int]


def laid_out(seed: int) -> Laid:
    """Return a table of 48 rows in 6 classes of 8, cells of every kind, two missing values."""
    rng = random.Random(seed)
    before, after, label = [], [], []
    for number in range(CLASSES):
        cells, members = _class(number, rng)
        ills, pays = rng.sample(ILLS, SIZE), rng.sample(PAYS, SIZE)
        for place, member in enumerate(members):
            own = {
                "who": f"p{len(label):02}",
                **member,
                "ill": ills[place],
                "pay": pays[place],
                "note": f"n{rng.randrange(3)}",
            }
            before.append(own)
            after.append({**cells, **{name: own[name] for name in ("ill", "pay", "note")}})
            label.append(number)
    return Laid(pl.DataFrame(before), pl.DataFrame(after), label)


def _class(number: int, rng: random.Random) -> tuple[dict, list[dict]]:
    """Return the cells of a class and the quasi-identifiers of its members."""
    low = 20 + 10 * number
    ages: list[int | None] = [low, low + 9, *(rng.randint(low, low + 9) for _ in range(SIZE - 2))]
    age = f"[{low}-{low + 9}]"
    if number == 0:
        ages, age = [25] * SIZE, "25"
    elif number == 5:  # a missing value: only * covers it
        ages[3], age = None, "*"
    leaves = list(TOWNS)
    level = number % 3
    town = TOWNS[leaves[number]][level]
    under = [leaf for leaf, way in TOWNS.items() if way[level] == town]
    wide = number % 2 == 1
    jobs: list[str | None] = [("clerk", "nurse")[wide and n % 2] for n in range(SIZE)]
    job = "{clerk, nurse}" if wide else "clerk"
    if number == 4:
        jobs[0], job = None, "*"
    days = [DAY + dt.timedelta(20 * number + n) for n in range(SIZE)]
    day = f"[{days[0]}-{days[-1]}]"
    members = [
        {"age": ages[n], "day": days[n], "town": under[n % len(under)], "job": jobs[n]}
        for n in range(SIZE)
    ]
    return {"age": age, "day": day, "town": town, "job": job}, members


def ends(released: pl.DataFrame) -> pl.DataFrame:
    """Return the same release with ages and days published as their two ends."""
    columns = []
    for name in released.columns:
        if name not in ("age", "day"):
            columns.append(released[name])
            continue
        lows, highs = zip(*(_pair(cell, name) for cell in released[name]), strict=True)
        columns += [pl.Series(f"{name}_lo", lows), pl.Series(f"{name}_hi", highs)]
    return pl.DataFrame(columns)


def _pair(cell: str, name: str) -> tuple:
    if cell == "*":
        return None, None
    inner = cell.strip("[]")
    if name == "age":
        low, _, high = inner.partition("-")
        return int(low), int(high or low)
    return dt.date.fromisoformat(inner[:10]), dt.date.fromisoformat(inner[-10:])


def anatomy(laid: Laid) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the two tables of Anatomy: quasi-identifiers as they are, values counted by class."""
    first = laid.original.select("age", "day", "town", "job", "note").with_columns(
        group_id=pl.Series(laid.label)
    )
    second = (
        pl.DataFrame({"group_id": laid.label, "ill": laid.original["ill"]})
        .group_by("group_id", "ill")
        .agg(pl.len().alias("count"))
        .sort("group_id", "ill")
    )
    return first, second


def dummies(laid: Laid, size: int, seed: int) -> pl.DataFrame:
    """Return the table with each sensitive value among ``size`` values, in their order."""
    rng = random.Random(seed)
    every = sorted(set(ILLS))
    sets = [
        sorted([own, *rng.sample([value for value in every if value != own], size - 1)])
        for own in laid.original["ill"]
    ]
    return laid.original.select("age", "day", "town", "job", "note").with_columns(
        ill=pl.Series(sets, dtype=pl.List(pl.String))
    )


def shuffled(frame: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, list[int]]:
    """Return the rows in another order, and where each was before."""
    order = list(range(frame.height))
    random.Random(seed).shuffle(order)
    return frame[order], order
