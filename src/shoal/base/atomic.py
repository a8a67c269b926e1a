"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from shoal.base.errors import OutputError

Pathlike = str | os.PathLike[str]


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
    path: Path | str, *, force: bool = False, inputs: Sequence[Pathlike] = ()
) -> Iterator[IO[bytes]]:
    """Open a file that appears under ``path`` only once all of it is on the disk.

    Parameters
    ----------
    path
        Where the file goes. An existing file is replaced only with ``force``.
    inputs
        Files that must never be written over, by whatever name or link they are reached.

    Notes
    -----
    Bytes go to a file without a name, where the system has such, or else to a hidden neighbour;
    they are forced to the disk, and only then get the name. Whatever ends the block (a full disk,
    ctrl-C) leaves nothing behind and the old file as it was. Even ``kill -9`` leaves at most the
    neighbour, never a part of the output.
    """
    path = Path(path)
    target = check_output(path, force=force, inputs=inputs)
    neighbour = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        try:
            with _open(neighbour) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                if not neighbour.exists():
                    _name(stream, neighbour)
            _publish(neighbour, target, force=force)
        except FileExistsError:
            raise OutputError(
                f"The output {path} appeared while it was being made; it was left alone. "
                "Choose another name, or allow it to be replaced with --force (force=True)."
            ) from None
        except OSError as fault:
            raise OutputError(
                f"Cannot write {path}: {fault.strerror or fault}. Nothing was written; "
                "free some space or choose another place."
            ) from fault
    finally:
        neighbour.unlink(missing_ok=True)


def _open(neighbour: Path) -> IO[bytes]:
    """Open a file without a name in the neighbour's folder, or else the neighbour itself."""
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless and Path("/proc/self/fd").is_dir():
        with contextlib.suppress(OSError):  # not every file system has them
            return os.fdopen(os.open(neighbour.parent, nameless | os.O_RDWR, 0o666), "w+b")
    return neighbour.open("xb")


def _name(stream: IO[bytes], path: Path) -> None:
    """Give the open file without a name the name ``path``."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # Any folder handle makes this the call that follows the link to the open file.
        source = f"/proc/self/fd/{stream.fileno()}"
        os.link(source, path, src_dir_fd=folder, follow_symlinks=True)
    except OSError:  # a sandbox without that door: copy
        with path.open("xb") as copy:
            stream.seek(0)
            shutil.copyfileobj(stream, copy)
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(folder)


def _publish(neighbour: Path, target: Path, *, force: bool) -> None:
    """Give the finished file its name, and make the name last."""
    if force:
        neighbour.replace(target)
    else:
        try:
            # Unlike a rename, a link fails when someone else made the file meanwhile.
            os.link(neighbour, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            neighbour.replace(target)
    with contextlib.suppress(OSError):  # not every system lets a directory be synced
        handle = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
