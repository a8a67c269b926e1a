"""What tables with many gaps lose, and what an analysis of the release loses with them.

    python -m benchmarks.gaps [--data FOLDER] [--seeds N] [--out FOLDER]

Three tables that really have gaps are made 5-anonymous by three methods. A linear regression is
fitted to the release: an interval counts as its middle, a cell without a value (missing, a set,
``*``) as the mean of the column. Its coefficients, in standard deviations of the original columns,
are compared with those of the original, whose gaps count as the mean as well.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import shoal
from shoal.api.opening import read_table
from shoal.ext.learning.classifier import has_library
from shoal.show.charts.rows import bars

Floats = npt.NDArray[np.float64]
K = 5
REPEATS = 5
"""Releases on which a classifier is trained, per method."""
METHODS: Mapping[str, dict[str, Any]] = {
    "kaim": {"method": "kaim"},
    "k-member, complete rows": {"method": "k-member", "options": {"missing": "drop"}},
    "shoal": {"method": "shoal"},
}
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Case:
    """A table, what is declared of it, and the regression that an analyst fits.

    ``predictors``: by column None for a number, else the value whose share is meant.
    """

    name: str
    frame: pl.DataFrame
    quasi: Sequence[str]
    outcome: str
    predictors: Mapping[str, str | None]
    target: str
    hierarchies: Path | None = None


def heart(folder: Path) -> Case:
    """Patients of four clinics: chest pain without symptoms by age, pressure, cholesterol, sex."""
    frame = read_table(folder / "heart.csv.gz", missing=["", "?"])
    silent = (pl.col("cp") == "asymptomatic").cast(pl.Int64)
    quasi = ["age", "sex", "trestbps", "chol", "slope", "ca", "thal"]
    predictors = {"age": None, "trestbps": None, "chol": None, "sex": "Male"}
    frame = frame.select(*quasi, "cp").with_columns(silent.alias("outcome"))
    return Case("heart", frame, quasi, "outcome", predictors, "cp")


def nlswork(folder: Path) -> Case:
    """Working women in 1988: the logarithm of the wage by age, schooling, union and south."""
    frame = read_table(folder / "nlswork.csv.gz").filter(pl.col("year") == 88)
    quasi = [
        *("birth_yr", "age", "race", "msp", "grade", "south", "c_city", "not_smsa", "union"),
        "ind_code",
    ]
    predictors = dict.fromkeys(["age", "grade", "union", "south"])
    frame = frame.select(*quasi, "occ_code", outcome="ln_wage")
    return Case("nlswork", frame, quasi, "outcome", predictors, "occ_code")


def diabetes(folder: Path) -> Case:
    """The first stay of each patient: days in hospital by age, sex and race."""
    frame = read_table(folder / "diabetes130.parquet").unique("patient_nbr", keep="first")
    quasi = [
        *("race", "gender", "age", "weight", "admission_type_id", "payer_code"),
        "medical_specialty",
    ]
    predictors = {"age": None, "gender": "Female", "race": "Caucasian"}
    frame = frame.sort("patient_nbr").select(*quasi, "readmitted", outcome="time_in_hospital")
    trees = folder / "hierarchies" / "diabetes130"
    return Case("diabetes130", frame, quasi, "outcome", predictors, "readmitted", trees)


CASES: tuple[Callable[[Path], Case], ...] = (heart, nlswork, diabetes)


def number(cell: Any, wanted: str | None) -> float:
    """Return what a cell counts as in the regression; NaN where it has no value."""
    if cell is None or str(cell) == "*":
        return np.nan
    if wanted is not None:
        single = not str(cell).startswith(("{", "["))
        return float(str(cell) == wanted) if single else np.nan
    found = [float(text) for text in _NUMBERS.findall(str(cell))]
    return float(np.mean(found)) if found else np.nan


def columns(case: Case, frame: pl.DataFrame) -> Floats:
    """Return the predictors, one column each, NaN where a cell has no value."""
    return np.column_stack(
        [
            [number(cell, wanted) for cell in frame[name].to_list()]
            for name, wanted in case.predictors.items()
        ]
    )


def coefficients(x: Floats, y: Floats, middle: Floats, spread: Floats) -> Floats:
    """Fit the outcome by least squares; a cell without a value counts as the column's mean."""
    x = (np.where(np.isnan(x), np.nanmean(x, axis=0), x) - middle) / spread
    design = np.column_stack([np.ones(len(x)), x])
    fit: Floats = np.linalg.lstsq(design, y, rcond=None)[0][1:]
    return fit


