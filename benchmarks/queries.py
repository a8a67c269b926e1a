"""Error of counting queries on releases that keep the quasi-identifiers and on those that do not.

    python -m benchmarks.queries [--rows N] [--repeats N] [--l N] [--data FOLDER] [--each]

The census sample, occupation sensitive: dummy values, Anatomy, TP and Mondrian, the same queries.
With --each every single combination of the values of three columns is a category of its own.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import polars as pl

from benchmarks.query_errors import METHODS, compare_queries
from experiments.views import read_view
from shoal.api.functions import anonymize
from shoal.api.opening import read_table
from shoal.base.errors import ShoalWarning
from shoal.privacy import FrequencyLDiversity, LDiversity
from shoal.releases.base import By
from shoal.tables.cells import sorted_values

QUASI = ["age", "sex", "race", "marital", "education", "birthplace", "work_class"]


TRIPLES = (
    ("sex", "race", "marital"),
    ("sex", "education", "work_class"),
    ("marital", "birthplace", "sex"),
    ("age", "sex", "education"),
)


def each(frame: pl.DataFrame, l: int, methods: list[str]) -> pl.DataFrame:  # noqa: E741
    """Mean squared error over all combinations that occur, for some triples of columns."""
    domains = {name: sorted_values(frame[name]) for name in QUASI}
    rows = []
    for method in methods:
        rule = (LDiversity if method == "dummies" else FrequencyLDiversity)(l, "occupation")
        outcome = anonymize(frame, quasi=QUASI, sensitive="occupation", method=method, rules=[rule])
        release = read_view(
            outcome.frame,
            "occupation",
            table=outcome.tables.get("st"),
            domains=domains,
            quasi=QUASI,
        )
        for names in TRIPLES:
            found = release.counts(
                "occupation", [By(name) for name in names], estimator="iterative", level=0.95
            ).frame()
            on = [*names, "occupation"]
            true = frame.select(pl.col(on).cast(pl.String)).group_by(on).len("true")
            both = found.join(true, on=on, how="left").with_columns(pl.col("true").fill_null(0))
            inside = both.with_columns(rows=pl.col("true").sum().over(names)).filter(
                pl.col("rows") > 0
            )
            off = (inside["count"] - inside["true"]) / inside["rows"]
            many = inside.select(names).n_unique()
            rows.append(
                {"method": method, "columns": ", ".join(names), "combinations": many}
                | {"mse": float((off**2).mean())}
            )
    return pl.DataFrame(rows).pivot("method", index=["columns", "combinations"], values="mse")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--l", type=int, default=10)
    parser.add_argument("--columns", type=int, default=7, help="how many quasi-identifiers")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    warnings.simplefilter("ignore", ShoalWarning)
    frame = read_table(given.data / "acs_occ_300k.parquet").head(given.rows)
    if given.each:
        found = each(frame, given.l, given.methods.split(","))
    else:
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
