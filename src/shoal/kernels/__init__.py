"""Numba kernels: arrays and numbers in and out; they import nothing else of ours.

Compiled code is kept on disk. Numba looks only at the file of the function it loads, not at the
functions that one calls, so the folder is named by a digest of all kernels: a change in any of them
starts a new folder. It lies in the user's cache, so the package itself may be read-only.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numba


def cache_folder() -> Path:
    """Return the folder for compiled kernels; a temporary one if nothing else works."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    given = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for base in (Path(given) if given else home / "shoal", Path(tempfile.gettempdir()) / "shoal"):
        folder = base / f"kernels-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="shoal-kernels-"))


setattr(numba.config, "CACHE_DIR", str(cache_folder()))  # noqa: B010 -- untyped there
