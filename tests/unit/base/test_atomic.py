"""Writing: whole or not at all, never over the input."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import IO

import polars as pl
import pytest

from shoal.base import atomic
from shoal.base.atomic import atomic_file, atomic_files, check_output, remove_leftovers
from shoal.base.errors import OutputError
from shoal.tables.write_files import write_table

FRAME = pl.DataFrame({"a": [1, 2]})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=["nameless", "neighbour", "copy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every way in which a system may let us write: the guarantees are the same."""
    if request.param == "neighbour":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    if request.param == "copy":
        link = os.link

        def refuse(source: str, target: str, **options: object) -> None:
            if options:
                raise OSError(errno.EPERM, "no")
            link(source, target)

        monkeypatch.setattr(os, "link", refuse)
    return str(request.param)


def test_a_file_appears_whole(tmp_path: Path, way: str) -> None:
    path = tmp_path / "out"
    with atomic_file(path) as stream:
        stream.write(b"one ")
        assert not path.exists()
        stream.write(b"two")
    assert path.read_bytes() == b"one two"
    assert names(tmp_path) == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
def test_whatever_ends_the_writing_leaves_nothing(
    tmp_path: Path, way: str, fault: type[BaseException]
) -> None:
    old = tmp_path / "old"
    old.write_text("before")
    for path in (tmp_path / "new", old):
        with pytest.raises(fault), atomic_file(path, force=True) as stream:
            stream.write(b"half")
            stream.flush()
            raise fault
    assert names(tmp_path) == ["old"]
    assert old.read_text() == "before"


def test_a_full_disk_leaves_nothing(tmp_path: Path, way: str) -> None:
    path = tmp_path / "out"
    with pytest.raises(OutputError) as caught, atomic_file(path) as stream:
        stream.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value).startswith(f"Cannot write {path}: No space left on device. Nothing")
    assert not names(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".feather"])
def test_a_table_on_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    def full(path: Path, *, private: bool) -> IO[bytes]:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr(atomic.system, "open_new", full)
    with pytest.raises(OutputError, match="Nothing was written"):
        write_table(pl.DataFrame({"a": range(100_000)}), tmp_path / f"out{suffix}")
    assert not names(tmp_path)


def test_a_kill_in_the_middle_leaves_no_part_of_the_output(tmp_path: Path) -> None:
    code = (
        "import os, sys, signal\nfrom shoal.base.atomic import atomic_file\n"
        "with atomic_file(sys.argv[1]) as stream:\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    out = tmp_path / "out.csv"
    done = subprocess.run([sys.executable, "-c", code, str(out)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not out.exists()


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path, way: str) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")
    with pytest.raises(OutputError, match=r"already exists. Choose another name, or allow .*--for"):
        write_table(FRAME, path)
    assert path.read_text() == "before"
    write_table(FRAME, path, force=True)
    assert path.read_text() == "a\n1\n2\n"
    assert names(tmp_path) == ["out.csv"]


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path: Path, way: str) -> None:
    path = tmp_path / "out"
    with pytest.raises(OutputError, match="appeared while it was being made"), atomic_file(path):
        path.write_text("somebody else's")
    assert path.read_text() == "somebody else's"
    assert names(tmp_path) == ["out"]


def test_the_input_is_never_written_over(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    for path in (
        source,
        tmp_path / "link.csv",
        tmp_path / "hard.csv",
        tmp_path / "sub" / ".." / "in.csv",
    ):
        with pytest.raises(OutputError) as caught:
            write_table(FRAME, path, force=True, inputs=[tmp_path / "none", source])
        assert f"The output {path} is the input {source}." in str(caught.value)
        assert "choose another name" in str(caught.value)
    assert source.read_text() == "a\n1\n"


def test_a_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    write_table(FRAME, link)
    assert link.is_symlink()
    assert target.read_text() == "a\n1\n2\n"


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"it is a directory\. Give the name of a file in it"):
        check_output(tmp_path)
    with pytest.raises(OutputError, match=r"the directory .*none does not exist. Create it first"):
        write_table(FRAME, tmp_path / "none" / "out.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(OutputError, match="not a regular file"):
        write_table(FRAME, tmp_path / "pipe.csv", force=True)


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match="no permission to create files in"):
        write_table(FRAME, tmp_path / "out.csv")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_a_folder_that_only_seems_writable() -> None:
    with pytest.raises(OutputError, match=r"Cannot write /proc/shoal-test\.csv: "):
        write_table(FRAME, "/proc/shoal-test.csv")


def test_a_system_without_links_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    write_table(FRAME, tmp_path / "out.csv")
    assert names(tmp_path) == ["out.csv"]


def leave(folder: Path, text: str, *, force: bool = False) -> None:
    """Write a release and a manifest that says what is in it."""
    with atomic_files() as files:
        with files.open(folder / "release", force=force) as stream:
            stream.write(text.encode())
        assert files.digest(folder / "release") == (sha256(text.encode()).hexdigest(), len(text))
        with files.open(folder / "manifest", force=force, tells=True) as stream:
            stream.write(text.encode())


@pytest.mark.parametrize("stop", ["release", "manifest"])
@pytest.mark.parametrize("old", [False, True])
def test_a_manifest_never_stands_beside_what_it_does_not_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: str, old: bool
) -> None:
    """A failure at every step, seen as a kill there would leave it, and as an error leaves it."""
    if old:
        leave(tmp_path, "old")
    at_the_stop: dict[str, str] = {}
    real = atomic._publish

    def held(neighbour: Path, target: Path, *, force: bool) -> None:
        if target.name == stop:
            files = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
            at_the_stop.update({path.name: path.read_text() for path in files})
            raise OSError(errno.EIO, "pulled out")
        real(neighbour, target, force=force)

    monkeypatch.setattr(atomic, "_publish", held)
    with pytest.raises(OutputError, match=f"{stop}: pulled out"):
        leave(tmp_path, "new", force=True)
    before = {"release": "old"} if old else {}
    assert at_the_stop == ({"release": "new"} if stop == "manifest" else before)
    assert names(tmp_path) == (["release"] if old else [])


