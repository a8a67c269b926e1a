"""Kernels by way of numba's private parts: they load and compile in a third of the time.

What numba promises is slower: it lists all functions of what it loads, fills the tables that
compiling goes by first, and optimizes a function once for every caller. A numba that lacks one of
these parts, or is newer than those tried, is used as it promises to work instead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

from shoal.kernels.cache_folder import close, folder_of, make, planted
from shoal.kernels.inner_functions import InnerCompiler, InnerOnDisk, KernelOnDisk

NOT_LOADED: list[str] = []  # why code that was kept is compiled again

_PART = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
    "pipeline_class": InnerCompiler,
}


def entry(function: Callable[..., object], *, allocates: bool) -> Any:
    """Return a kernel that Python calls."""
    if allocates:
        return _dispatcher(function, _AllocatingCache, {"no_cfunc_wrapper": True})
    return _dispatcher(function, _Cache, {"no_cfunc_wrapper": True, "_nrt": False})


def part(function: Callable[..., object], **options: Any) -> Any:
    """Return a function that only kernels call."""
    return _Part(function, {**options, **_PART})


class _Cache(FunctionCache):
    """Loads what was compiled before, and only that.

    Numba would first fill the tables that compiling goes by, which takes longer than loading all
    our kernels does; a compiler that is needed after all fills them by itself. Compiled code needs
    no more than the memory it takes its arrays from, if it makes any.
    """

    _impl_class = KernelOnDisk
    _allocates = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._allocates:
            rtsys.initialize(target_context)
        if fault := planted(Path(self.cache_path)):
            self.disable()  # type: ignore[no-untyped-call]
            NOT_LOADED.append(fault)
            return None
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # a file cut short, by a full disk for instance: what it raises is open
            try:
                self.flush()  # type: ignore[no-untyped-call]
            except OSError:
                self.disable()  # type: ignore[no-untyped-call]
            return None  # compile again, and keep that

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        # Whatever mask this process has: what others can write to is not loaded again.
        folder = Path(self.cache_path)
        for path in folder.glob(f"{self._impl.filename_base}*"):
            with contextlib.suppress(OSError):
                path.chmod(0o600)


class _AllocatingCache(_Cache):
    """The same for kernels that make arrays."""

    _allocates = True


class _PartCache(_Cache):
    """The same for what only kernels call."""

    _impl_class = InnerOnDisk  # type: ignore[assignment]


def _dispatcher(function: Callable[..., object], kind: type[_Cache], options: Any) -> Any:
    made = numba.njit(nogil=True, error_model="numpy", **options)(function)
    # A plain 0 is a type of its own to numba: a function that one kernel hands a 0 and another one
    # a number would be compiled twice.
    find = made.get_call_template
    made.get_call_template = lambda args, kws: find(tuple(map(unliteral, args)), kws)
    made._cache = _Later(partial(_opened, function, kind))
    return made


class _Part:
    """What only kernels call, made known to numba when a kernel that calls it is compiled.

    Numba asks a value for its type in this way. There are many more parts than kernels, and a
    process that finds its kernels on the disk needs none of them.
    """

    def __init__(self, function: Callable[..., object], options: Any) -> None:
        update_wrapper(self, function)
        self.py_func, self._options = function, options

    def __call__(self, *_: object, **__: object) -> None:
        """Refuse: there is no entry from Python, and a call would end the process."""
        name = self.py_func.__name__
        raise TypeError(f"{name} can be called by kernels alone, not from Python.")

    @cached_property
    def made(self) -> Any:
        """What numba compiles."""
        made = _dispatcher(self.py_func, _PartCache, self._options)
        # Compiled callers find it here; what is inserted for Python's calls would need an entry.
        made.add_overload = lambda code: made.overloads.update({tuple(code.signature.args): code})
        return made

    @property
    def _numba_type_(self) -> Any:
        return self.made._numba_type_


class _Later:
    """The cache of a kernel, opened when it is first asked for something.

    Most of what a module of kernels holds is called by other kernels, and comes with these.
    """

    def __init__(self, opened: Callable[[], Any]) -> None:
        self._opened = cache(opened)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened(), name)


def _opened(function: Callable[..., object], kind: type[_Cache]) -> Any:
    folder = folder_of(Path(function.__code__.co_filename))
    if folder is None:
        return NullCache()
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        make(folder)
        opened = kind(function)
        close(Path(opened.cache_path))
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
    return opened
