"""What it costs to count people and not rows: diabetes130, with and without its patients.

``python -m benchmarks.persons [METHOD ...]`` prints the loss, the time, and the classes that hold
fewer than k patients, counted by their numbers.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import polars as pl

from benchmarks.tables import ADULT
from shoal.api.opening import read_table
from shoal.base.partition import Partition
from shoal.catalog import METHODS
from shoal.coding.encode import Encoded, encode
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from shoal.tables.hierarchy import read_directory
from shoal.tables.schema import declare

PERSON = "patient_nbr"


def tables() -> tuple[pl.Series, Encoded, Encoded]:
    """Return the patients, and the table by rows and by people."""
    frame = read_table(ADULT / "diabetes130.parquet")
    quasi = json.loads((ADULT / "schema" / "diabetes130.json").read_text())["qi"]
    taxonomies = read_directory(ADULT / "hierarchies" / "diabetes130", quasi)
    rows, people = (
        encode(frame, declare(frame, quasi=quasi, person=who, taxonomies=taxonomies), taxonomies)
        for who in ([], [PERSON])
    )
    return frame[PERSON], rows, people


def fewest(patients: pl.Series, part: Partition, k: int) -> tuple[int, int]:
    """Return the classes with fewer than k patients, and the fewest that one holds."""
    classes = pl.DataFrame({"class": part.labels(), "patient": patients})
    many = classes.group_by("class").agg(pl.col("patient").n_unique())["patient"]
    return int((many < k).sum()), int(many.min())  # type: ignore[arg-type]


def main(methods: list[str]) -> None:
    """Print a table."""
    patients, *both = tables()
    print(f"{len(patients):,} rows of {patients.n_unique():,} patients\n")
    print("| method | k | counted | loss | seconds | classes | below k patients | fewest |")
    print("|---|---|---|---|---|---|---|---|")
    for method in methods or ["shoal"]:
        group = METHODS[method].load()
        for data in both:  # compiles
            group(data.take(np.arange(500)), KAnonymity(5), np.random.default_rng(1))
        for k in (5, 10):
            for counted, data in zip(("rows", "people"), both, strict=True):
                begun = time.perf_counter()
                part = group(data, KAnonymity(k), np.random.default_rng(1))
                passed = time.perf_counter() - begun
                few, least = fewest(patients, part, k)
                cells = f"{iloss(data, part).rate:.4f} | {passed:.1f} | {part.groups:,} | {few:,}"
                print(f"| {method} | {k} | {counted} | {cells} | {least} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
