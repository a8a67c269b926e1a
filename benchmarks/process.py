"""Run a command and tell what it took: wall time, processor time, peak memory."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One finished process. ``failure`` is what it said last when it did not end well."""

    wall: float
    cpu: float
    peak_mb: float
    failure: str | None = None


def run(command: Sequence[str], limit: float = 900.0, env: dict[str, str] | None = None) -> Run:
    """Run a command to its end, or to the limit in seconds.

    Python keeps what it compiles, as it does for users, whatever the shell we are called from says.
    """
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as said:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**kept, **(env or {})},
            start_new_session=True,
        )
        late = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - begun > limit and not late:
                late = True
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.002)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    failure = None
    if late:
        failure = f"not done after {limit:.0f} s"
    elif process.returncode:
        failure = lines[-1].strip()[:160] if lines else f"ended with {process.returncode}"
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, failure)
