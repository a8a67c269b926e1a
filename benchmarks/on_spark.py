"""What runs on Spark take: seconds and processor seconds of Java, the driver and its workers.

``--against SRC`` (the ``src`` folder of another clone) measures another state of the sources in
alternation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

DATA = Path(__file__).parents[2] / "shared" / "data" / "acs_occ_300k.parquet"
QUASI = "age,sex,marital,race,birthplace,education,work_class"
MAIN = "import sys; sys.argv[0] = 'shoal'; from shoal.cli.main import main; main()"


def spent(session: int, seen: dict[str, tuple[str, float]]) -> None:
    """Note what every process of a session has taken so far, by its number and name."""
    tick = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            head, _, tail = (folder / "stat").read_text().rpartition(")")
        except OSError:  # it ended meanwhile
            continue
        words = tail.split()
        if int(words[3]) == session:
            taken = (int(words[11]) + int(words[12])) / tick
            seen[folder.name] = (head.partition("(")[2], taken)


def measured(command: list[str], env: dict[str, str]) -> tuple[float, dict[str, float], str]:
    """Run a command; return its seconds, its processor seconds by program, and its last words."""
    seen: dict[str, tuple[str, float]] = {}
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **env},
            start_new_session=True,
        )
        while process.poll() is None:
            spent(process.pid, seen)
            time.sleep(0.05)
        wall = time.perf_counter() - begun
        said.seek(0)
        last = said.read().strip().splitlines()[-1]
    totals: dict[str, float] = {}
    for name, taken in seen.values():
        kind = name if name == "java" else "python"
        totals[kind] = totals.get(kind, 0.0) + taken
    return wall, totals, last if process.returncode else ""


def main() -> None:
    """Measure every method on every number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[300_000])
    parser.add_argument("--methods", nargs="+", default=["mondrian"])
    parser.add_argument("--report", action="store_true", help="write the report, too")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path, help="the src folder of another state")
    asked = parser.parse_args()
    sources = {"ours": Path(__file__).parents[1] / "src"}
    sources |= {"against": asked.against} if asked.against else {}
    print("| rows | method | sources | seconds | Java | Python | load |")
    print("|---|---|---|---|---|---|---|")
    frame = pl.read_parquet(DATA)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in asked.rows:
            table = folder / f"{rows}.parquet"
            frame.sample(rows, with_replacement=rows > frame.height, seed=1).write_parquet(table)
            for method in asked.methods:
                words = ["anonymize", str(table), "--engine", "spark", "--master", "local[2]"]
                words += ["--method", method, "--quasi", QUASI, "--sensitive", "occupation"]
                words += ["--k", "10", "--force"]
                words += ["-o", str(folder / "release")]
                words += ["--report", str(folder / "report.html")] if asked.report else []
                for _ in range(asked.rounds):
                    for word, source in sources.items():
                        command = [sys.executable, "-c", MAIN, *words]
                        wall, cpu, fault = measured(command, {"PYTHONPATH": str(source)})
                        java, python = cpu.get("java", 0.0), cpu.get("python", 0.0)
                        line = f"{rows:,} | {method} | {word} | {wall:.0f} | {java:.0f}"
                        load = os.getloadavg()[0]
                        print(f"| {line} | {python:.0f} | {load:.1f} | {fault}", flush=True)


if __name__ == "__main__":
    main()
