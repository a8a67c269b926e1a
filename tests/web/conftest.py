"""A page to test: in this process for single requests, as the real command for a browser."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the page needs pip install 'shoal[web]'")

with warnings.catch_warnings():
    # Which of two HTTP libraries drives it is a matter between them.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

__all__ = ["SHARED", "TestClient", "serving"]

SHARED = Path(__file__).parents[3] / "shared" / "data"


@contextmanager
def serving(*words: str, cwd: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run ``shoal serve`` and yield the address it prints."""
    shoal = Path(sys.executable).with_name("shoal")
    process = subprocess.Popen(
        [str(shoal), "serve", "--no-browser", *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield address(process), process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


def address(process: subprocess.Popen[str], patience: float = 60) -> str:
    """Wait until the server prints where it is."""
    assert process.stderr is not None
    heard, end = "", time.monotonic() + patience
    while time.monotonic() < end:
        if select.select([process.stderr], [], [], 0.2)[0]:
            line = process.stderr.readline()
            heard += line
            found = re.search(r"http://\S+", line)
            if found:
                return found[0]
            if not line:
                break
    raise AssertionError(f"the server did not start: {heard}")
