"""Run the tests of a module against one changed copy of the package after the other."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUIET = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not deep")


class Copy:
    """A copy of the package in a folder, in which one module at a time is changed.

    Its compiled files are found by the content of their sources: two changes within a second have
    the same time and often the same length.
    """

    def __init__(self, folder: Path) -> None:
        self.source = folder / "src"
        shutil.copytree(
            ROOT / "src", self.source, ignore=shutil.ignore_patterns("__pycache__", "*.so")
        )
        compiled = (sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash")
        subprocess.run([*compiled, str(self.source)], check=True)  # noqa: S603

    def survives(self, module: str, source: str, tests: Sequence[str], seconds: float) -> bool:
        """Tell whether the tests pass with a module changed; what does not end is noticed."""
        with self.changed(module, source):
            return self.passes(tests, seconds)

    @contextmanager
    def changed(self, module: str, source: str) -> Iterator[None]:
        """Have another source in place of a module for a while."""
        path = self.source / "shoal" / module
        before = path.read_text()
        path.write_text(source)
        try:
            yield
        finally:
            path.write_text(before)

    def passes(self, tests: Sequence[str], seconds: float) -> bool:
        """Tell whether tests pass within some seconds with the package as it is now."""
        known = {**os.environ, "PYTHONPATH": str(self.source), "PYTHONDONTWRITEBYTECODE": "1"}
        running = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "pytest", *QUIET, *tests],
            cwd=ROOT,
            env=known,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return running.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
