"""Loss and time of (alpha, k) clustering on Adult and on the census sample.

    python -m benchmarks.alpha_k [adult] [sizes] [tight] [census] [--data FOLDER]

Adult: the 45,222 complete rows, occupation (or income) sensitive. Seconds are processor time of the
grouping alone, kernels already compiled.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from shoal.api.opening import read_table
from shoal.base.roles import Kind
from shoal.coding.encode import Encoded, encode
from shoal.groupers import alpha_k
from shoal.measures.losses.ncp import iloss
from shoal.privacy import AlphaK
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

NUMBERS = ["age", "education-num", "hours-per-week", "hours"]
ADULT = ["age", "education-num", "hours-per-week", "workclass", "marital-status", "race", "sex"]
ADULT += ["native-country"]
CENSUS = ["age", "sex", "marital", "race", "birthplace", "education", "work_class"]
CENSUS += ["relationship", "hours"]
# Prof-specialty is in most settings the dearest to protect of the 14 occupations;
# Craft-repair is the most frequent one.
ONES = ["Prof-specialty", "Craft-repair"]


def coded(frame: pl.DataFrame, folder: Path, quasi: Sequence[str], sensitive: str) -> Encoded:
    """Numbers as free intervals, names with the hierarchies of the folder."""
    taxonomies = read_directory(folder, [name for name in quasi if name not in NUMBERS])
    kinds = {name: Kind.ORDERED for name in quasi if name in NUMBERS}
    schema = declare(frame, quasi=quasi, sensitive=[sensitive], kinds=kinds, taxonomies=taxonomies)
    return encode(frame, schema, taxonomies)


def measure(data: Encoded, rule: AlphaK, ways: Sequence[alpha_k.Growth] = ()) -> str:
    """Return loss and seconds, of alpha-k or of some ways to grow; stops if the rule is broken."""
    start, rng = time.process_time(), np.random.default_rng(0)
    part = alpha_k.grow(data, rule, rng, ways) if ways else alpha_k.group(data, rule, rng)
    seconds = time.process_time() - start
    if not rule.holds(data.stats(part)).all():
        raise AssertionError(rule.describe())
    return f"{iloss(data, part).rate:.4f} ({seconds:.1f} s)"


def three(data: Encoded, alpha: float, k: int) -> str:
    """Measure each single value and all values, a cell each."""
    rules = [AlphaK(alpha, k, "occupation", (one,)) for one in ONES]
    return " | ".join(measure(data, rule) for rule in (*rules, AlphaK(alpha, k, "occupation")))


def adult(frame: pl.DataFrame, folder: Path) -> None:
    print(f"| QIs | alpha | one: {' | one: '.join(ONES)} | all |\n|---|---|---|---|---|")
    for quasi in range(2, 9):
        data = coded(frame, folder, ADULT[:quasi], "occupation")
        for alpha in (0.2, 0.35):
            print(f"| {quasi} | {alpha} | {three(data, alpha, 20)} |", flush=True)


def sizes(frame: pl.DataFrame, folder: Path) -> None:
    print(f"| k | alpha | one: {' | one: '.join(ONES)} | all |\n|---|---|---|---|---|")
    data = coded(frame, folder, ADULT[:7], "occupation")
    for k in (5, 10, 20, 50, 100):
        for alpha in (0.2, 0.3):
            print(f"| {k} | {alpha} | {three(data, alpha, k)} |", flush=True)


def tight(frame: pl.DataFrame, folder: Path) -> None:
    """Income above 50K, which 24.78 % have, with an alpha closer and closer to that."""
    print("| alpha | free | capped |\n|---|---|---|")
    data = coded(frame, folder, ADULT, "income")
    for alpha in (0.3, 0.25, 0.249):
        rule = AlphaK(alpha, 20, "income", (">50K",))
        print(f"| {alpha} | {measure(data, rule, ['free'])} | {measure(data, rule, ['capped'])} |")


def census(frame: pl.DataFrame, folder: Path) -> None:
    print("| rows | sensitive | alpha | one: the most frequent | all |\n|---|---|---|---|---|")
    for sensitive, alpha in (("occupation", 0.2), ("income_gt50k", 0.75)):
        data = coded(frame, folder, CENSUS, sensitive)
        top = str(frame[sensitive].mode()[0])
        one = measure(data, AlphaK(alpha, 20, sensitive, (top,)))
        every = measure(data, AlphaK(alpha, 20, sensitive))
        print(f"| {frame.height:,} | {sensitive} | {alpha} | {one} | {every} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    parts = given.parts or ["adult", "sizes", "tight", "census"]
    rows = read_table(given.data / "adult.csv.gz").drop_nulls()
    folder = given.data / "hierarchies" / "adult"
    small = coded(rows.head(300), folder, ADULT, "occupation")
    measure(small, AlphaK(0.5, 5, "occupation", ("Sales",)))  # compiles
    for name, part in (("adult", adult), ("sizes", sizes), ("tight", tight)):
        if name in parts:
            part(rows, folder)
    if "census" in parts:
        frame = read_table(given.data / "acs_occ_300k.parquet")
        census(frame, given.data / "hierarchies" / "acs_occ")


if __name__ == "__main__":
    main()
