"""What tight cells give away, and what it costs to publish without it (docs/reference/attacks.md).

``python -m benchmarks.readoff [adult] [fars] [diabetes130] [demo] [--k 2 5 10 50]`` prints one row
per table, k and defence: rows read off for certain, rows guessed, and the loss. Half of the people
are released in the guessing, so that the other half can serve as outsiders.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import polars as pl

import shoal
from benchmarks.tables import ADULT, QUASI
from shoal.api.opening import read_table
from shoal.base.errors import ShoalWarning
from shoal.tables import demo

FILES = {"adult": "adult.csv.gz", "fars": "fars.csv.gz", "diabetes130": "diabetes130.parquet"}
NUMBERS = {
    "adult": ("age",),
    "fars": ("iage", "ideathday"),
    "diabetes130": (),
    "demo": ("age", "admitted"),
}
"""Ordered columns, published as intervals; the others have hierarchies."""
DEFENCES: dict[str, dict[str, Any]] = {
    "grid off": {"grid": "off"},
    "grid auto": {"grid": "auto"},
    "grid auto, slack 0.2": {"grid": "auto", "slack": 0.2},
}

HEADS = (
    "table",
    "k",
    "defence",
    "loss",
    "read off",
    "unique",
    "wrong",
    "guessed",
    "without facts",
    "outsiders",
    "unique guessed",
    "without facts",
    "cells",
)


def table(name: str) -> tuple[pl.DataFrame, list[str], dict[str, Any]]:
    """Return a table, its quasi-identifiers, and the hierarchies of all but the ordered ones."""
    if name == "demo":
        frame, quasi, folder = read_table(demo.TABLE), list(demo.QUASI), demo.HIERARCHIES
    else:
        frame, folder = read_table(ADULT / FILES[name]), ADULT / "hierarchies" / name
        suggested = json.loads((ADULT / "schema" / f"{name}.json").read_text())["qi"]
        quasi = QUASI if name == "adult" else suggested
    files = {column: folder / f"{column}.csv" for column in quasi if column not in NUMBERS[name]}
    return frame, quasi, {column: file for column, file in files.items() if file.exists()}


def release(name: str, k: int, frame: pl.DataFrame, defence: str) -> shoal.Release[pl.DataFrame]:
    """Make a release of some rows, defended so, put beside them."""
    _, quasi, hierarchies = table(name)
    rest = dict(DEFENCES[defence])
    grid = rest.pop("grid")
    opened = shoal.open(
        frame,
        quasi=quasi,
        hierarchies=hierarchies,
        grid=dict.fromkeys(NUMBERS[name], grid),
    )
    return opened.anonymize(k=k, seed=1, **rest).with_original(opened)


def lines(name: str, ks: list[int]) -> Iterator[str]:
    """Yield the lines of one table."""
    frame, _, _ = table(name)
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=7)
    half = mixed.height // 2
    for k in ks:
        for defence in DEFENCES:
            made = release(name, k, frame, defence)
            (read,) = made.attack(attacks="readoff", seed=0).results
            guessed = release(name, k, mixed[:half], defence)
            (down,) = guessed.attack(attacks="downcoding", control=mixed[half:], seed=0).results
            known, many = read.details["unique"], down.details
            yield (
                f"| {name} | {k} | {defence} | {made.loss.rate:.4f} | {read.success:.2%} | "
                f"{known:,.0f} | {read.details['wrong']:,.0f} | {down.success:.1%} | "
                f"{down.baseline:.1%} | {down.control or 0:.1%} | {many['unique']:.1%} | "
                f"{many['unique_without_facts']:.1%} | {many['cells']:.1%} |"
            )


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    words.add_argument("names", nargs="*", default=["demo", *FILES])
    words.add_argument("--k", nargs="*", type=int, default=[2, 5, 10, 50])
    asked = words.parse_args()
    started = time.perf_counter()
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        for name in asked.names:
            for line in lines(name, asked.k):
                print(line, flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
