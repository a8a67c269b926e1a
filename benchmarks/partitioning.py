"""Loss and time of Mondrian, Incognito and TP on Adult and on the census sample.

    python -m benchmarks.partitioning [mondrian] [incognito] [tp] [--data FOLDER]

Seconds are processor time of the grouping alone, kernels already compiled; the best of three runs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.api.opening import read_table
from shoal.base.errors import ShoalWarning
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded, encode
from shoal.groupers import incognito, mondrian, tp
from shoal.measures.losses.ncp import iloss
from shoal.privacy import (
    AlphaK,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from shoal.tables.domain import Ordered
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

ADULT = ["age", "workclass", "education", "marital-status", "occupation"]
ADULT += ["race", "sex", "native-country"]
CENSUS = ["age", "sex", "race", "marital", "education", "birthplace", "work_class"]
RELATIVES = [*(name for name in ADULT if name != "occupation"), "relationship"]


def load(data, name, quasi, sensitive=(), *, complete=False, rows=None, taxonomies=True):
    path = next(data.glob(f"{name}*.csv.gz"), None) or next(data.glob(f"{name}_300k.parquet"))
    frame = read_table(path).head(rows or 10**9)
    if complete:
        frame = frame.drop_nulls(ADULT)
    trees = read_directory(data / "hierarchies" / name, quasi) if taxonomies else {}
    schema = declare(frame, quasi=quasi, sensitive=list(sensitive), taxonomies=trees)
    return encode(frame, schema, trees)


def show(title, data, call, repeats=3):
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        part = call(data)
        seconds.append(time.process_time() - start)
    loss = iloss(data, part)
    extra = {k: v for k, v in part.notes.items() if k != "minimal"}
    if "minimal" in part.notes:
        extra["minimal"] = len(part.notes["minimal"])
    print(
        f"{title:<46} rows {data.rows:>9,}  groups {part.groups:>7,}  loss {loss.rate:.4f} "
        f"(removed {loss.removal:.4f})  {min(seconds):7.2f} s  {extra or ''}",
        flush=True,
    )
    return part


def cutting(rule, **options):
    return lambda data: mondrian.group(data, rule, np.random.default_rng(0), **options)


def lattice(rule, **options):
    return lambda data: incognito.group(data, rule, np.random.default_rng(0), **options)


def run_mondrian(data: Path) -> None:
    adult = load(data, "adult", ADULT, ["income"])
    for options in ({}, {"small": "refuse"}, {"cuts": "relaxed"}):
        show(f"mondrian k=10 {options or ''}", adult, cutting(KAnonymity(10), **options))
    complete = load(data, "adult", ADULT, complete=True, rows=32_561)
    for options in ({}, {"small": "refuse"}):
        show(
            f"mondrian k=10, complete {options or ''}", complete, cutting(KAnonymity(10), **options)
        )
    sets = load(data, "adult", ADULT, complete=True, rows=32_561, taxonomies=False)
    show("mondrian k=10, complete, sets", sets, cutting(KAnonymity(10)))
    ranks = replace(
        sets,
        domains=tuple(
            d
            if isinstance(d, Ordered)
            else Ordered(pl.Series(range(d.size)), np.arange(d.size) + 0.0)
            for d in sets.domains
        ),
    )
    show("mondrian k=10, complete, names as numbers", ranks, cutting(KAnonymity(10)))
    show("mondrian k=10, the same, relaxed", ranks, cutting(KAnonymity(10), cuts="relaxed"))
    jobs = load(data, "adult", RELATIVES, ["occupation"])
    for rule in (
        LDiversity(5, "occupation"),
        EntropyLDiversity(5.0, "occupation"),
        FrequencyLDiversity(3, "occupation"),
        TCloseness(0.2, "occupation"),
    ):
        show(f"mondrian {rule.name}", jobs, cutting(rule))
    show("mondrian k=10, a million rows", grown(adult, 1_000_000), cutting(KAnonymity(10)), 1)
    show("mondrian k=10, 6 uniform columns", uniform(1_000_000, 6), cutting(KAnonymity(10)), 1)


def grown(data: Encoded, rows: int) -> Encoded:
    """Adult drawn with replacement, ages moved by up to three years."""
    rng = np.random.default_rng(0)
    pick = rng.integers(0, data.rows, rows)
    codes = data.codes[pick]
    codes[:, 0] = np.clip(codes[:, 0] + rng.integers(-3, 4, rows), 0, 99)
    return replace(data, codes=codes, sensitive={n: c[pick] for n, c in data.sensitive.items()})


def uniform(rows: int, columns: int) -> Encoded:
    values = np.random.default_rng(0).random((rows, columns))
    codes, domains = np.empty(values.shape, np.int32), []
    for j in range(columns):
        points, codes[:, j] = np.unique(values[:, j], return_inverse=True)
        domains.append(Ordered(pl.Series(points), points))
    return Encoded(tuple(f"x{j}" for j in range(columns)), codes, tuple(domains), {}, {})


def run_incognito(data: Path) -> None:
    adult = load(data, "adult", ADULT)
    for suppression in (0.0, 0.05):
        title = f"incognito k=10, suppression {suppression:g}"
        part = show(title, adult, lattice(KAnonymity(10), suppression=suppression), 1)
        print(f"    levels {dict(part.notes['levels'])}")
    for m in range(2, 9):
        table = load(data, "adult", RELATIVES[:m], ["occupation"], complete=True)
        for l in (2, 7, 12):  # noqa: E741
            rule = LDiversity(l, "occupation")
            show(f"l-incognito l={l}, {m} columns", table, lattice(rule), 1)
    for suppression in (0.0, 0.02):
        rule = AlphaK(0.35, 20, "occupation")
        show(
            f"simanony, suppression {suppression:g}",
            table,
            lattice(rule, suppression=suppression),
            1,
        )


def run_tp(data: Path) -> None:
    census = load(data, "acs_occ", CENSUS, ["occupation"])
    for l in (2, 4, 6, 8, 10):  # noqa: E741
        rule = FrequencyLDiversity(l, "occupation")
        for name, call in (("tp", tp.group), ("tp+", tp.group_plus)):
            show(f"{name} l={l}", census, method(call, rule))


def method(call, rule):
    def run(data: Encoded) -> Partition:
        return call(data, rule, np.random.default_rng(0))

    return run


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["mondrian", "incognito", "tp"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    warnings.simplefilter("ignore", ShoalWarning)
    for what in given.what:
        {"mondrian": run_mondrian, "incognito": run_incognito, "tp": run_tp}[what](given.data)
