"""Measure which share of long work is done, for progress displays.

Whoever works says what is counted and hands over a function that looks at the share that is done,
mostly at an array that a kernel fills. Whoever waits looks when it likes; nothing is slowed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_UNDER_WAY: list[tuple[str, Callable[[], float]]] = []


@contextmanager
def under_way(what: str, look: Callable[[], float]) -> Iterator[None]:
    """Let others see the share of ``what`` that is done while the block runs."""
    mine = (what, look)
    _UNDER_WAY.append(mine)
    try:
        yield
    finally:
        _UNDER_WAY.remove(mine)


def current_share() -> tuple[str, float] | None:
    """Return what is counted and the share of it that is done; None when nothing is."""
    try:
        what, look = _UNDER_WAY[-1]
        return what, min(1.0, max(0.0, float(look())))
    except (IndexError, ZeroDivisionError):  # it ended just now, or has not begun
        return None
