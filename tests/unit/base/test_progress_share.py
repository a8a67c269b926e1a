"""How far work is: what a bar shows of it, and that methods let others look."""

from __future__ import annotations

import io
import sys
import time
from typing import Any

import numpy as np
import polars as pl
import pytest
from numba.core import event

from shoal.base import compiling, progress_share
from shoal.base.progress_share import under_way
from shoal.cli.background import BEST, run_with_progress
from shoal.cli.progress import BAR, ProgressLine


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_nothing_is_under_way_outside_a_block() -> None:
    assert progress_share.current_share() is None
    with under_way("rows", lambda: 0.25):
        assert progress_share.current_share() == ("rows", 0.25)
        with under_way("trials", lambda: 7.0):
            assert progress_share.current_share() == ("trials", 1.0), "no share is more than all"
        assert progress_share.current_share() == ("rows", 0.25)
    assert progress_share.current_share() is None


def test_the_line_tells_the_share_and_after_five_seconds_what_is_left() -> None:
    bar, share = ProgressLine(), [0.1]
    bar.show("group", (2, 6), BEST)
    start = time.perf_counter()
    assert "about" not in bar.text(start)
    with under_way("trials", lambda: share[0]):
        assert "group: trials 10 %" in bar.text(start)
        share[0] = 0.2
        assert "left" not in bar.text(start + 4.9)
        # A tenth of the work in ten seconds: 80 more.
        assert "about 1:20 min left" in bar.text(start + 10)
        assert bar.text(start).endswith(BEST)
        assert len(bar.text(start + 10)) < 80


TABLE = np.arange(2)


class Kernel:
    """What numba makes of a function, as far as counting goes."""

    def __init__(self, function: Any) -> None:
        self.py_func = function


@Kernel
def inmost() -> int:
    """Call nothing, but name an array, as kernels do."""
    return int(TABLE[0])


@Kernel
def within() -> None:
    inmost()  # type: ignore[operator]


@Kernel
def outer() -> None:
    within()  # type: ignore[operator]
    inmost()  # type: ignore[operator]


def test_compiling_has_a_line_of_its_own_that_counts_functions() -> None:
    bar, told = ProgressLine(), []
    bar.show("group", (2, 6), BEST)
    compiling._ASKED.clear()
    compiling._DONE.clear()
    with compiling.announce_compiling(lambda: told.append(1)):
        for _ in range(2):  # the second time for other arguments
            event.start_event("numba:compile", {"dispatcher": outer})
            assert "once: 0 of 3 functions ╌" in bar.text(time.perf_counter())
            for part in (inmost, within):
                event.start_event("numba:compile", {"dispatcher": part})
                event.end_event("numba:compile", {"dispatcher": part})
            assert "group" not in bar.text(time.perf_counter())
            assert "once: 2 of 3 functions ━━━━━━━━━━━━━━━━╌" in bar.text(time.perf_counter())
            event.end_event("numba:compile", {"dispatcher": outer})
            assert compiling.compiling_progress() is None
    assert told == [1]
    assert "group" in bar.text(time.perf_counter())


def test_a_narrow_terminal_gets_a_short_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    bar = ProgressLine()
    bar.show("group", (2, 6), BEST)
    assert len(bar.text(time.perf_counter())) < 30


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def test_nothing_is_printed_through_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    bar = ProgressLine()
    bar.start()
    deadline = time.perf_counter() + 10
    while "starting" not in screen.getvalue() and time.perf_counter() < deadline:
        time.sleep(0.02)
    with bar.aside():
        screen.write("a sentence\n")
    bar.stop()
    lines = screen.getvalue().split("a sentence\n")[0]
    assert lines.endswith("\r\x1b[2K"), "the line was taken away before the sentence"
    after = screen.getvalue()
    time.sleep(0.3)
    assert screen.getvalue() == after, "nothing is drawn once it was stopped"
    assert after.endswith(("\r\x1b[2K", "a sentence\n"))


def test_refining_says_what_ctrl_c_does() -> None:
    seen = []

    def work(progress: object) -> int:
        assert callable(progress)
        for stage in ("read", "group", "refine", "verify"):
            progress(stage)
            seen.append((BAR.stage, BAR.done, BAR.hint))
        return 1

    assert run_with_progress(work, ("read", "group", "verify")) == 1
    assert seen == [
        ("read", (0, 3), ""),
        ("group", (1, 3), ""),
        ("group", (1, 3), BEST),
        ("verify", (2, 3), ""),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "what"), [("k-member", "rows grouped"), ("shoal", "trials")])
def test_methods_let_others_look(method: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import shoal

    told: list[str] = []
    real = progress_share.under_way
    shares: list[float] = []

    def noting(counted: str, look: object) -> object:
        told.append(counted)
        block = real(counted, look)  # type: ignore[arg-type]
        shares.append(look())  # type: ignore[operator]
        return block

    for module in ("growth", "shoal.peel", "shoal.trials"):
        monkeypatch.setattr(f"shoal.groupers.{module}.under_way", noting)
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 50, 200), "b": rng.integers(0, 9, 200)})
    shoal.anonymize(frame, quasi=["a", "b"], k=3, method=method, seed=1)
    assert what in told
    assert all(0 <= share <= 1 for share in shares)
