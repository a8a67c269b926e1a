"""Report that kernels are being compiled, and how many are done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any


@dataclass
class Compiled:
    """The seconds spent compiling."""

    seconds: float = 0.0


_UNDER_WAY: list[None] = []  # one for every kernel that is being compiled
_ASKED: set[FunctionType] = set()  # what the kernels met so far are made of
_DONE: set[FunctionType] = set()  # what of it is compiled


def compiling_progress() -> tuple[int, int] | None:
    """Return how many functions of how many are compiled, None when none is at this moment."""
    return (len(_DONE), len(_ASKED)) if _UNDER_WAY else None


def kernels_called(function: FunctionType) -> set[FunctionType]:
    """Return a kernel's function and those of all that it calls, however indirectly."""
    reached, waiting = set(), [function]
    while waiting:
        function = waiting.pop()
        if function not in reached:
            reached.add(function)
            named: Iterator[Any] = map(function.__globals__.get, function.__code__.co_names)
            # Kernels name arrays too, and those have no truth value.
            waiting += [value.py_func for value in named if hasattr(value, "py_func")]
    return reached


def _of(event: Any) -> set[FunctionType]:
    """Return the function that an event speaks of, if it names one."""
    dispatcher = (event.data or {}).get("dispatcher")
    return set() if dispatcher is None else {dispatcher.py_func}


def _begun(event: Any) -> None:
    """Count what is ahead; a kernel that is compiled for other arguments starts anew."""
    parts = set().union(*map(kernels_called, _of(event)))
    if parts <= _DONE:
        _DONE.difference_update(parts)
    _ASKED.update(parts)


@contextlib.contextmanager
def announce_compiling(tell: Callable[[], object]) -> Iterator[Compiled]:
    """Call ``tell`` once if a kernel has to be compiled inside the block, and time it.

    Kernels that come from the disk cache are not compiled, so a second run stays silent.
    """
    from numba.core import event

    spent = Compiled()

    class Listener(event.Listener):
        """Hears compilations."""

        told = False
        depth = 0  # compiling a kernel compiles those it calls, all under one lock
        since = 0.0

        def on_start(self, event: Any) -> None:
            """Tell at the first one."""
            if not self.told:
                self.told = True
                tell()
            if not self.depth:
                self.since = time.perf_counter()
                _begun(event)
            self.depth += 1
            _UNDER_WAY.append(None)

        def on_end(self, event: Any) -> None:
            """Count what the outermost one took."""
            if not self.depth:  # another thread began it before anything listened
                return
            self.depth -= 1
            _UNDER_WAY.pop()
            _DONE.update(_ASKED & _of(event))
            if not self.depth:
                _DONE.update(_ASKED)  # some may have come from the disk
                spent.seconds += time.perf_counter() - self.since

    with event.install_listener("numba:compile", Listener()):
        yield spent
