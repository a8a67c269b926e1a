"""Long work in the background, so that a progress bar moves and ctrl-C answers at once."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from shoal.cli import say

T = TypeVar("T")

PATIENCE = 1.0  # seconds before a progress bar is worth looking at
NOTHING = "Nothing was written."
PROVED = "Keeping what is proved so far. Press ctrl-C again to stop without a release."
ENOUGH = "Taking the best release found so far. Press ctrl-C again to stop without one."
COMPILING = "Compiling the search for this machine. This happens once and can take half a minute."
AGAIN = (
    "Compiling the search for this machine, which can take half a minute. There is no folder that "
    "you and nobody else can write to, so the next run has to do it again: set NUMBA_CACHE_DIR to "
    "a folder of your own."
)
NOT_USED = " Your cache is not used, since {}: compiled code there could be somebody else's."


def compiling() -> str:
    """Return what to say while kernels compile."""
    from shoal.kernels import kept, refused

    why = refused()
    return (COMPILING if kept() else AGAIN) + (NOT_USED.format(why) if why else "")


def ahead(method: str, *, diverse: bool) -> None:
    """Compile what a method needs last in another process, which ends with this one."""
    from shoal.base.threads import workers
    from shoal.base.workers import Worker
    from shoal.catalog import find_method
    from shoal.kernels import kept

    module = find_method(method).ahead
    if module and kept() and workers() > 1:
        with contextlib.suppress(OSError):  # no room for a process: the run itself compiles all
            Worker(module, quiet=True).send("compile", diverse=diverse)


def watch(
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
                say.note(compiling())
                if first is not None:
                    first()
            compiled.set()
        else:
            state["stage"] = stage
        return enough.is_set()

    def work() -> None:
        try:
            box["result"] = call(progress)
        except BaseException as error:  # handed to the caller's thread below
            failed.append(error)
        finally:
            done.set()

    # An event, because a join that ctrl-C interrupts can take the thread for ended.
    done = threading.Event()
    threading.Thread(target=work, daemon=True).start()
    try:
        try:
            _wait(done, state, stages)
        except KeyboardInterrupt:
            stage = _named(state["stage"])
            if stage not in ("refine", "prove") and not between:
                raise
            say.note(between or (PROVED if stage == "prove" else ENOUGH))
            enough.set()
            _wait(done, state, stages)
    except (KeyboardInterrupt, SystemExit) as stop:
        code = 130 if isinstance(stop, KeyboardInterrupt) else 143
        say.note(f"Stopped. {NOTHING}")
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
        say.note(f"Stopped. {NOTHING}")
        raise


def _named(stage: str, refining: str = "refine") -> str:
    """Return the name of a stage without how far it is."""
    return refining if stage == "refine" else stage.partition(":")[0]


def _wait(done: threading.Event, state: dict[str, str], stages: tuple[str, ...]) -> None:
    if done.wait(PATIENCE):
        return
    if not sys.stderr.isatty():
        while not done.wait(0.2):
            pass
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(stages))
        while not done.wait(0.05):
            stage = state["stage"]
            stages_done = stages.index(_named(stage, "group")) if stage else 0
            bar.update(task, description=stage, completed=stages_done)
