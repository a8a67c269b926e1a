"""One-time login links, valid for one minute.

An address is seen: in the list of processes, in the browser's history, over somebody's shoulder.
So what stands in it is worth nothing soon after, and the browser is sent to a private file that
leads to the address, instead of being given the address on its command line.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path

LIFE = 60.0  # seconds

_LEAD = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>Opening Shoal</title>
<p><a href="{address}">Open the page</a></p>
"""


class LinkResult(Enum):
    """What became of a ticket."""

    OPENS = "opens"
    USED = "used"
    UNKNOWN = "unknown"  # or too old, which is forgotten


class LoginLinks:
    """Keys that open the page once, for :data:`LIFE` seconds after they were made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # By digest, so that how long a look-up takes tells nothing about the key.
        self._made: dict[bytes, float] = {}
        self._used: dict[bytes, float] = {}
        self._then: dict[bytes, Callable[[], object]] = {}

    def issue(self, then: Callable[[], object] | None = None) -> str:
        """Return a new key; ``then`` is called when it is used."""
        self._forget()
        key = secrets.token_urlsafe(32)
        if then is not None:
            self._then[_digest(key)] = then
        self._made[_digest(key)] = self._clock()
        return key

    def redeem(self, key: str) -> LinkResult:
        """Take a key in; it opens the page if nobody used it before and it is young enough."""
        self._forget()
        digest = _digest(key)
        made = self._made.pop(digest, None)  # one step, so that of two askers one gets it
        if made is not None:
            self._used[digest] = made
            if then := self._then.pop(digest, None):
                then()
            return LinkResult.OPENS
        return LinkResult.USED if digest in self._used else LinkResult.UNKNOWN

    def _forget(self) -> None:
        oldest = self._clock() - LIFE
        for kept in (self._made, self._used):
            for digest in [digest for digest, made in kept.copy().items() if made < oldest]:
                kept.pop(digest, None)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def write_lead(path: Path, address: str) -> None:
    """Write a file that leads a browser to ``address`` and that nobody else can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(_LEAD.format(address=address))


def remove(path: Path) -> None:
    """Remove a file that led to the page, once it is of no more use."""
    with contextlib.suppress(OSError):
        path.unlink()
