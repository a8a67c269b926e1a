"""Several processes that measure, each told what to do point by point; one that hangs is ended."""

from __future__ import annotations

import json
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shoal
from shoal.base.errors import ShoalError
from shoal.base.workers import Died, Refused, Worker

PATIENCE = 1800.0
"""Seconds after which a worker is ended, whatever it does."""

# The same copies of the packages, however this process came to them.
HOMES = (str(Path(shoal.__file__).parents[1]), str(Path(__file__).resolve().parents[1]))


@dataclass(frozen=True)
class Task:
    """What a worker is asked."""

    name: str
    order: dict[str, Any]


class WorkerFailed(ShoalError):
    """A worker ended without an answer."""


def ask(worker: Worker, task: Task) -> dict[str, Any]:
    """Have a point measured, or given up after its limit of processor time or our patience."""
    clock = threading.Timer(PATIENCE, worker.kill)
    clock.start()
    try:
        answer: dict[str, Any] = worker.ask("measure", **task.order)
    except (Died, Refused) as fault:
        if clock.finished.is_set():
            return {"gave_up": PATIENCE}
        if isinstance(fault, Died) and fault.code == -int(getattr(signal, "SIGPROF", 0)):
            return {"gave_up": float(task.order["point"]["limit"])}
        raise WorkerFailed(
            f"A process that measured ended without an answer: {fault} It was asked: "
            f"{json.dumps(task.order['point'])}. Run the command again; what is measured is kept."
        ) from None
    finally:
        clock.cancel()
    return answer


class Crew:
    """A few workers, kept between one round of tasks and the next; a context manager."""

    def __init__(self, jobs: int) -> None:
        self.workers = [Worker("experiments.worker", HOMES) for _ in range(jobs)]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()

    def measured(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, Any]]]:
        """Have tasks measured and yield the answers as they come."""
        todo: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            todo.put(task)
        done: queue.SimpleQueue[tuple[Task, dict[str, Any]] | BaseException] = queue.SimpleQueue()

        def work(worker: Worker) -> None:
            try:
                while True:
                    try:
                        task = todo.get_nowait()
                    except queue.Empty:
                        return
                    done.put((task, ask(worker, task)))
            except BaseException as error:  # handed to the thread that waits
                done.put(error)

        for worker in self.workers[: len(tasks)]:
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        for _ in tasks:
            got = done.get()
            if isinstance(got, BaseException):
                raise got
            yield got
