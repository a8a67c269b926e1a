"""Make keyed pseudonyms: only the owner of the key can compute them again."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path

from shoal.base.errors import ParameterError
from shoal.base.seeds import read_secret
from shoal.base.system import how_to_make_secret

LENGTH = 32  # hexadecimal digits of a pseudonym, 128 bits
_LEAST = 16  # bytes of a key; shorter ones can be found by trying


def read_key(given: str | Path | bytes | None) -> bytes | None:
    """Return a key, from a file that nobody else can read if one is named."""
    if given is None:
        return None
    key = given if isinstance(given, bytes) else read_secret(Path(given), "pseudonym key")
    if len(key) < _LEAST:
        raise ParameterError(
            f"The pseudonym key has {len(key)} bytes, and needs {_LEAST} at least: a short one can "
            f"be found by trying. Make one with: {how_to_make_secret('key.txt')}"
        )
    return key


def pseudonyms(persons: Sequence[str], key: bytes | None = None) -> list[str]:
    """Return a text of fixed length for each person: BLAKE2b (RFC 7693) under a key.

    Without a key one is made that is forgotten when this returns.
    """
    short = hashlib.blake2b(key or secrets.token_bytes(32), digest_size=32).digest()
    name = hashlib.blake2b(digest_size=LENGTH // 2, key=short, person=b"shoal pseudonym")

    def one(person: str) -> str:
        own = name.copy()
        own.update(person.encode())
        return own.hexdigest()

    return [one(person) for person in persons]
