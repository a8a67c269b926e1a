"""Long work in the background, so that a progress bar moves and ctrl-C answers at once."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from shoal.cli import console
from shoal.cli.progress import BAR

T = TypeVar("T")

NOTHING = "Nothing was written."
PROVED = "Keeping what is proved so far. Press ctrl-C again to stop without a release."
ENOUGH = "Taking the best release found so far. Press ctrl-C again to stop without one."
BEST = "ctrl-C takes the best so far"
PROVEN = "ctrl-C keeps what is proved"
BETWEEN = "ctrl-C ends after this one"
COMPILING = (
    "Compiling Shoal's kernels. This happens once for each kind of work and takes up to half a "
    "minute. To compile all of them now: shoal warmup --methods all"
)
AGAIN = (
    "Compiling Shoal's kernels, which can take half a minute. The next run has to compile them "
    "again, because no cache folder belongs to you alone. Set NUMBA_CACHE_DIR to a folder of your "
    "own."
)
NOT_USED = " Your cache is not used, since {}: other users could change compiled code there."


def compiling() -> str:
    """Return what to say while kernels compile."""
    from shoal.kernels import kept, refused

    why = refused()
    return (COMPILING if kept() else AGAIN) + (NOT_USED.format(why) if why else "")


def _first_time() -> bool:
    """Return whether this user was not told yet that kernels are compiled; from now on they are."""
    from shoal.kernels.cache_folder import keeping

    folder = keeping().folder
    if folder is None:
        return True
    mark = folder / "told"
    with contextlib.suppress(OSError):
        mark.touch(0o600, exist_ok=False)
        return True
    return False


def compile_ahead(method: str, *, diverse: bool) -> None:
    """Compile what a method needs last in another process, which ends with this one."""
    from shoal.base.threads import workers
    from shoal.base.workers import Worker
    from shoal.catalog import find_method
    from shoal.kernels import kept

    module = find_method(method).ahead
    if module and kept() and workers() > 1:
        with contextlib.suppress(OSError):  # no room for a process: the run itself compiles all
            Worker(module, quiet=True).send("compile", diverse=diverse)


def run_with_progress(
    call: Callable[[Callable[[str], bool]], T],
    stages: tuple[str, ...],
    between: str = "",
    first: Callable[[], object] | None = None,
) -> T:
    """Run ``call(progress)`` in a thread and show which stage it is in.

    The kernels run without the interpreter lock, so this thread stays free to draw and to hear
    ctrl-C. Nothing is written in the background, so stopping at any moment leaves nothing behind.
    A method that refines its result is asked by the first ctrl-C to take the best it has. Work that
    can end after any stage is asked to do so: ``between`` is what is said then. ``first`` is called
    when kernels have to be compiled.
    """
    state = {"stage": ""}
    enough = threading.Event()
    compiled = threading.Event()
    box: dict[str, T] = {}
    failed: list[BaseException] = []

    def progress(stage: str) -> bool:
        if stage == "compile":
            if not compiled.is_set():  # one of many runs may have told so before
                # The bar shows it as well; the sentence is for the first time, and for logs.
                (
                    console.print_note
                    if not sys.stderr.isatty() or _first_time()
                    else console.print_detail
                )(compiling())
                if first is not None:
                    first()
            compiled.set()
        else:
            if stage.partition(":")[0] != state["stage"].partition(":")[0]:
                console.print_detail(f"{time.perf_counter() - began:.2f} s: {stage}")
            state["stage"] = stage
            BAR.show(*_shown(stage, stages, between and BETWEEN))
        return enough.is_set()

    def work() -> None:
        try:
            box["result"] = call(progress)
        except BaseException as error:  # handed to the caller's thread below
            failed.append(error)
        finally:
            done.set()

    began = time.perf_counter()
    if not console.quiet():
        BAR.start()
    # An event, because a join that ctrl-C interrupts can take the thread for ended.
    done = threading.Event()
    threading.Thread(target=work, daemon=True).start()
    try:
        try:
            _wait(done)
        except KeyboardInterrupt:
            stage = state["stage"].partition(":")[0]
            if stage not in ("refine", "prove") and not between:
                raise
            console.print_note(between or (PROVED if stage == "prove" else ENOUGH))
            enough.set()
            _wait(done)
    except (KeyboardInterrupt, SystemExit) as stop:
        code = 130 if isinstance(stop, KeyboardInterrupt) else 143
        BAR.stop()
        console.print_note(f"Stopped. {NOTHING}")
        sys.stdout.flush()
        sys.stderr.flush()
        # A kernel cannot be told to stop; leaving the normal way would wait for it.
        os._exit(code)
    if failed:
        raise failed[0]
    return box["result"]


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Say that nothing was written when the block is stopped by ctrl-C or a signal."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        console.print_note(f"Stopped. {NOTHING}")
        raise


def _shown(stage: str, stages: tuple[str, ...], between: str) -> tuple[str, tuple[int, int], str]:
    """Return what the bar shows of a stage: its name, how many are over, what ctrl-C does."""
    known = "group" if stage == "refine" else stage
    name = known.partition(":")[0]  # behind it stands how far that is
    over = stages.index(name) if name in stages else 0
    hint = {"refine": BEST, "prove": PROVEN}.get(stage if stage == "refine" else name, between)
    return known, (over, len(stages)), hint


def _wait(done: threading.Event) -> None:
    """Wait in short turns, so that ctrl-C is heard on every system."""
    while not done.wait(0.2):
        pass
