"""Several processes that measure, each told what to do point by point; one that hangs is ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shoal
from shoal.base.errors import ShoalError

PATIENCE = 1800.0
"""Seconds after which a worker is ended, whatever it does."""


@dataclass(frozen=True)
class Task:
    """What a worker is asked."""

    name: str
    order: dict[str, Any]


class WorkerFailed(ShoalError):
    """A worker ended without an answer."""


class _Worker:
    """A worker process; started when first asked, and again after it was ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- lives as long as the worker
        self.late = False
        self.dismissed = False
        # Two threads end a process: the one that asked it, and the one that ends the whole crew.
        self.lock = threading.Lock()

    def ask(self, task: Task) -> dict[str, Any]:
        process = self._process()
        assert process.stdin is not None
        assert process.stdout is not None
        self.late = False
        clock = threading.Timer(PATIENCE, self._give_up)
        clock.start()
        try:
            process.stdin.write(json.dumps(task.order) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # gone, or closed by a thread that ends all
            line = ""
        finally:
            clock.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = self.stop()
        if self.late:
            return {"gave_up": PATIENCE}
        if code == -int(getattr(signal, "SIGPROF", 0)):
            return {"gave_up": float(task.order["point"]["limit"])}
        self.said.seek(0)
        last = (self.said.read().strip().splitlines() or ["it said nothing"])[-1]
        raise WorkerFailed(
            f"A process that measured ended without an answer: {last}. It was asked: "
            f"{json.dumps(task.order['point'])}. Run the command again; what is measured is kept."
        )

    def _process(self) -> subprocess.Popen[str]:
        with self.lock:
            if self.dismissed:
                raise WorkerFailed("The crew was dismissed before all was measured.")
            self.process = self.process or self._start()
            return self.process

    def _start(self) -> subprocess.Popen[str]:
        # The same copies of the packages, however this process came to them.
        homes = (Path(shoal.__file__).parents[1], Path(__file__).resolve().parents[1])
        paths = [*map(str, homes), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.Popen(
            [sys.executable, "-m", "experiments.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env=environment,
        )

    def _give_up(self) -> None:
        self.late = True
        if self.process is not None:
            self.process.kill()

    def stop(self) -> int | None:
        """End the process and return its code: below 0, the signal that ended it."""
        with self.lock:
            process, self.process = self.process, None
            if process is None:
                return None
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):  # what a process that is gone did not read
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)  # it may be ending by itself, and its code tells why
            process.kill()
            code = process.wait()
            # Not earlier: another thread may be reading, and lets go only when the process is gone.
            process.stdout.close()
            return code

    def dismiss(self) -> None:
        """End the process for good: a thread that still holds tasks cannot start it again."""
        with self.lock:
            self.dismissed = True
        self.stop()
        self.said.close()


class Crew:
    """A few workers, kept between one round of tasks and the next; a context manager."""

    def __init__(self, jobs: int) -> None:
        self.workers = [_Worker() for _ in range(jobs)]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.dismiss()

    def measured(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, Any]]]:
        """Have tasks measured and yield the answers as they come."""
        todo: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            todo.put(task)
        done: queue.SimpleQueue[tuple[Task, dict[str, Any]] | BaseException] = queue.SimpleQueue()

        def work(worker: _Worker) -> None:
            try:
                while True:
                    try:
                        task = todo.get_nowait()
                    except queue.Empty:
                        return
                    done.put((task, worker.ask(task)))
            except BaseException as error:  # handed to the thread that waits
                done.put(error)

        for worker in self.workers[: len(tasks)]:
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        for _ in tasks:
            got = done.get()
            if isinstance(got, BaseException):
                raise got
            yield got
