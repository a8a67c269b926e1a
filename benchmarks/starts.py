"""What the start of a process costs on small tables, in the environment that this runs in.

``--against SRC`` (the ``src`` folder of another clone) measures another state of the sources in
alternation, so that a busy machine is busy for both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.process import Run, run
from shoal.tables import demo

OURS = Path(demo.__file__).parents[3]
ROWS = {"shoal": 1_000, "k-member": 9_000}
MAIN = "import sys; sys.argv[0] = 'shoal'; from shoal.cli.main import main; main()"
FLOOR = "import polars, numpy, numba, pyarrow, pydantic, typer"


def commands(folder: Path) -> dict[str, list[str]]:
    """Write the tables, and return what is run on them."""
    patients = pl.read_csv(demo.TABLE)
    python, made = sys.executable, {}
    for method, rows in ROWS.items():
        table = folder / f"{rows}.csv"
        patients.sample(rows, with_replacement=rows > patients.height, seed=1).write_csv(table)
        command = [python, "-c", MAIN, "anonymize", str(table), "--method", method, "--k", "5"]
        command += ["--quasi", ",".join(demo.QUASI), "--sensitive", ",".join(demo.SENSITIVE)]
        command += ["--identifier", ",".join(demo.IDENTIFIER), "--force"]
        command += ["--hierarchies", str(demo.HIERARCHIES), "-o", str(folder / "release.csv")]
        made[f"{method}, {rows:,} rows"] = command
    made["a later `shoal demo`"] = [python, "-c", MAIN, "demo"]
    made[f"the floor: `{FLOOR}`"] = [python, "-c", FLOOR]
    return made


def main() -> None:
    """Measure a first demo and then the least of some runs of everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--against", type=Path, help="the src folder of another state")
    asked = parser.parse_args()
    sources = {"ours": OURS} | ({"against": asked.against} if asked.against else {})
    print("| | sources | seconds | processor seconds | load |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder, envs = Path(name), {}
        for word, source in sources.items():
            # One thread: no second process compiles meanwhile, whose time nobody would count.
            one = {"SHOAL_THREADS": "1", "XDG_CACHE_HOME": str(folder / word)}
            envs[word] = one | {"PYTHONPATH": str(source)}
        tasks = commands(folder)
        first = {word: run([sys.executable, "-c", MAIN, "demo"], env=envs[word]) for word in envs}
        told("a first `shoal demo`, which compiles", {word: [done] for word, done in first.items()})
        for task, command in tasks.items():
            for env in envs.values():
                run(command, env=env)
            done: dict[str, list[Run]] = {word: [] for word in envs}
            for _ in range(asked.rounds):
                for word, env in envs.items():
                    done[word].append(run(command, env=env))
            told(task, done)


def told(task: str, done: dict[str, list[Run]]) -> None:
    """Print the least of each."""
    for word, runs in done.items():
        failed = next((f"  FAILED: {each.failure}" for each in runs if each.failure), "")
        wall, cpu = min(each.wall for each in runs), min(each.cpu for each in runs)
        load = os.getloadavg()[0]
        print(f"| {task} | {word} | {wall:.2f} | {cpu:.2f} | {load:.1f} |{failed}", flush=True)


if __name__ == "__main__":
    main()
