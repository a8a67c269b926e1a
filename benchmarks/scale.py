"""How time and memory grow: with rows, columns, values and gaps, through the command line.

``python -m benchmarks.scale [rows] [columns] [leaves] [missing] [threads]``, all of them by
default. The rows are those of the census sample, drawn with replacement and jittered, so that new
combinations go on appearing as they do in real tables. Writes ``benchmarks/results``.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.peers.__main__ import BUILD, ROOT, SHOAL, install
from benchmarks.process import run
from benchmarks.tables import ADULT
from experiments.lines import Line, lines

ROWS = (30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (4, 8, 12, 16, 20)
LEAVES = (2, 50, 1_000, 10_000, 50_000)
MISSING = (0.0, 0.1, 0.2, 0.4)
METHODS = {
    "mondrian": ("--method", "mondrian"),
    "k-member": ("--method", "k-member"),
    "shoal fast": ("--effort", "fast"),
}
RESULTS = ROOT / "benchmarks" / "results"
TREES = ADULT / "hierarchies" / "acs_occ"
QUASI = ["age", "sex", "marital", "race", "birthplace", "education", "work_class"]
LIMIT = 3_600.0


@dataclass(frozen=True)
class Case:
    """A table to run on: what varies and where it stands, the files, its quasi-identifiers."""

    what: str
    at: float
    data: Path
    trees: Path
    quasi: Sequence[str]


def jittered(frame: pl.DataFrame, rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw rows with replacement; each cell is that of another row with probability 0.1."""
    own = rng.integers(0, frame.height, rows)
    columns = []
    for name in frame.columns:
        other = rng.integers(0, frame.height, rows)
        columns.append(frame[name].gather(np.where(rng.random(rows) < 0.1, other, own)))
    return pl.DataFrame(columns)


def widened(frame: pl.DataFrame, quasi: Sequence[str], many: int, trees: Path) -> list[str]:
    """Return ``many`` columns, each either one of ours or a copy of one under another name."""
    trees.mkdir(parents=True, exist_ok=True)
    names = []
    for place in range(many):
        source = quasi[place % len(quasi)]
        name = source if place < len(quasi) else f"{source}_{place // len(quasi) + 1}"
        shutil.copy(TREES / f"{source}.csv", trees / f"{name}.csv")
        names.append(name)
    return names


def zip_tree(leaves: int, path: Path) -> list[str]:
    """Write a hierarchy of codes that loses a digit a level, and return its leaves."""
    width = len(str(leaves - 1))
    codes = [f"z{code:0{width}d}" for code in range(leaves)]
    rows = (";".join([c, *(c[:cut] + "~" for cut in range(width, 1, -1)), "*"]) for c in codes)
    path.write_text("\n".join(rows) + "\n")
    return codes


