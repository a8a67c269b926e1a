"""``python -m benchmarks.peers``: every tool on the same job, interleaved, read as ratios.

The peers live in an environment of their own (``build/peers``), made on the first run, and so does
Shoal (``build/shoal``), which there has what its users have and nothing more. ``seconds`` are those
of a whole process, from the start of Python to the written file; ``work`` leaves out what starting
Python and loading libraries takes.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.peers.neutral import measure, read_column
from benchmarks.process import Run, run
from benchmarks.tables import ADULT, QUASI
from shoal.api.opening import read_table

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SHOAL = str(BUILD / "shoal" / "bin" / "shoal")
JOB = str(Path(__file__).with_name("job.py"))
CALL = str(Path(__file__).with_name("call.py"))
HIERARCHIES = ADULT / "hierarchies" / "adult"
PEERS = ("anjana", "anonypy", "pycanon")
SENSITIVE = "income"
K, ALPHA, SUPPRESSION = 10, 0.8, 5


class Asked(argparse.Namespace):
    """What the command line says."""

    rounds: int
    limit: float


@dataclass(frozen=True)
class Contender:
    """A tool on a job: its command writes ``out``; peers are named after their package."""

    name: str
    command: Sequence[str]
    out: Path


def environment(name: str, *packages: str) -> str:
    """Return the Python of an environment that has these packages, made on the first run."""
    folder = BUILD / name
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "done").touch()
    return str(python)


def install() -> str:
    """Make the environment of our own command, and return its Python."""
    return environment("shoal", "--editable", str(ROOT))


def versions(python: str) -> str:
    """Return the peers' versions, to stand above the tables."""
    code = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"
    asked = [python, "-c", code, *PEERS]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    return ", ".join(f"{name} {number}" for name, number in zip(PEERS, said, strict=True))


def tables() -> tuple[Path, Path]:
    """Write the complete rows of Adult's first part, and all rows with their gaps."""
    folder = BUILD / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    everything = read_table(ADULT / "adult.csv.gz").select([*QUASI, SENSITIVE])
    complete, gaps = folder / "adult_complete.csv", folder / "adult_gaps.csv"
    everything.head(32_561).drop_nulls(QUASI).write_csv(complete)
    everything.write_csv(gaps)
    return complete, gaps


def ours(name: str, data: Path, *flags: str, trees: bool = True) -> Contender:
    """Return ``shoal anonymize`` with some flags."""
    out = BUILD / "bench" / f"{name.replace(' ', '_')}.csv"
    command = [SHOAL, "anonymize", str(data), "--quasi", ",".join(QUASI), "--sensitive", SENSITIVE]
    command += ["--k", str(K), "--force", "-o", str(out)]
    if trees:
        command += ["--hierarchies", str(HIERARCHIES)]
    command += flags
    return Contender(name, command, out)


def theirs(python: str, name: str, data: Path, sensitive: str = SENSITIVE) -> Contender:
    """Return a peer's job."""
    out = BUILD / "bench" / f"{name.replace(' ', '_')}.csv"
    task = {
        "data": str(data),
        "out": str(out),
        "quasi": QUASI,
        "sensitive": sensitive,
        "hierarchies": str(HIERARCHIES),
        "k": K,
        "alpha": ALPHA,
        "suppression": SUPPRESSION,
    }
    return Contender(name, [python, JOB, name, json.dumps(task)], out)


@dataclass(frozen=True)
class Result:
    """One run of a contender: the process, and the seconds of the work inside it."""

    process: Run
    work: float


def race(contenders: Sequence[Contender], rounds: int, limit: float) -> list[list[Result]]:
    """Run all contenders once per round, one after the other; who failed or is slow runs once."""
    results: list[list[Result]] = [[] for _ in contenders]
    for _ in range(rounds):
        for each, before in zip(contenders, results, strict=True):
            if before and (before[-1].process.failure or before[-1].process.wall > limit / 5):
                continue
            figures = each.out.with_suffix(".json")
            for old in (each.out, figures):
                old.unlink(missing_ok=True)
            process = run(each.command, limit)
            if each.command[0] == SHOAL:
                python = str(Path(SHOAL).with_name("python"))
                run([python, CALL, *each.command[1:], str(figures)], limit)
            said = json.loads(figures.read_text()) if figures.exists() else {}
            before.append(Result(process, said.get("seconds", {}).get("total", float("nan"))))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return results


