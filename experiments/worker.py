"""The task of a worker process that measures: a point, and the numbers of it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

from experiments.sources import Sources
from shoal.base.errors import ShoalError


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Measure one point; what goes wrong on purpose is an answer too."""
    from experiments.asking import ask, clock, example
    from experiments.measuring import confirm, measure

    point, sources = task["point"], Sources(**task["sources"])
    calls = {"queries": ask, "example": example, "clock": clock, "confirm": confirm}
    kind = "confirm" if task.get("confirm") else point.get("kind", "")
    try:
        if kind in calls:
            return calls[kind](point, sources)
        return measure(point, sources, partial(limited, float(point.get("limit", 0))))
    except ShoalError as error:
        return {"failed": str(error)}


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Let the system end this process once the block has used so many seconds of processor time.

    A kernel cannot be interrupted from inside, and on a busy machine the clock on the wall says
    little. Where the system has no such alarm (Windows) only the caller's patience ends the work.
    """
    if seconds and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    else:
        yield


TASKS = {"measure": lambda _progress, **task: answer(task)}
