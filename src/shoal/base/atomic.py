"""Write files completely or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shoal.base import system
from shoal.base.errors import OutputError

Pathlike = str | os.PathLike[str]
_PATIENCE = 30.0  # seconds that somebody else may take to name his files
_NAP = 0.02


def check_output(path: Path, *, force: bool = False, inputs: Sequence[Pathlike] = ()) -> Path:
    """Return where ``path`` really leads, or say why nothing may be written there.

    Ask before long work, so that a wrong path costs a second and not an hour.
    """
    if path.is_dir():
        raise OutputError(f"Cannot write {path}: it is a directory. Give the name of a file in it.")
    target = path.resolve()
    for source in inputs:
        with contextlib.suppress(OSError):
            if target == Path(source).resolve() or target.samefile(source):
                raise OutputError(
                    f"The output {path} is the input {source}. Shoal never writes over the data "
                    "it reads: choose another name."
                )
    if os.path.lexists(target):
        if not target.is_file():
            raise OutputError(f"Cannot write {path}: it is not a regular file. Choose another.")
        if not force:
            raise OutputError(
                f"The output {path} already exists. Choose another name, or allow it to be "
                "replaced with --force (force=True)."
            )
    if not target.parent.is_dir():
        raise OutputError(
            f"Cannot write {path}: the directory {target.parent} does not exist. Create it first."
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"Cannot write {path}: no permission to create files in {target.parent}. "
            "Choose another directory."
        )
    return target


@contextlib.contextmanager
def atomic_file(
    path: Path | str,
    *,
    force: bool = False,
    inputs: Sequence[Pathlike] = (),
    private: bool = False,
) -> Iterator[IO[bytes]]:
    """Open a file that appears under ``path`` only once all of it is on the disk.

    Parameters
    ----------
    path
        Where the file goes. An existing file is replaced only with ``force``.
    inputs
        Files that must never be written over, by whatever name or link they are reached.
    private
        Whether only this user may open it, from before anything is written to it.

    Notes
    -----
    Bytes go to a file without a name, where the system has such, or else to a hidden neighbour;
    they are forced to the disk, and only then get the name. Whatever ends the block (a full disk,
    ctrl-C) leaves nothing behind and the old file as it was. Even ``kill -9`` leaves at most the
    neighbour, never a part of the output.
    """
    with (
        atomic_files() as files,
        files.open(path, force=force, inputs=inputs, private=private) as stream,
    ):
        yield stream


@dataclass(frozen=True)
class _Staged:
    """A file on its way: what it will be called, and where its bytes are until then."""

    path: Path
    target: Path
    neighbour: Path
    stream: IO[bytes]
    force: bool
    tells: bool


class Batch:
    """Files that are written one after the other and get their names together.

    What tells of other files (``tells``: a manifest, figures, a report) never stands beside a file
    that it does not tell of: before the first new name is given the old ones of what tells are
    taken away, and the new ones are given last. So a kill at any moment leaves, at worst, a
    release without its manifest. Others who name files in the same folder wait meanwhile.
    """

    def __init__(self) -> None:
        self._staged: dict[Path, _Staged] = {}
        self._new: set[Path] = set()  # nothing stood there when the file was opened
        self._named: list[Path] = []
        self._held: list[int] = []

    @contextlib.contextmanager
    def open(
        self,
        path: Path | str,
        *,
        force: bool = False,
        inputs: Sequence[Pathlike] = (),
        tells: bool = False,
        private: bool = False,
    ) -> Iterator[IO[bytes]]:
        """Open one more file, to be filled in this block; see :func:`atomic_file`."""
        path = Path(path)
        target = check_output(path, force=force, inputs=inputs)
        neighbour = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
        with _reasons(path):
            if not os.path.lexists(target):
                self._new.add(target)
            stream = system.open_new(neighbour, private=private)
            if system.CAN_LOCK:  # held until it has its name: so a leftover is known by its lock
                self._held.append(os.dup(stream.fileno()))
                system.try_lock(self._held[-1])
            self._staged[path] = _Staged(path, target, neighbour, stream, force, tells)
            yield stream
            stream.flush()

    def digest(self, path: Path) -> tuple[str, int] | None:
        """Return the SHA-256 and the size of a file that waits for its name, or None."""
        if path not in self._staged:
            return None
        stream = self._staged[path].stream
        stream.seek(0)
        checksum = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        return checksum, stream.seek(0, os.SEEK_END)

    def publish(self) -> None:
        """Force all files to the disk and give them their names."""
        waiting = sorted(self._staged.values(), key=lambda one: one.tells)
        for one in waiting:
            with _reasons(one.path), one.stream as stream:
                stream.flush()
                os.fsync(stream.fileno())
                system.name_file(stream, one.neighbour)
        with _alone({one.target.parent for one in waiting} if len(waiting) > 1 else ()):
            for one in waiting:
                if not one.force and os.path.lexists(one.target):
                    raise _appeared(one.path)
            for one in waiting:
                if one.tells:
                    one.target.unlink(missing_ok=True)
            for one in waiting:
                with _reasons(one.path):
                    _publish(one.neighbour, one.target, force=one.force)
                    self._named.append(one.target)
        self._clear()

    def withdraw(self) -> None:
        """Take the names away again that were given where nothing stood before."""
        for target in self._named:
            if target in self._new:  # what was replaced with force is gone already
                target.unlink(missing_ok=True)
        self._clear()

    def _clear(self) -> None:
        for one in self._staged.values():
            with contextlib.suppress(OSError):  # a full disk, which has been told of
                one.stream.close()
            one.neighbour.unlink(missing_ok=True)
        for handle in self._held:
            os.close(handle)
        self._staged, self._held = {}, []


def remove_leftovers(folder: Path) -> None:
    """Remove files on their way whose writer was killed: nobody holds their lock any more."""
    for part in folder.glob(".*.part") if system.CAN_LOCK else ():
        if part.is_symlink():
            continue
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDONLY)
            try:
                if system.is_abandoned(handle):
                    part.unlink()
            finally:
                os.close(handle)


@contextlib.contextmanager
def atomic_files() -> Iterator[Batch]:
    """Write files that get their names together when the block ends, or with ``publish()`` in it.

    Whatever goes wrong, none of them is left; one that was replaced with ``force`` is gone.
    """
    files = Batch()
    try:
        yield files
        files.publish()
    except BaseException:
        files.withdraw()
        raise


@contextlib.contextmanager
def _reasons(path: Path) -> Iterator[None]:
    """Say of which file a fault of the system is, and what to do."""
    try:
        yield
    except FileExistsError:
        raise _appeared(path) from None
    except OSError as fault:
        raise OutputError(
            f"Cannot write {path}: {fault.strerror or fault}. Nothing was written; "
            "free some space or choose another place."
        ) from fault


def _appeared(path: Path) -> OutputError:
    return OutputError(
        f"The output {path} appeared while it was being made; it was left alone. "
        "Choose another name, or allow it to be replaced with --force (force=True)."
    )


@contextlib.contextmanager
def _alone(folders: Iterable[Path]) -> Iterator[None]:
    """Keep others waiting who give names in these folders, where the system has such locks."""
    with contextlib.ExitStack() as stack:
        for folder in sorted(folders) if system.CAN_LOCK else ():  # in order: no deadlock
            try:
                handle = os.open(folder, os.O_RDONLY)
            except OSError:  # may be written into and not be read: nobody can lock it
                continue
            stack.callback(os.close, handle)
            _lock(handle, folder)
        yield


def _lock(handle: int, folder: Path) -> None:
    """Wait for the lock on a folder, but not for ever."""
    for _ in range(int(_PATIENCE / _NAP)):
        if system.try_lock(handle):
            return
        time.sleep(_NAP)
    raise OutputError(
        f"Another program has held the lock on {folder} for {_PATIENCE:.0f} s. Nothing was "
        "written; wait for it, or choose another directory."
    )


def _publish(neighbour: Path, target: Path, *, force: bool) -> None:
    """Give the finished file its name, and make the name last."""
    if force:
        neighbour.replace(target)
    else:
        system.rename_new(neighbour, target)
    system.sync_folder(target.parent)
