"""Where compiled code is kept: a folder that nobody but this user can put anything into.

What lies there is loaded and run, so a folder or a file of somebody else would be their program
under our name. That holds for every place, also for one that the environment names: under ``sudo``
the home folder is that of another user.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shoal.base.system import is_own, user_id, user_name

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class Keeping:
    """The folder, None when there is none; and why the user's own cache is not it, if so."""

    folder: Path | None
    refused: str = ""


@cache
def keeping() -> Keeping:
    """Find the folder: in the user's cache, or else among the temporary files."""
    given, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    places: tuple[Callable[[], Path], ...] = (
        lambda: Path(given or home or Path.home() / ".cache") / "shoal",
        lambda: Path(tempfile.gettempdir()) / f"shoal-kernels-{user_name()}",
    )
    refused = ""
    for place in places:
        try:
            folder = place().absolute()
            make(folder)
            if fault := strangers(folder):
                refused = refused or fault
                continue
            with tempfile.TemporaryFile(dir=folder):  # rights alone tell too little
                return Keeping(folder, refused)
        except (OSError, RuntimeError):  # no home folder, or one that is read-only
            continue
    return Keeping(None, refused)


def close(folder: Path) -> None:
    """Close a folder that was just made to others; what one that is not empty holds is not ours."""
    with contextlib.suppress(OSError):
        if not any(folder.iterdir()):
            folder.chmod(0o700)


def make(folder: Path) -> None:
    """Make a folder and those above it, each for this user alone."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def strangers(folder: Path) -> str:
    """Say who else could put something into ``folder``; nothing when nobody can."""
    if user_id() is None:  # without owners of files, every user has a cache folder of their own
        return ""
    for path in (*folder.parents, *folder.resolve().parents):
        found = path.lstat()
        if found.st_uid not in (0, user_id()):
            return f"{path} belongs to another user"
        # In a folder such as /tmp everybody may add something, but not replace what is mine.
        free = found.st_mode & _OTHERS and not found.st_mode & stat.S_ISVTX
        if free and stat.S_ISDIR(found.st_mode):
            return f"{path} can be written to by others"
    return _fault(folder, folder.lstat())


@cache
def planted(folder: Path) -> str:
    """Say what in a folder of compiled code was not put there by this user alone, if anything."""
    try:
        with os.scandir(folder) as entries:
            below = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
            below += [(str(path), path.lstat()) for path in (folder.parent, folder)]
    except FileNotFoundError:  # nothing there yet, or another process just gave a file its name
        return ""
    return next((fault for path, found in below if (fault := _fault(path, found))), "")


def _fault(path: Path | str, found: os.stat_result) -> str:
    if user_id() is None:
        return ""
    if not is_own(found):
        return f"{path} belongs to another user"
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a link"
    return f"{path} can be written to by others" if found.st_mode & _OTHERS else ""


def folder_of(source: Path, kind: str = "") -> Path | None:
    """Return where the code of a module's kernels is kept; None where nothing is.

    The folder is named by what the module and all kernel modules that it imports say, and by how
    they are compiled: a change in any of them starts a new folder.
    """
    base = keeping().folder
    return None if base is None else base / (_digest(source) + kind)


@cache
def _digest(source: Path) -> str:
    digest = hashlib.sha256()
    names = ("__init__.py", "inner_functions.py", "numba_internals.py")
    compiler = {Path(__file__).with_name(name) for name in names}
    for path in sorted(_closure(source) | compiler):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _closure(source: Path) -> frozenset[Path]:
    """Return a module's file and those of all kernel modules it imports, however indirectly."""
    names = re.findall(r"^from shoal\.kernels\.([\w.]+) import", source.read_text(), re.MULTILINE)
    found = {source}
    for name in names:
        found |= _closure(Path(__file__).parent.joinpath(*name.split(".")).with_suffix(".py"))
    return frozenset(found)
