"""A history at rest: encrypted if the steward has a key for it.

AES-256 in Galois/counter mode (NIST SP 800-38D), by the library ``cryptography``, under a key that
HKDF (RFC 5869) derives from the steward's for every file. The name of the file is authenticated
with it, so that no file can stand in for another. The key comes from a file or from the
environment; a command line is seen by everybody on a machine.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from shoal.base.errors import InputError, ParameterError
from shoal.base.extras import needed
from shoal.base.seeds import read_secret
from shoal.base.system import how_to_make_secret

VARIABLE, VARIABLE_FILE = "SHOAL_HISTORY_KEY", "SHOAL_HISTORY_KEY_FILE"
MAGIC = b"shoal history, encrypted 1\n"
_LEAST = 32  # bytes: a shorter one can be found by trying
_SALT, _NONCE = 16, 12


def history_key(file: str | Path | None = None) -> bytes | None:
    """Return the steward's key: of a file that is named, else of the environment, else none."""
    named = file or os.environ.get(VARIABLE_FILE)
    text = os.environ.get(VARIABLE, "").strip().encode()
    if named is None and not text:
        return None
    key = text if named is None else read_secret(Path(named), "history key")
    if len(key) < _LEAST:
        raise ParameterError(
            f"The history key has {len(key)} bytes, and needs {_LEAST} at least: a short one can "
            f"be found by trying. Make one with: {how_to_make_secret('key.txt')}"
        )
    _library("exceptions")  # what lacks is said before the work
    return key


def encrypt(content: bytes, key: bytes, name: str) -> bytes:
    """Encrypt the content of a file of this name."""
    salt, nonce = secrets.token_bytes(_SALT), secrets.token_bytes(_NONCE)
    told: bytes = _cipher(key, salt).encrypt(nonce, content, MAGIC + name.encode())
    return MAGIC + salt + nonce + told


def decrypt(content: bytes, key: bytes | None, file: Path) -> bytes:
    """Return what a file says, or say why it cannot be read; one that is not encrypted is as is."""
    if not content.startswith(MAGIC):
        if key is None:
            return content
        raise InputError(
            f"The history {file.parent} is not encrypted, and a key was given for it. What is "
            "there already would stay readable, so it is not gone on with: leave the key out "
            f"(--history-key, {VARIABLE}, {VARIABLE_FILE}), or begin another series with an empty "
            "folder and the key."
        )
    if key is None:
        raise InputError(
            f"The history {file.parent} is encrypted. Give the file of its key with --history-key, "
            f"or set {VARIABLE_FILE} to that file or {VARIABLE} to the key."
        )
    salt = content[len(MAGIC) :][:_SALT]
    rest = content[len(MAGIC) + _SALT :]
    cipher = _cipher(key, salt)
    try:
        plain: bytes = cipher.decrypt(rest[:_NONCE], rest[_NONCE:], MAGIC + file.name.encode())
    except (ValueError, _library("exceptions").InvalidTag):
        raise InputError(
            f"{file} does not open with this key: the key is another one, or the file was changed, "
            "cut off or renamed. Nothing was written. Give the key that the series was begun with, "
            "or bring the file back from a copy."
        ) from None
    return plain


def _cipher(key: bytes, salt: bytes) -> Any:
    kdf, hashes = _library("hazmat.primitives.kdf.hkdf"), _library("hazmat.primitives.hashes")
    derived = kdf.HKDF(hashes.SHA256(), 32, salt, b"shoal history 1").derive(key)
    return _library("hazmat.primitives.ciphers.aead").AESGCM(derived)


def _library(part: str) -> Any:
    return needed(f"cryptography.{part}", "an encrypted history", "crypt")
