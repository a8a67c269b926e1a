"""Numba kernels: arrays and numbers in and out; they import nothing else of ours.

Compiled code is kept on disk. Numba looks only at the file of the function it loads, not at the
functions that one calls, so the folder is named by a digest of the kernel's module and of all
kernel modules it imports. It lies in the user's cache, so the package itself may be read-only; see
``cache_folder`` for whose folder is good enough.

Kernels are compiled and loaded by way of numba's private parts (``numba_internals``). With
``SHOAL_PLAIN_KERNELS=1``, and where numba is newer than those tried, they are compiled as numba
promises to: the results are the same, the first run takes three times as long.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from shoal.base.errors import ShoalWarning
from shoal.kernels.cache_folder import folder_of, keeping, make, planted

F = TypeVar("F", bound=Callable[..., object])

VARIABLE = "SHOAL_PLAIN_KERNELS"
TRIED = (0, 68)
"""The newest numba whose private parts have been tried."""


def _private_parts() -> Any:
    """Return what works with numba's private parts; None where kernels are plain."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return None
    version = tuple(map(int, re.findall(r"\d+", numba.__version__)[:2]))
    if version <= TRIED:
        try:
            from shoal.kernels import numba_internals
        except (ImportError, AttributeError):
            pass
        else:
            return numba_internals
    warnings.warn(
        f"Shoal was not tried with numba {numba.__version__}: it compiles its kernels in a slower "
        f"way, with the same results. Install numba {TRIED[0]}.{TRIED[1]}, or set {VARIABLE}=1 to "
        "hide this line.",
        ShoalWarning,
        stacklevel=2,
    )
    return None


_PRIVATE = _private_parts()


def kernel(function: F) -> F:
    """Compile a function when it is first called; it lets other threads run meanwhile.

    It works in arrays that it is given and counts no references to them, which takes less time to
    compile and to run. One that makes arrays of its own is :func:`allocating`.
    """
    if _PRIVATE is None or _off():
        return _plain(function)
    return cast(F, _PRIVATE.entry(function, allocates=False))


def allocating(function: F) -> F:
    """Compile a kernel that makes arrays."""
    if _PRIVATE is None or _off():
        return _plain(function)
    return cast(F, _PRIVATE.entry(function, allocates=True))


def inner(function: F) -> F:
    """Compile a function that only kernels call, without the entry from Python, slow to make."""
    if _PRIVATE is None or _off():
        return _plain(function)
    return cast(F, _PRIVATE.part(function))


def inlined(function: F) -> F:
    """Compile a function into its callers: for the inmost loops, where a call is too dear."""
    if _PRIVATE is None or _off():
        return _plain(function, forceinline=True)
    return cast(F, _PRIVATE.part(function, forceinline=True))


def _off() -> bool:
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def _plain(function: F, **options: Any) -> F:
    """Compile a function as numba promises to, and keep the code where ours is kept."""
    if _off():
        return function  # NUMBA_DISABLE_JIT=1: to measure which lines tests reach
    folder = _checked(folder_of(Path(function.__code__.co_filename), "-plain"))
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    try:
        if folder is not None:
            make(folder)
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        how: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}
        return cast(F, numba.njit(cache=folder is not None, **how)(function))
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


@cache
def _checked(folder: Path | None) -> Path | None:
    """Return a folder that holds nothing of other users; numba would load and run it."""
    if folder is not None and folder.exists():
        inside = (each for each in folder.iterdir() if each.is_dir())
        return None if any(map(planted, (folder, *inside))) else folder
    return folder


def kept() -> bool:
    """Say whether what is compiled can be kept for the next run."""
    return keeping().folder is not None


def refused() -> str:
    """Say why the user's cache is not where compiled code is kept; nothing when it is."""
    return keeping().refused or next(iter(_PRIVATE.NOT_LOADED if _PRIVATE else ()), "")
