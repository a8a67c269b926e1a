"""The process of the ``shoal`` command: from its start to its exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; every error on purpose is one message and exit code 2."""
    # Loading libraries makes many objects (160,000 that Python watches, for a small table) and next
    # to no garbage: look for it less often.
    gc.set_threshold(300_000, 10, 10)
    # Numpy starts threads for large matrices as soon as it is loaded; only the small classifier
    # of `compare` has any.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Pydantic would look for plugins in all that is installed; a plan needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    try:
        from shoal.base.system import on_termination

        on_termination(_terminated)
        from shoal.cli.app import run

        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = 130
    _leave(code)


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    # Ending through an exception lets a half-written temporary file be removed.
    sys.exit(143)


def _leave(code: int) -> NoReturn:
    """End the process without taking it apart.

    Python would visit every object of every library on the way out, which takes longer than the
    work on a small table; the system frees all of it at once. What was asked to be done at the end
    is done, and what was said is said.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:  # nobody listens any more
            pass
        except OSError:  # a full disk behind > file
            code = code or 1
    os._exit(code)
