"""Error of counting queries on releases that keep the quasi-identifiers and on those that do not.

    python -m benchmarks.queries [--rows N] [--repeats N] [--l N] [--data FOLDER]

The census sample, occupation sensitive: dummy values, Anatomy, TP and Mondrian, the same queries.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import polars as pl

from shoal.comparing import METHODS, compare_queries
from shoal.errors import ShoalWarning
from shoal.table import read_table

QUASI = ["age", "sex", "race", "marital", "education", "birthplace", "work_class"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--l", type=int, default=10)
    parser.add_argument("--columns", type=int, default=7, help="how many quasi-identifiers")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    warnings.simplefilter("ignore", ShoalWarning)
    frame = read_table(given.data / "acs_occ_300k.parquet").head(given.rows)
    found = compare_queries(
        frame,
        quasi=QUASI[: given.columns],
        sensitive="occupation",
        l=given.l,
        methods=given.methods.split(","),
        repeats=given.repeats,
        queries_seed=0,
    )
    with pl.Config(tbl_cols=-1, tbl_width_chars=140, float_precision=9):
        print(found)


if __name__ == "__main__":
    main()
