"""What a start costs: importing, help, and the very first run, which compiles."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.peers.__main__ import SHOAL, install, ours, tables
from benchmarks.process import Run, run


def told(name: str, done: Run) -> None:
    """Print one line."""
    failed = f"  FAILED: {done.failure}" if done.failure else ""
    print(f"| {name} | {done.wall:.2f} | {done.cpu:.2f} |{failed}", flush=True)


def main() -> None:
    """Measure the starts; the first run and the second share a cache folder that begins empty."""
    python = install()
    run([SHOAL, "--help"])  # Python compiles our modules once, as pip does when it installs them
    print("\n### Starts\n\n| | seconds | processor seconds |\n|---|---|---|")
    told("python -c 'import shoal'", run([python, "-c", "import shoal"]))
    told("shoal --help", run([SHOAL, "--help"]))
    complete, _ = tables()
    with tempfile.TemporaryDirectory() as folder:
        env = {"XDG_CACHE_HOME": str(Path(folder))}
        for flags in ((), ("--method", "k-member")):
            command = ours("cold", complete, *flags).command
            name = flags[-1] if flags else "shoal"
            told(f"first run of {name}: compiles", run(command, env=env))
            told("the same once more", run(command, env=env))


if __name__ == "__main__":
    main()
