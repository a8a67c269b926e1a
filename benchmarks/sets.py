"""What other ways of publishing names than sets of values cost (docs/reference/attacks.md).

``python -m benchmarks.sets [adult] [demo] [--k 5 10]`` prints a row per table, k and way: the loss,
and the rows that can be read off for certain. Ordered columns are on their grid throughout.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import polars as pl

import shoal
from benchmarks.readoff import NUMBERS, table
from shoal.base.errors import ShoalWarning
from shoal.tables.guessing.hierarchies import guess_hierarchy


def ways(
    frame: pl.DataFrame, quasi: list[str], by_hand: dict[str, Any], name: str
) -> dict[str, Any]:
    """Return what a run is told for each way of publishing names."""
    names = [column for column in quasi if column not in NUMBERS[name]]
    guesses = {column: guess_hierarchy(frame[column], column) for column in names}
    trees = {column: guess[0] for column, guess in guesses.items() if guess is not None}
    return {
        "sets": {"sets": "allowed"},
        "one value or `*` (`--sets never`)": {"sets": "never"},
        "guessed hierarchies (`init`)": {"hierarchies": trees},
        "hierarchies by hand": {"hierarchies": by_hand},
    }


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("names", nargs="*", default=["adult", "demo"])
    words.add_argument("--k", nargs="*", type=int, default=[5, 10])
    asked = words.parse_args()
    warnings.simplefilter("ignore", ShoalWarning)
    print("| table | k | names published as | loss | read off |\n|---|---|---|---|---|")
    for name in asked.names:
        frame, quasi, by_hand = table(name)
        for k in asked.k:
            for way, given in ways(frame, quasi, by_hand, name).items():
                made = shoal.anonymize(frame.select(quasi), quasi=quasi, k=k, seed=1, **given)
                told = made.made.read_off
                assert told is not None
                line = f"{made.loss.rate:.4f} | {100 * told.share:.2f} %"
                print(f"| {name} | {k} | {way} | {line} |", flush=True)


if __name__ == "__main__":
    main()
