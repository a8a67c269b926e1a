"""``python tools/soak.py``: try the command for a while, and check what it does by other means.

Random tables, methods and rules; runs that are killed, disks that are full, several writers of one
file; and the page with fifty clients. Every release is checked from the definitions by
``soaking/checker.py``, which shares no code with the package; first the checker has to see faults
that are planted in good releases. Ends with figures and exit code 0, or at the first fault with the
way to repeat it and exit code 1. docs/trust.md tells what was found.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections import Counter

from soaking import page, planted
from soaking.trials import TRIALS, Command, Fault

# How many of each in a turn: a run takes a fraction of a second, a process of its own seconds.
# Each kind comes early, so that a short soak has all of them.
TURN = tuple(name for kind in ("kill", "disk", "writers", "kill") for name in (*["run"] * 6, kind))


def main() -> int:
    """Soak for so many seconds, or repeat one trial."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, help="repeat a trial (with --only), or all of them")
    parser.add_argument("--only", choices=[*TRIALS, "page", "planted"])
    parser.add_argument("--page-seconds", type=float, default=None, help="a quarter, at most 60")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    command = Command()
    try:
        counts["planted faults seen"] = planted.seen()
        if asked.only in TRIALS and asked.seed is not None:
            TRIALS[asked.only](asked.seed, command, counts)
        else:
            _soak(asked, command, counts, started + asked.seconds)
        code = 0
    except Fault as fault:
        print(f"FAULT: {fault}")  # noqa: T201 -- a tool speaks by printing
        code = 1
    finally:
        command.close()
    figures = {"seconds": round(time.monotonic() - started), **dict(sorted(counts.items()))}
    print(json.dumps(figures, indent=1))  # noqa: T201
    return code


def _soak(asked: argparse.Namespace, command: Command, counts: Counter[str], end: float) -> None:
    first = asked.seed if asked.seed is not None else secrets.randbelow(1 << 40)
    if asked.only in (None, "page"):
        seconds = asked.page_seconds or min(60.0, asked.seconds / 4)
        page.soak(first, seconds, counts)
    at = 0
    # One trial at least, however long the page took on a busy machine.
    while (at == 0 or time.monotonic() < end) and asked.only not in ("page", "planted"):
        name = asked.only or TURN[at % len(TURN)]
        TRIALS[name](first + at, command, counts)
        at += 1


if __name__ == "__main__":
    sys.exit(main())
