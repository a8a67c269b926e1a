"""What only POSIX systems have is used in one module, and Shoal works without it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.base import system
from shoal.base.errors import OutputError, ParameterError
from shoal.base.seeds import read_secret

SOURCE = Path(system.__file__).parents[1]
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "signal", "msvcrt", "winreg"}
NAMES = {
    "O_NOFOLLOW", "O_TMPFILE", "chown", "fchmod", "fork", "geteuid", "getpgid", "getuid", "killpg",
    "kill", "link", "memfd_create", "sched_getaffinity", "setsid", "symlink", "sysconf", "umask",
}  # fmt: skip


def posix_uses(path: Path) -> list[str]:
    """Return every import or call in a file of what a system may lack."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name in MODULES]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module or ""] if node.module in MODULES else []
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found += [f"os.{node.attr}"] if node.value.id == "os" and node.attr in NAMES else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += ["/proc"] if node.value.startswith("/proc") else []
        elif isinstance(node, ast.keyword) and node.arg == "start_new_session":
            found.append("start_new_session")
    return found


def test_one_module_holds_what_systems_differ_in() -> None:
    used = {path: posix_uses(path) for path in SOURCE.rglob("*.py")}
    own = SOURCE / "base" / "system.py"
    assert {"fcntl", "resource", "os.kill", "os.getuid", "/proc"} <= {*used.pop(own)}
    assert not {str(path): names for path, names in used.items() if names}


# Libraries are loaded first: it is Shoal that must not need what is then taken away.
WITHOUT = """
import asyncio, os, signal, subprocess, sys, tempfile
import numba, numpy, polars, pyarrow, pydantic, rich, typer
from numba.core import caching
for name in {names!r}:
    if hasattr(os, name) and name not in ("link", "kill"):
        delattr(os, name)
tempfile._O_TMPFILE_WORKS = False  # Python asks that instead of looking
del signal.SIGTTIN
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
def no_link(*args, **options): raise OSError("no links here")
os.link = no_link
from shoal.base import system
assert system.user_id() is None and system.peak_memory() is None and not system.CAN_LOCK
from shoal.cli.app import run
for words in {commands!r}:
    sys.argv = ["shoal", *words.split()]
    try:
        code = run()
    except SystemExit as end:
        code = end.code
    if code:
        sys.exit(f"{{words}}: {{code}}")
"""
COMMANDS = [
    "demo --out demo",
    "start demo/patients.csv --yes -o .",
    "anonymize demo/patients.csv --plan demo/plan.toml -o first.csv --report first.html",
    "audit first.csv --plan demo/plan.toml",
]


@pytest.mark.slow
def test_commands_work_where_the_system_has_none_of_it(tmp_path: Path) -> None:
    code = WITHOUT.format(names=sorted(NAMES), commands=COMMANDS)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "first.csv").stat().st_size > 0
    assert not list(tmp_path.rglob(".*")), "a temporary file was left"


def windows(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))


def test_a_private_file_needs_an_access_list_where_there_are_no_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows(monkeypatch, tmp_path)
    file, tools = tmp_path / "history", tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setenv("USERNAME", "ada")
    with pytest.raises(OutputError, match="icacls did not set its access list"):
        system.open_new(file, private=True)
    assert not file.exists()
    tool = tools / "icacls"
    tool.write_text('#!/bin/sh\necho "$@" > "$0.said"\n')
    tool.chmod(0o755)
    system.open_new(file, private=True).close()
    assert (tools / "icacls.said").read_text() == f"{file} /inheritance:r /grant:r ada:F\n"


def test_a_secret_lies_in_the_own_profile_where_there_are_no_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, shared = tmp_path / "ada", tmp_path / "shared"
    for folder in (home, shared):
        folder.mkdir()
        (folder / "seed.txt").write_text("12345\n")
    windows(monkeypatch, home)
    assert read_secret(home / "seed.txt", "seed") == b"12345"
    with pytest.raises(ParameterError, match="others may open it"):
        read_secret(shared / "seed.txt", "seed")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    (home / "link.txt").symlink_to(home / "seed.txt")
    with pytest.raises(ParameterError, match="it is a link"):
        read_secret(home / "link.txt", "seed")


def test_a_private_file_is_closed_before_it_is_written(tmp_path: Path) -> None:
    with system.open_new(tmp_path / "secret", private=True) as stream:
        assert os.fstat(stream.fileno()).st_mode & 0o777 == 0o600
        stream.write(b"x")
        stream.flush()
        system.name_file(stream, tmp_path / "secret")
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_a_private_file_stays_private_where_it_has_to_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("a sandbox")

    with system.open_new(tmp_path / "secret", private=True) as stream:
        stream.write(b"x")
        monkeypatch.setattr(os, "link", refuse)
        system.name_file(stream, tmp_path / "secret")
    assert (tmp_path / "secret").read_bytes() == b"x"
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
