"""A private temporary folder that is removed when the server stops."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shoal.base.system import is_own, is_running

_PREFIX = "shoal-page-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-")


@contextlib.contextmanager
def private_folder(within: Path | None = None) -> Iterator[Path]:
    """Make a folder that only this user may enter, and remove it whatever happens.

    Folders of servers that were killed, and so could not tidy up, are removed on this occasion.
    """
    root = Path(tempfile.gettempdir()) if within is None else within
    _remove_orphans(root)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
    folder.chmod(0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_orphans(root: Path) -> None:
    for folder in root.glob(f"{_PREFIX}*"):
        named = _NAME.match(folder.name)
        with contextlib.suppress(OSError):
            mine = is_own(folder.lstat()) and not folder.is_symlink()
            if named and mine and not is_running(int(named[1])):
                shutil.rmtree(folder, ignore_errors=True)


def safe_name(text: str, number: int, ending: str = "") -> str:
    """Return a file name for a column or table whose own name may be anything at all."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")[:60]
    # The name in full only if nothing was changed: two columns must never share a file, also not
    # where 'Age' and 'age' are one name.
    if plain and plain == text.lower() and not plain.startswith("column_"):
        return plain + ending
    return f"column_{number + 1}{'_' + plain if plain else ''}{ending}"