def test_of_two_who_replace_at_once_one_wins_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, first = atomic._publish, {}

    def slowly(neighbour: Path, target: Path, *, force: bool) -> None:
        # Whoever names his release first would name his manifest last.
        late = first.setdefault(target.name, neighbour.read_text()) == neighbour.read_text()
        real(neighbour, target, force=force)
        time.sleep(0.05 if late else 0.01)

    monkeypatch.setattr(atomic, "_publish", slowly)
    for _ in range(2):
        first.clear()
        writers = [
            threading.Thread(target=leave, args=(tmp_path, text), kwargs={"force": True})
            for text in ("one", "other")
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert (tmp_path / "release").read_text() == (tmp_path / "manifest").read_text()
    assert names(tmp_path) == ["manifest", "release"]


def test_who_comes_second_and_may_not_replace_touches_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="appeared while it was being made"), atomic_files() as w:
        with w.open(tmp_path / "release") as stream:
            stream.write(b"mine")
        with w.open(tmp_path / "manifest", force=True, tells=True) as stream:
            stream.write(b"mine")
        leave(tmp_path, "yours")
    assert (tmp_path / "manifest").read_text() == (tmp_path / "release").read_text() == "yours"


def test_a_lock_that_is_never_let_go_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(atomic, "_PATIENCE", 0.1)
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        with pytest.raises(OutputError, match="held the lock on"):
            leave(tmp_path, "mine")
    finally:
        os.close(handle)
    assert not names(tmp_path)


def test_only_leftovers_of_dead_writers_are_removed(tmp_path: Path) -> None:
    left = tmp_path / ".0001.history.abcd1234.part"
    left.write_bytes(b"persons and values")
    (tmp_path / "0001.history").write_bytes(b"whole")
    code = (
        "import sys, time; from pathlib import Path; from shoal.base.atomic import atomic_files\n"
        "with atomic_files() as files, files.open('x.csv', private=True) as stream:\n"
        "    stream.write(b'x'); stream.flush()\n"
        "    from shoal.base import system\n"
        "    parts = [*Path().glob('.x.csv.*.part')] or None\n"
        "    if parts is None:\n"
        "        system.name_file(stream, next(iter(files._staged.values())).neighbour)\n"
        "    print('written', flush=True); time.sleep(60)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "written\n"
    remove_leftovers(tmp_path)
    assert not left.exists() and (tmp_path / "0001.history").exists()
    assert len([*tmp_path.glob(".x.csv.*.part")]) == 1  # its writer is at work
    writer.kill()
    writer.wait()
    writer.stdout.close()
    remove_leftovers(tmp_path)
    assert not [*tmp_path.glob(".*.part")]