def outcome(case: Case, frame: pl.DataFrame) -> Floats:
    """Return the outcome as numbers, published or not."""
    return frame[case.outcome].cast(pl.String).cast(pl.Float64).to_numpy()


def measure(case: Case, seeds: int) -> list[dict[str, Any]]:
    """Return a row for each method: loss, rows, coefficients, their error, accuracy."""
    own = columns(case, case.frame)
    middle, spread = np.nanmean(own, axis=0), np.nanstd(own, axis=0)
    truth = coefficients(own, outcome(case, case.frame), middle, spread)
    found: list[dict[str, Any]] = [
        {"method": "original", "rows": case.frame.height, "fit": truth, "loss": 0.0, "error": 0.0}
    ]
    whole = case.frame.drop_nulls(list(case.quasi))
    fit = coefficients(columns(case, whole), outcome(case, whole), middle, spread)
    error = float(np.abs(fit - truth).mean())
    lost = 1 - whole.height / case.frame.height
    found.append(
        {
            **{"method": "original, complete rows", "rows": whole.height, "loss": lost},
            **{"fit": fit, "error": error, "range": (error, error)},
        }
    )
    roles: dict[str, Any] = {"quasi": list(case.quasi), "sensitive": case.target}
    roles |= {"keep": case.outcome, "hierarchies": case.hierarchies}
    table = shoal.open(case.frame, **roles)
    for name, how in METHODS.items():
        runs = [table.anonymize(k=K, seed=10**20 + seed, **how) for seed in range(seeds)]
        fits = [
            coefficients(columns(case, run.frame), outcome(case, run.frame), middle, spread)
            for run in runs
        ]
        errors = [float(np.abs(fit - truth).mean()) for fit in fits]
        found.append(
            {
                "method": name,
                "rows": runs[0].frame.height,
                "loss": float(np.mean([run.loss.rate for run in runs])),
                "fit": np.mean(fits, axis=0),
                "error": float(np.mean(errors)),
                "range": (min(errors), max(errors)),
            }
        )
    if has_library():
        _accuracies(case, table, found)
    return found


def _accuracies(case: Case, table: Any, found: list[dict[str, Any]]) -> None:
    """Add how often a classifier that was trained on the release is right on the original."""
    words = ["kaim", "k-member:missing=drop", "shoal"]
    compared = table.compare(
        methods=words,
        k=[K],
        queries=0,
        classifier=True,
        target=case.target,
        keep_releases=False,
        repeats=REPEATS,
        seed=10**20,
    )
    for row, setting in zip(found[-len(words) :], compared.settings, strict=True):
        row["accuracy"] = setting.figures["balanced_accuracy"]
    found[0]["accuracy"] = compared.baselines["original"]["balanced_accuracy"]


def report(case: Case, found: Sequence[Mapping[str, Any]], seeds: int) -> str:
    """Return the table of a case as Markdown."""
    gaps = case.frame.select(case.quasi).null_count().sum_horizontal()[0]
    incomplete = case.frame.select(case.quasi).drop_nulls().height
    share = gaps / (case.frame.height * len(case.quasi))
    names = list(case.predictors)
    heads = ["", "rows", "loss", *names, "mean error", "of all seeds", "accuracy"]
    out = [
        f"{case.name}: {case.frame.height:,} rows, {100 * share:.0f} % of the cells missing, "
        f"{incomplete:,} complete rows; {seeds} seeds",
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for row in found:
        low, high = row.get("range", (0.0, 0.0))
        cells = [row["method"], f"{row['rows']:,}", f"{row['loss']:.3f}"]
        cells += [f"{value:.3f}" for value in row["fit"]]
        cells += [f"{row['error']:.3f}", f"{low:.3f} to {high:.3f}"]
        cells += [f"{row['accuracy']:.3f}" if "accuracy" in row else "-"]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def main() -> None:
    """Measure all tables; write the tables, and a chart of the errors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    labels, errors = [], []
    for make in CASES:
        if given.only not in make.__name__:
            continue
        case = make(given.data)
        found = measure(case, given.seeds)
        sys.stdout.write(report(case, found, given.seeds) + "\n\n")
        sys.stdout.flush()
        labels += [f"{case.name}, {row['method']}" for row in found[1:]]
        errors += [row["error"] for row in found[1:]]
    if given.out is not None:
        chart = bars(
            "How far the coefficients are from the original's",
            labels,
            errors,
            name="mean error, in standard deviations",
        )
        chart.save(given.out / "gaps.svg", force=True)


if __name__ == "__main__":
    main()
