"""The ``shoal`` command."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; every error on purpose is one message and exit code 2."""
    try:
        signal.signal(signal.SIGTERM, _terminated)
        from shoal.cli.app import run

        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(130)


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    # Ending through an exception lets a half-written temporary file be removed.
    sys.exit(143)
