"""Choose the number of threads; results never depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shoal.base.errors import ParameterError
from shoal.base.system import processors

T = TypeVar("T")
R = TypeVar("R")

VARIABLE = "SHOAL_THREADS"


def workers() -> int:
    """Return how many threads to use: what ``SHOAL_THREADS`` says, or else one per processor."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return processors()
    if not said.isdecimal() or int(said) < 1:
        raise ParameterError(
            f"{VARIABLE} must be a whole number of threads from 1 up, got {said!r}. "
            "Unset it to use every processor."
        )
    return int(said)


def limit(threads: int | None) -> None:
    """Use at most so many threads from here on, also in the libraries that are not loaded yet.

    None keeps to ``SHOAL_THREADS``. Call it before polars is imported, which reads its limit once.
    """
    if threads is not None:
        if threads < 1:
            raise ParameterError(f"threads must be at least 1, got {threads}. Try --threads 2.")
        os.environ[VARIABLE] = str(threads)
    if os.environ.get(VARIABLE, "").strip():
        os.environ.setdefault("POLARS_MAX_THREADS", str(workers()))


def share(work: Callable[[T], R], jobs: Iterable[T]) -> list[R]:
    """Return ``work`` of every job, in the order of the jobs."""
    todo: Sequence[T] = list(jobs)
    if len(todo) < 2 or workers() == 1:
        return [work(job) for job in todo]
    with ThreadPoolExecutor(min(workers(), len(todo))) as pool:
        return list(pool.map(work, todo))
