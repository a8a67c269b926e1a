"""Break what makes releases in one place at a time: how many bad releases get past the check?

``python -m benchmarks.broken_makers [--sample 300] [--seed 1] [--kernels]`` changes one thing in a
copy of the package (groupers, coding, making of every shape), makes 14 releases with each change
(:mod:`benchmarks.broken_plans`) and lets code that shares nothing with the package judge what was
handed out. ``--kernels``: the kernels instead, as plain Python, which takes ten times as long. The
exit code is 1 if a bad release got out.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools.mutating.changes import Change, changes
from tools.mutating.running import ROOT, Copy

SOURCE = ROOT / "src" / "shoal"
MAKERS = ("groupers/**/*.py", "coding/*.py", "releases/*/make.py", "tables/set_cells.py")
KERNELS = ("kernels/**/*.py",)


def sample(patterns: tuple[str, ...], size: int, seed: int) -> list[tuple[str, Change]]:
    """Return some of the changes of the modules that match."""
    modules = sorted({path for pattern in patterns for path in SOURCE.glob(pattern)})
    every = [(str(m.relative_to(SOURCE)), c) for m in modules for c in changes(m.read_text())]
    return random.Random(seed).sample(every, min(size, len(every)))


def outcomes(copy: Copy, seconds: float, *, compiled: bool) -> list[str]:
    """Return what becomes of every plan with the package as it is now."""
    known = {**os.environ, "PYTHONPATH": f"{copy.source}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    known |= {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    words = [sys.executable, "-m", "benchmarks.broken_plans"]
    try:
        done = subprocess.run(
            words, check=False, cwd=ROOT, env=known, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        return [*text.splitlines(), "failed (no end)"]
    return done.stdout.splitlines() or ["failed (no start)"]


def main(args: list[str]) -> int:
    """Print the figures: 1 if a bad release got out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", action="store_true")
    asked = parser.parse_args(args)
    counted: Counter[str] = Counter()
    stopped = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        usual = outcomes(copy, 900, compiled=not asked.kernels)
        if not all(line.startswith("good") for line in usual):
            print("\n".join(["Without a change the plans give:", *usual]))
            return 2
        tried = sample(KERNELS if asked.kernels else MAKERS, asked.sample, asked.seed)
        for module, change in tried:
            with copy.changed(module, change.source):
                lines = outcomes(copy, 300, compiled=not asked.kernels)
            kinds = [line.split(maxsplit=1)[0] for line in lines]
            counted.update(kinds)
            stopped += "refused" in kinds
            for line in lines:
                if line.startswith("BAD"):
                    print(f"{module}:{change}\n    {line}", flush=True)
    bad = counted["refused"] + counted["BAD"]
    print(
        f"{len(tried)} changes, {counted.total()} releases: {counted['good']} good, "
        f"{counted['failed']} stopped by an error, {bad} bad, of which {counted['BAD']} got out "
        f"({stopped} changes made a bad release that the check stopped)"
    )
    return 1 if counted["BAD"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