def cases(what: str) -> Iterator[Case]:
    """Write the tables of one question, one after the other; each is removed once it has run."""
    folder = BUILD / "scale"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(11)
    frame = pl.read_parquet(ADULT / "acs_occ_300k.parquet").select(QUASI)
    data = folder / f"{what}.csv"
    if what == "rows":
        for rows in ROWS:
            jittered(frame, rows, rng).write_csv(data)
            yield Case(what, rows, data, TREES, QUASI)
    elif what == "columns":
        for many in COLUMNS:
            trees = folder / "trees"
            names = widened(frame, QUASI, many, trees)
            parts = [jittered(frame, 100_000, rng) for _ in range(-(-many // len(QUASI)))]
            wide = [parts[place // len(QUASI)][QUASI[place % len(QUASI)]] for place in range(many)]
            pl.DataFrame(
                [each.alias(name) for each, name in zip(wide, names, strict=True)]
            ).write_csv(data)
            yield Case(what, many, data, trees, names)
    elif what == "leaves":
        for leaves in LEAVES:
            trees = folder / "trees"
            widened(frame, QUASI, len(QUASI), trees)
            codes = np.array(zip_tree(leaves, trees / "zip.csv"))
            drawn = codes[
                np.minimum(rng.pareto(1.0, 100_000) * leaves / 20, leaves - 1).astype(int)
            ]
            table = jittered(frame, 100_000, rng).with_columns(zip=pl.Series(drawn))
            table.write_csv(data)
            yield Case(what, leaves, data, trees, [*QUASI, "zip"])
    else:
        for share in MISSING:
            table = jittered(frame, 100_000, rng)
            gaps = [pl.Series(rng.random(table.height) < share) for _ in QUASI]
            table.with_columns(
                pl.when(gap).then(None).otherwise(pl.col(name)).alias(name)
                for name, gap in zip(QUASI, gaps, strict=True)
            ).write_csv(data)
            yield Case(what, share, data, TREES, QUASI)


def measured(case: Case, method: str, threads: int | None = None) -> dict[str, object]:
    """Run one method on one table."""
    out = case.data.with_name("release.csv")
    figures = out.with_suffix(".json")
    command = [SHOAL, "anonymize", str(case.data), "--quasi", ",".join(case.quasi), "--k", "10"]
    command += ["--hierarchies", str(case.trees), "--seed", "1", "--force", "-o", str(out)]
    command += ["--json", str(figures), *METHODS[method]]
    env = {} if threads is None else {"SHOAL_THREADS": str(threads)}
    done = run(command, LIMIT, env)
    said = json.loads(figures.read_text()) if not done.failure else {}
    rows = said.get("rows_in", 0)
    point = {
        "what": case.what,
        "at": case.at,
        "method": method,
        "rows": rows,
        "seconds": round(done.wall, 3),
        "cpu_seconds": round(done.cpu, 3),
        "microseconds_per_row": round(1e6 * done.wall / max(rows, 1), 3),
        "peak_mb": round(done.peak_mb),
        "loss": round(said.get("loss", {}).get("rate", float("nan")), 5),
        "failure": done.failure or "",
    }
    stages = {f"{name}_s": round(took, 3) for name, took in said.get("seconds", {}).items()}
    print(point | stages, flush=True)
    return point | stages


def exponent(points: pl.DataFrame) -> float:
    """Fit seconds ~ rows ** exponent on the sizes where the work outweighs the start."""
    large = points.filter(pl.col("rows") >= 1_000_000, pl.col("failure") == "")
    if large.height < 2:
        return float("nan")
    rows, seconds = (np.log(large[name].to_numpy()) for name in ("rows", "seconds"))
    return float(np.polyfit(rows, seconds, 1)[0])


def draw(what: str, points: pl.DataFrame) -> None:
    """Write the figures as CSV and SVG."""
    RESULTS.mkdir(exist_ok=True)
    points.write_csv(RESULTS / f"{what}.csv")
    series, told = [], []
    for method in METHODS:
        own = points.filter(pl.col("method") == method, pl.col("failure") == "")
        name = method
        if what == "rows":
            power = exponent(own)
            name = f"{method}: n^{power:.2f}"
            told.append(f"{method} grows like n to the power {power:.2f}")
        series.append(Line(name, own["at"].to_list(), own["seconds"].to_list()))
    titles = {
        "rows": "Seconds from CSV to verified CSV against rows",
        "columns": "Seconds for 100,000 rows against quasi-identifiers",
        "leaves": "Seconds for 100,000 rows against the leaves of one hierarchy",
        "missing": "Seconds for 100,000 rows against the share of missing cells",
    }
    grows = what in ("rows", "leaves")
    text = "; ".join(told)
    chart = lines(
        titles[what], series, x=what, y="seconds", text=text, log_x=grows, log_y=what == "rows"
    )
    chart.save(RESULTS / f"{what}.svg")


def threads() -> None:
    """Compare one thread with two on a million rows; the bytes must be the same."""
    case = next(each for each in cases("rows") if each.at == 1_000_000)
    out = case.data.with_name("release.csv")
    for method in METHODS:
        digests, walls = [], []
        for many in (1, 2):
            point = measured(case, method, many)
            walls.append((point["seconds"], point["group_s"]))
            digests.append(hash(out.read_bytes()))
        (one, group_one), (two, group_two) = walls
        same = "same bytes" if len(set(digests)) == 1 else "BYTES DIFFER"
        print(f"{method}: {one / two:.2f} in all, grouping {group_one / group_two:.2f}, {same}")


def main(asked: Sequence[str]) -> None:
    """Answer the questions asked for."""
    known = ("rows", "columns", "leaves", "missing", "threads")
    if odd := set(asked) - set(known):
        sys.exit(f"unknown: {', '.join(odd)}; there are {', '.join(known)}")
    install()
    for what in asked or known:
        if what == "threads":
            threads()
            continue
        points = [measured(case, method) for case in cases(what) for method in METHODS]
        draw(what, pl.DataFrame(points))
    shutil.rmtree(BUILD / "scale", ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