def show(title: str, contenders: Sequence[Contender], asked: Asked, data: Path | None) -> None:
    """Race, then print one table: medians, and each tool's times over those of the first."""
    for each in contenders:  # compiled before the clock runs: benchmarks.cold measures first runs
        if each.command[0] == SHOAL:
            run(each.command, asked.limit)
    results = race(contenders, asked.rounds, asked.limit)
    original = None if data is None else read_table(data)
    columns = {name: read_column(HIERARCHIES / f"{name}.csv") for name in QUASI}
    print(f"\n### {title}\n")
    print("| tool | seconds | ratio | work | ratio | peak MB | loss | rows | k | |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    first: list[float] = []
    for each, done in zip(contenders, results, strict=True):
        wall = statistics.median(one.process.wall for one in done)
        work = statistics.median(one.work for one in done)
        peak = statistics.median(one.process.peak_mb for one in done)
        first = first or [wall, work]
        figures, remark = "| |", done[-1].process.failure or ""
        if not remark and original is not None:
            released = pl.read_csv(each.out, infer_schema=False)
            if "count" in released.columns:
                released = released.cast({"count": pl.Int64})
            found = measure(released, QUASI, columns, original)
            figures = f"{found.loss:.4f} | {found.rows:,} | {found.k}"
            if "index" in released.columns:
                remark = "publishes the row numbers of its input"
        inside = "|" if math.isnan(work) else f"{work:.2f} | {work / first[1]:.1f}"
        times = f"{wall:.2f} | {wall / first[0]:.1f} | {inside}"
        print(f"| {each.name} | {times} | {peak:.0f} | {figures} | {remark} |", flush=True)


def main() -> None:
    """Run the four jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    asked = parser.parse_args(namespace=Asked())
    python = environment("peers", *PEERS)
    install()
    complete, gaps = tables()
    print(f"Peers: {versions(python)}. Medians of {asked.rounds} interleaved rounds.")
    for title, data in (
        (f"k-anonymity, k = {K}, {30_162:,} complete rows, 8 quasi-identifiers", complete),
        (f"k-anonymity, k = {K}, {48_842:,} rows, 7.4 % of them with gaps", gaps),
    ):
        contenders = [
            ours("shoal", data),
            ours("shoal fast", data, "--effort", "fast"),
            ours("shoal, no hierarchies", data, trees=False),
            ours("k-member", data, "--method", "k-member"),
            ours("mondrian", data, "--method", "mondrian"),
            theirs(python, "anjana k-anonymity", data),
            theirs(python, "anonypy Mondrian", data),
        ]
        show(title, contenders, asked, data)
    contenders = [
        ours("shoal, alpha", complete, "--alpha", str(ALPHA)),
        ours("alpha-k", complete, "--method", "alpha-k", "--alpha", str(ALPHA)),
        theirs(python, "anjana (alpha, k)", complete),
    ]
    title = f"(alpha, k)-anonymity, alpha = {ALPHA} for every income, k = {K}, {30_162:,} rows"
    show(title, contenders, asked, complete)
    released = ours("k-member", complete, "--method", "k-member")
    run(released.command)
    report = BUILD / "bench" / "figures.json"
    audit = [
        SHOAL,
        "audit",
        str(released.out),
        "--quasi",
        ",".join(QUASI),
        "--sensitive",
        SENSITIVE,
    ]
    contenders = [
        Contender("shoal audit", audit, report),
        theirs(python, "pycanon report", released.out),
    ]
    title = "all privacy figures of one release of 30,162 rows"
    show(title, contenders, asked, None)


if __name__ == "__main__":
    main()
