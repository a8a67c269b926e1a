"""The progress line on the terminal.

A thread of its own draws it, so it also moves while libraries load. Whatever is said meanwhile
takes the line away first, so that nothing is printed through it.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.base import compiling, progress_share

PATIENCE = 0.3  # seconds before the line appears
REMAINING = 5.0  # seconds after which what is left can be told
COMPILING = "compiling for this machine, once"
_SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WIDTH = 24


class ProgressLine:
    """The line: a stage, the share of it that is done, seconds, and what ctrl-C would do."""

    def __init__(self) -> None:
        self.stage, self.hint, self.done = "starting", "", None
        self._lock = threading.RLock()
        self._began = self._stage_began = time.perf_counter()
        self._drawn = False
        self._over = threading.Event()
        self._over.set()

    stage: str
    hint: str
    done: tuple[int, int] | None
    _told: tuple[str, float, float] | None = None  # what is counted, since when, from which share

    def start(self) -> None:
        """Begin to draw, if there is a terminal to draw on."""
        if not self._over.is_set() or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return
        self._over.clear()
        self._began = time.perf_counter()
        threading.Thread(target=self._draw, daemon=True).start()

    def stop(self) -> None:
        """Take the line away for good."""
        with self._lock:
            self._over.set()
            self._clear()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while the block prints something."""
        with self._lock:
            self._clear()
            yield
            if not self._over.is_set():
                sys.stdout.flush()

    def show(self, stage: str, done: tuple[int, int] | None = None, hint: str = "") -> None:
        """Say what is being done, how many of how many stages are over, and what can be done."""
        self.stage, self.done, self.hint = stage, done, hint

    def _draw(self) -> None:
        self._over.wait(PATIENCE)
        turn = 0
        while not self._over.is_set():
            text = self.text(time.perf_counter(), _SPIN[turn % len(_SPIN)])
            with self._lock:
                if not self._over.is_set():
                    sys.stderr.write(f"\r\x1b[2K{text}")
                    sys.stderr.flush()
                    self._drawn = True
            turn += 1
            self._over.wait(0.1)

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._drawn = False

    def text(self, at: float, sign: str = _SPIN[0]) -> str:
        """Return the line as it stands at a moment."""
        busy = compiling.compiling_progress()
        counted = None if busy else progress_share.current_share()
        words, share = self.stage, None
        if busy is not None:  # a line of its own: the work stands still meanwhile
            words, share = (
                f"{COMPILING}: {busy[0]} of {busy[1]} functions",
                busy[0] / max(busy[1], 1),
            )
        elif counted is not None:
            what, share = counted
            words = f"{self.stage}: {what} {100 * share:.0f} %"
        elif self.done is not None:
            share = self.done[0] / max(self.done[1], 1)
        line = f"{sign} {words}"
        if share is not None:
            full = round(_WIDTH * share)
            line += f" {'━' * full}{'╌' * (_WIDTH - full)}"
        line += f" {_clock(at - self._began)}"
        if (left := self._left(at, counted)) is not None:
            line += f", about {_clock(left)} left"
        room = shutil.get_terminal_size().columns - 1
        whole = f"{line}  {self.hint}" if self.hint else line
        return (whole if len(whole) <= room else line)[:room]

    def _left(self, at: float, counted: tuple[str, float] | None) -> float | None:
        """Return the seconds that what is counted will take, once that can be told."""
        if counted is None:
            self._told = None
            return None
        what, share = counted
        if self._told is None or self._told[0] != what or share < self._told[2]:
            self._told = (what, at, share)
        _, since, first = self._told
        if at - since < REMAINING or share - first < 0.01:
            return None
        return (at - since) * (1 - share) / (share - first)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"


BAR = ProgressLine()
