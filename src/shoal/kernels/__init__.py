"""Numba kernels: arrays and numbers in and out; they import nothing else of ours.

Compiled code is kept on disk. Numba looks only at the file of the function it loads, not at the
functions that one calls, so the folder is named by a digest of the kernel's module and of all
kernel modules it imports: a change in any of them starts a new folder. It lies in the user's cache,
so the package itself may be read-only; see ``keeping`` for whose folder is good enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

from shoal.kernels.keeping import close, keeping, make, planted
from shoal.kernels.parts import InnerCompiler, InnerOnDisk, KernelOnDisk

F = TypeVar("F", bound=Callable[..., object])

_PART = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
    "pipeline_class": InnerCompiler,
}
_NOT_LOADED: list[str] = []  # why code that was kept is compiled again


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
    return _compiled(function, **_PART)


def inlined(function: F) -> F:
    """Compile a function into its callers: for the inmost loops, where a call is too dear."""
    return _compiled(function, forceinline=True, **_PART)


def kept() -> bool:
    """Say whether what is compiled can be kept for the next run."""
    return keeping().folder is not None


def refused() -> str:
    """Say why the user's cache is not where compiled code is kept; nothing when it is."""
    return keeping().refused or next(iter(_NOT_LOADED), "")


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
            _NOT_LOADED.append(fault)
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


def _compiled(function: F, **options: Any) -> F:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function  # NUMBA_DISABLE_JIT=1: to measure which lines tests reach
    if "pipeline_class" in options:
        return cast(F, _Part(function, options))
    kind = _Cache if "_nrt" in options else _AllocatingCache
    return cast(F, _dispatcher(function, kind, options))


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
    base = keeping().folder
    if base is None:
        return NullCache()
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    folder = base / _digest(Path(function.__code__.co_filename))
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        make(folder)
        opened = kind(function)
        close(Path(opened.cache_path))
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
    return opened


@cache
def _digest(source: Path) -> str:
    digest = hashlib.sha256()
    compiler = {Path(__file__), Path(__file__).with_name("parts.py")}
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
