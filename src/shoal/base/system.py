"""Everything that differs between Linux, macOS and Windows.

Every other module calls these functions. Where a system lacks something, each docstring says what
happens instead. ``tests/unit/base/test_system.py`` runs Shoal with the POSIX parts taken away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from shoal.base.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_OPEN_FILES = Path("/proc/self/fd")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


# Users and permissions


def user_id() -> int | None:
    """Return the number of this user, or None where users have none (Windows)."""
    return os.getuid() if hasattr(os, "getuid") else None


def user_name() -> str:
    """Return a short text that is this user's own among all users of the machine."""
    number = user_id()
    return os.environ.get("USERNAME", "user") if number is None else str(number)


def is_own(status: os.stat_result) -> bool:
    """Tell whether a file belongs to this user; where files have no owner number, yes."""
    return user_id() in (None, status.st_uid)


def make_private(path: Path) -> None:
    """Let only this user read and write a file.

    On Windows the access list is replaced by one with this user alone; if that fails, so does
    this function, because what follows would be readable by others.
    """
    path.chmod(0o600)
    if user_id() is None:
        _run_icacls(path)


def _run_icacls(path: Path) -> None:
    import subprocess

    tool = shutil.which("icacls")
    words = [str(path), "/inheritance:r", "/grant:r", f"{user_name()}:F"]
    if tool is None or subprocess.run([tool, *words], capture_output=True, check=False).returncode:  # noqa: S603
        raise OutputError(
            f"Cannot make {path} private: icacls did not set its access list. Nothing was written "
            "to it. Choose a folder that only you can open, on a drive with access lists (NTFS)."
        )


def open_secret(path: Path) -> int:
    """Open a file for reading, but no link: a link could be changed between two looks at it.

    Without ``O_NOFOLLOW`` (Windows) a link is refused before the file is opened.
    """
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
        raise OSError(0, "it is a link")
    return os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))


def is_secret(status: os.stat_result, path: Path) -> bool:
    """Tell whether only this user can open a file.

    Windows has no permission bits. There a file counts as private if it lies in the user's own
    profile folder, which other users cannot open unless an administrator lets them.
    """
    if user_id() is None:
        return path.resolve().is_relative_to(Path.home().resolve())
    return is_own(status) and not status.st_mode & _OTHERS


def how_to_make_secret(name: str) -> str:
    """Return a command that writes a new random secret to a private file."""
    if user_id() is None:
        return f'python -c "import secrets; print(secrets.token_hex(32))" > %USERPROFILE%\\{name}'
    return f"(umask 077; openssl rand -hex 32 > {name})"


# Files


def try_lock(handle: int) -> bool:
    """Try to lock an open folder; False while another program holds the lock.

    True also where there are no such locks (Windows, some network drives): nothing to wait for.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


CAN_LOCK = fcntl is not None
"""Whether folders can be opened and locked."""


def is_abandoned(handle: int) -> bool:
    """Tell whether no program holds the lock of an open file; where there are no locks never."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def open_new(path: Path, *, private: bool = False) -> IO[bytes]:
    """Open a new file that will be called ``path``, without a name until :func:`name_file`.

    Where there are no nameless files it has its name at once. ``private``: only this user may ever
    open it.
    """
    mode = 0o600 if private else 0o666
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless and _OPEN_FILES.is_dir():
        with contextlib.suppress(OSError):  # not every file system has them
            return os.fdopen(os.open(path.parent, nameless | os.O_RDWR, mode), "w+b")
    stream = path.open("x+b")
    try:
        if private:
            make_private(path)
    except BaseException:
        stream.close()
        path.unlink()
        raise
    return stream


def name_file(stream: IO[bytes], path: Path) -> None:
    """Give a file of :func:`open_new` its name; copy it where that is not allowed."""
    if path.exists():
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With a folder handle the call follows the link to the open file.
        source = _OPEN_FILES / str(stream.fileno())
        os.link(source, path, src_dir_fd=folder, follow_symlinks=True)
    except OSError:  # a sandbox that forbids it
        with path.open("xb") as copy:
            path.chmod(stat.S_IMODE(os.fstat(stream.fileno()).st_mode))
            stream.seek(0)
            shutil.copyfileobj(stream, copy)
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(folder)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file; FileExistsError if somebody made ``target`` meanwhile.

    Unlike a rename, a link fails then; a file system without links is renamed all the same.
    """
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        source.replace(target)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def open_in_memory(name: str) -> tuple[int, Path] | None:
    """Open a file that never touches a disk, and return its path; None if there are none."""
    if hasattr(os, "memfd_create") and _OPEN_FILES.is_dir():
        handle = os.memfd_create(name)
        return handle, Path(f"/proc/{os.getpid()}/fd/{handle}")
    return None


@contextmanager
def held_file(content: bytes, suffix: str) -> Iterator[Path]:
    """Give bytes a path, for libraries that read nothing else; not on a disk where that can be."""
    if (opened := open_in_memory("shoal")) is not None:
        handle, path = opened
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:  # for this user alone
        path = Path(folder) / f"table{suffix}"
        path.write_bytes(content)
        yield path


# Processes


def is_running(process: int) -> bool:
    """Tell whether a process is there. On Windows always yes: nothing of it is removed then."""
    if user_id() is None:  # signal 0 is ctrl-C there, and would be sent
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def own_session() -> dict[str, Any]:
    """Return arguments of ``Popen`` that keep a ctrl-C in the terminal from the new process."""
    if user_id() is None:
        import subprocess

        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return {"start_new_session": True}


def on_termination(handler: Callable[[int, Any], Any]) -> None:
    """Call ``handler`` when the system asks this process to end."""
    signal.signal(signal.SIGTERM, handler)


def signal_name(number: int) -> str:
    """Return the name of a signal, or nothing if this system does not know it."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return ""


def ignore_terminal_stop() -> None:
    """Keep a process in the background from being stopped when it reads from the terminal."""
    stop = getattr(signal, "SIGTTIN", None)  # Windows has no such stop
    if stop is not None:
        with contextlib.suppress(ValueError):  # only the main thread may say so
            signal.signal(stop, signal.SIG_IGN)


# The machine


def processors() -> int:
    """Return how many processors this process may use; all of the machine if it cannot tell."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return len(usable) or os.cpu_count() or 1


def peak_memory() -> int | None:
    """Return the most bytes of memory that this process has used, None if it cannot tell."""
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def free_memory() -> int | None:
    """Return how many bytes of memory are free, None if the system does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    pages = _memory_pages("SC_AVPHYS_PAGES")
    return _windows_memory(1) if pages is None else pages


def total_memory() -> int | None:
    """Return how many bytes of memory the machine has, None if the system does not say."""
    pages = _memory_pages("SC_PHYS_PAGES")
    return _windows_memory(0) if pages is None else pages


def _memory_pages(name: str) -> int | None:
    try:
        return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _windows_memory(field: int) -> int | None:
    """Ask Windows for the total (0) or the free memory (1): ``GlobalMemoryStatusEx``."""
    import ctypes

    library = getattr(ctypes, "windll", None)
    if library is None:
        return None
    layout = struct.Struct("<2I7Q")  # its own size, the load, then seven sizes in bytes
    status = ctypes.create_string_buffer(layout.pack(layout.size, *[0] * 8), layout.size)
    found = library.kernel32.GlobalMemoryStatusEx(status)
    return int(layout.unpack(status.raw)[2 + field]) if found else None
