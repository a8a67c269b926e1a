"""Read seeds, and warn about seeds that are too short.

A seed gives the order of the rows and, for methods that draw, the drawn values. Nobody needs to be
told it to have it: seeds can be tried, each against the release, until one fits. So every seed is
stretched before it is used, which makes each try cost about a tenth of a second and 32 MiB instead
of some microseconds, and a seed that is short is warned about: stretching slows a search down by
a factor, and only length makes it hopeless.
"""

from __future__ import annotations

import hashlib
import os
import stat
from functools import lru_cache
from pathlib import Path

from shoal.base import system
from shoal.base.errors import ParameterError

LONG = 1 << 64  # seeds from here on are not warned about
SHORT_SEED = (
    "The seed of this run is short (less than 64 bits): somebody with the release can try all such "
    "seeds, and one that fits gives away the order of the rows and every random choice. Publish a "
    "run without a seed, or with a long one from --seed-file."
)

# Of scrypt (RFC 7914). To change them is to change every release that has a seed. The salt is
# the same for all: a seed must repeat a run on another machine, from the plan alone.
_SALT = b"shoal: the seed of a run, 1"
_COST, _BLOCK, _LANES = 1 << 15, 8, 1
_MEMORY = 64 << 20  # 128 * cost * block is 32 MiB; OpenSSL allows exactly that by default, no more
_LARGEST = 4096  # bytes of a file that holds a seed


@lru_cache(maxsize=1024)
def stretch_seed(seed: int) -> int:
    """Return the 256 bits that a seed stands for."""
    key = hashlib.scrypt(
        str(seed).encode(), salt=_SALT, n=_COST, r=_BLOCK, p=_LANES, maxmem=_MEMORY, dklen=32
    )
    return int.from_bytes(key, "big")


def read_seed(text: str) -> int:
    """Read a seed as it is typed; the error does not repeat it."""
    if not (text.isascii() and text.isdigit() and len(text) <= _LARGEST):
        raise ParameterError(
            "A seed is a whole number of digits only, from 0 on. The given value is not "
            "repeated here; for any other text use --seed-file."
        )
    return int(text)


def read_seed_file(path: Path) -> int:
    """Read a seed from a file that nobody else can read.

    Digits mean the same as with ``--seed``; any other text is taken as it is, without the blanks
    around it.
    """
    text = read_secret(path, "seed")
    return int(text) if text.isdigit() else int.from_bytes(text, "big")


def read_secret(path: Path, what: str) -> bytes:
    """Read a secret from a file that nobody else can read, without the blanks around it."""
    make = system.how_to_make_secret(f"{what.replace(' ', '-')}.txt")
    try:
        handle = system.open_secret(path)
    except OSError as fault:
        raise ParameterError(
            f"The {what} file {path} cannot be read: {fault.strerror}. Name a file of your own, no "
            f"link; make one with: {make}"
        ) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ParameterError(
                f"The {what} file {path} is not a file. Name a file with the {what}."
            )
        if not system.is_secret(status, path):
            raise ParameterError(
                f"The {what} file {path} belongs to another user, or others may open it. A {what} "
                f"is a secret: let it be your file, and run: chmod 600 {path}"
            )
        raw = os.read(handle, _LARGEST + 1)
    finally:
        os.close(handle)
    text = raw.strip()
    if not text or len(raw) > _LARGEST:
        raise ParameterError(
            f"The {what} file {path} holds {len(raw):,} bytes{' at least' * bool(text)}, and a "
            f"{what} has 1 to {_LARGEST:,}. Make one with: {make}"
        )
    return text
