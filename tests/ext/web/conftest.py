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

from shoal.base.workers import Refused, Worker, _reaped

pytest.importorskip("starlette", reason="the page needs pip install 'shoal[web]'")

with warnings.catch_warnings():
    # Which of two HTTP libraries drives it is a matter between them.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

__all__ = ["SHARED", "TestClient", "serving"]

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def kept() -> Iterator[None]:
    """Hand a worker that has nothing to do from one page of this process to the next.

    Each takes seconds to load libraries and kernels, and every page has two. Commands that are
    started as such have workers of their own.
    """
    idle: list[tuple[object, subprocess.Popen[str]]] = []
    start, ask, close = Worker._start, Worker.ask, Worker.close
    busy: set[Worker] = set()

    def kind(worker: Worker) -> object:
        own = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
        return worker.module, worker.paths, worker.quiet, own

    def started(worker: Worker) -> subprocess.Popen[str]:
        place = next((n for n, (key, _) in enumerate(idle) if key == kind(worker)), None)
        process = start(worker) if place is None else idle.pop(place)[1]
        return process if process.poll() is None else started(worker)

    def asked(worker: Worker, *args: object, **settings: object) -> object:
        busy.add(worker)  # and for good when a question is broken off
        try:
            answer = ask(worker, *args, **settings)
        except Refused:
            busy.discard(worker)
            raise
        busy.discard(worker)
        return answer

    def closed(worker: Worker) -> None:
        process = worker._process
        if process is not None and worker not in busy and not worker._killed:
            worker._process = None
            idle.append((kind(worker), process))
        close(worker)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "_start", started)
        patch.setattr(Worker, "ask", asked)
        patch.setattr(Worker, "close", closed)
        yield
    for _, process in idle:
        process.kill()
        _reaped(process)


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
