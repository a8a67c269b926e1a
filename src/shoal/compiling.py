"""The first run compiles the kernels: let whoever waits know."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def announced(tell: Callable[[], object]) -> Iterator[None]:
    """Call ``tell`` once if a kernel has to be compiled inside the block.

    Kernels that come from the disk cache are not compiled, so a second run stays silent.
    """
    from numba.core import event

    class Listener(event.Listener):
        """Hears compilations."""

        told = False

        def on_start(self, event: object) -> None:
            """Tell at the first one."""
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: object) -> None:
            """Nothing to say."""

    with event.install_listener("numba:compile", Listener()):
        yield
