"""The first run compiles the kernels: let whoever waits know."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass
class Compiled:
    """The seconds spent compiling."""

    seconds: float = 0.0


_UNDER_WAY: list[None] = []  # one for every kernel that is being compiled


def now() -> bool:
    """Return whether a kernel is being compiled at this moment."""
    return bool(_UNDER_WAY)


@contextlib.contextmanager
def announced(tell: Callable[[], object]) -> Iterator[Compiled]:
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

        def on_start(self, event: object) -> None:
            """Tell at the first one."""
            if not self.told:
                self.told = True
                tell()
            if not self.depth:
                self.since = time.perf_counter()
            self.depth += 1
            _UNDER_WAY.append(None)

        def on_end(self, event: object) -> None:
            """Count what the outermost one took."""
            self.depth -= 1
            _UNDER_WAY.pop()
            if not self.depth:
                spent.seconds += time.perf_counter() - self.since

    with event.install_listener("numba:compile", Listener()):
        yield spent
