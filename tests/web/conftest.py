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
        stdin=subprocess.PIPE,
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
        for stream in (process.stdin, process.stderr):
            if stream:
                stream.close()


def another(process: subprocess.Popen[str]) -> str:
    """Press Enter, as somebody does who needs a new address."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return address(process)


def address(process: subprocess.Popen[str], patience: float = 60) -> str:
    """Wait until the server prints where it is."""
    assert process.stderr is not None
    heard, end = "", time.monotonic() + patience
    while time.monotonic() < end:
        if select.select([process.stderr], [], [], 0.2)[0]:
            # Not by lines: those that a reader keeps for later are not seen by select.
            text = os.read(process.stderr.fileno(), 1 << 16).decode()
            heard += text
            found = re.search(r"(http://\S+)\s", heard)
            if found:
                return found[1]
            if not text:
                break
    raise AssertionError(f"the server did not start: {heard}")
