"""A worker process: what it answers, how it ends, and that nobody is left behind."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from shoal.base.to_json import to_plain_data
from shoal.base.workers import Died, Refused, Worker
from tests.processes import alive

TASKS = """
import os, time
from shoal.base.errors import InputError

def echo(progress, **settings):
    print("noise on stdout")
    progress("read"); progress("read"); progress("group")
    return settings

def refuse(progress):
    raise InputError("The table is empty.")

def breaks(progress):
    return {}["nothing"]

def refine(progress):
    while not progress("refine"):
        time.sleep(0.01)
    return "the best so far"

TASKS = {"echo": echo, "refuse": refuse, "breaks": breaks, "refine": refine,
         "leave": lambda progress: os._exit(3), "sleep": lambda progress: time.sleep(60)}
"""


@pytest.fixture
def worker(tmp_path: Path):
    (tmp_path / "tasks_for_a_test.py").write_text(TASKS)
    made = Worker("tasks_for_a_test", [str(tmp_path)], quiet=True)
    yield made
    made.close()


def test_an_answer_and_the_stages_before_it(worker: Worker) -> None:
    stages: list[str] = []
    assert worker.pid is None
    assert worker.ask("echo", stages.append, path="ä", k=3) == {"path": "ä", "k": 3}
    assert stages == ["read", "group"]
    process = worker.pid
    assert worker.ask("echo") == {}
    assert worker.pid == process


def test_what_goes_wrong_is_an_answer(worker: Worker) -> None:
    with pytest.raises(Refused, match="The table is empty") as caught:
        worker.ask("refuse")
    assert caught.value.kind == "InputError"
    with pytest.raises(Refused, match=r"did not foresee \(KeyError\)"):
        worker.ask("breaks")
    assert worker.ask("echo") == {}


def test_a_process_that_ends_is_told_and_started_again(worker: Worker) -> None:
    with pytest.raises(Died, match=r"ended before it was done \(code 3\)"):
        worker.ask("leave")
    assert worker.ask("echo") == {}


def test_enough_and_kill(worker: Worker) -> None:
    assert worker.ask("refine", lambda stage: worker.enough()) == "the best so far"
    threading.Timer(0.2, worker.kill).start()
    with pytest.raises(Died, match="SIGKILL") as caught:
        worker.ask("sleep")
    assert caught.value.code == -signal.SIGKILL
    assert worker.ask("echo") == {}


def test_a_closed_worker_starts_no_process_again(worker: Worker) -> None:
    worker.ask("echo")
    worker.close()
    with pytest.raises(Refused, match="dismissed before all was done"):
        worker.ask("echo")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_worker_ends_with_who_asked_it(tmp_path: Path, worker: Worker) -> None:
    import subprocess

    code = (
        "import os\nfrom shoal.base.workers import Worker\n"
        f"worker = Worker('tasks_for_a_test', [{str(tmp_path)!r}])\n"
        "worker.send('sleep')\nprint(worker.pid, flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    end = time.monotonic() + 10
    while alive(int(done.stdout)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(int(done.stdout))


def test_what_json_can_hold() -> None:
    import numpy as np

    told = to_plain_data({"a": np.arange(2), "b": np.float64("inf"), 3: (np.int64(1), {Path("x")})})
    assert told == {"a": [0, 1], "b": None, "3": [1, ["x"]]}
