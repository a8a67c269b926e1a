"""Numba kernels: arrays and numbers in and out; they import nothing else of ours.

Compiled code is kept on disk. Numba looks only at the file of the function it loads, not at the
functions that one calls, so the folder is named by a digest of the kernel's module and of all
kernel modules it imports: a change in any of them starts a new folder. It lies in the user's cache,
so the package itself may be read-only.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function when it is first called; it lets other threads run meanwhile.

    It works in arrays that it is given and counts no references to them, which takes less time to
    compile and to run. One that makes arrays of its own is :func:`allocating`.
    """
    return _compiled(function, no_cfunc_wrapper=True, _nrt=False)


def allocating(function: F) -> F:
    """Compile a kernel that makes arrays."""
    return _compiled(function, no_cfunc_wrapper=True)


def inner(function: F) -> F:
    """Compile a function that only kernels call, without the entry from Python, slow to make."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def inlined(function: F) -> F:
    """Compile a function into its callers: for the inmost loops, where a call is too dear."""
    return _compiled(function, inline="always", _nrt=False)


def kept() -> bool:
    """Say whether what is compiled can be kept for the next run."""
    return _base() is not None


class _Cache(FunctionCache):
    """Loads what was compiled before, and only that.

    Numba would first fill the tables that compiling goes by, which takes longer than loading all
    our kernels does; a compiler that is needed after all fills them by itself. Compiled code needs
    no more than the memory it takes its arrays from.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (pickle.UnpicklingError, EOFError):
            return None  # a file cut short, by a full disk for instance: compile again


def _compiled(function: F, **options: Any) -> F:
    base = _base()
    made = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if made is function:  # NUMBA_DISABLE_JIT=1: to measure which lines tests reach
        return function
    # A plain 0 is a type of its own to numba: a function that one kernel hands a 0 and another one
    # a number would be compiled twice.
    find = made.get_call_template
    made.get_call_template = lambda args, kws: find(tuple(map(unliteral, args)), kws)
    if base is None:
        return cast(F, made)
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    folder = base / _digest(Path(function.__code__.co_filename))
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        made._cache = _Cache(function)  # type: ignore[no-untyped-call]
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
    return cast(F, made)


@cache
def _base() -> Path | None:
    """Return a folder of our own to keep compiled code in, None when nothing can be written.

    The user's cache folder, or else one among the temporary files. What lies there is run as code,
    so among the temporary files a folder that others own or can write to is not used.
    """
    given, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    places: tuple[Callable[[], Path], ...] = (
        lambda: Path(given or home or Path.home() / ".cache") / "shoal",
        lambda: Path(tempfile.gettempdir()) / f"shoal-kernels-{user}",
    )
    for place, chosen in zip(places, (True, False), strict=True):
        try:
            folder = place()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if chosen or _private(folder):
                with tempfile.TemporaryFile(dir=folder):  # rights alone tell too little
                    return folder
        except (OSError, RuntimeError):  # no home folder, or one that is read-only
            continue
    return None


def _private(folder: Path) -> bool:
    """Say whether a folder is ours and nobody else can write to it."""
    found = folder.lstat()
    if not hasattr(
        os, "getuid"
    ):  # where there are no such rights, everybody has a folder of theirs
        return stat.S_ISDIR(found.st_mode)
    mine = found.st_uid == os.getuid() and not found.st_mode & 0o022
    return mine and stat.S_ISDIR(found.st_mode)


@cache
def _digest(source: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(_closure(source)):
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
