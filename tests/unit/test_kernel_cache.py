"""Compiled kernels are kept where that is possible, and work where it is not."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import KAnonymity, LDiversity, kernels
from shoal.groupers.ahead import compile_refinement
from shoal.kernels.boxes.refine import trials

HERE = """
import numpy as np
from numba.core import event
from shoal import kernels
from shoal.kernels.anatomy import largest_buckets

class Listener(event.Listener):
    compiled = 0
    def on_start(self, event): Listener.compiled += 1
    def on_end(self, event): pass

with event.install_listener("numba:compile", Listener()):
    found = largest_buckets(np.array([2, 2, 1]), 2)
assert found.tolist() == [[0, 1], [0, 1]], found
print(kernels._base(), Listener.compiled > 0)
"""


def run(package, **folders):
    """Run a kernel in a new process; return the cache folder and whether it was compiled."""
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    env = kept | {"PYTHONPATH": str(package)} | {name: str(path) for name, path in folders.items()}
    done = subprocess.run(
        [sys.executable, "-B", "-c", HERE], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    folder, compiled = done.stdout.split()
    return folder, compiled == "True"


@pytest.fixture
def package(tmp_path):
    """A copy of what the kernel needs, which nobody may write to."""
    source, copy = Path(kernels.__file__).parent, tmp_path / "package" / "shoal"
    (copy / "kernels").mkdir(parents=True)
    (copy / "__init__.py").write_text("")
    for name in ("__init__.py", "anatomy.py"):
        (copy / "kernels" / name).write_bytes((source / name).read_bytes())
    for path in (copy / "kernels", copy, copy.parent):
        path.chmod(0o555)
    yield copy.parent
    for path in (copy.parent, copy, copy / "kernels"):
        path.chmod(0o755)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_read_only_package_compiles_once(package, tmp_path):
    before = files(package)
    cache = tmp_path / "cache"
    assert run(package, XDG_CACHE_HOME=cache) == (str(cache / "shoal"), True)
    assert run(package, XDG_CACHE_HOME=cache) == (str(cache / "shoal"), False)
    assert files(package) == before


def test_what_only_a_compiler_needs_is_not_loaded(tmp_path):
    code = (
        "import sys; import numpy as np; from shoal.kernels.space.mondrian import median\n"
        "assert median(np.array([3, 1, 2], np.int32), 3) == 2\n"
        "print('numba.cpython.unicode' in sys.modules)"
    )
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for loaded in ("True", "False"):
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == loaded


def test_a_damaged_file_is_compiled_again(package, tmp_path):
    cache = tmp_path / "cache"
    run(package, XDG_CACHE_HOME=cache)
    for path in cache.rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    assert run(package, XDG_CACHE_HOME=cache)[1]


def test_without_a_cache_folder_of_the_user_a_private_one_is_used(package, tmp_path):
    nowhere, room = tmp_path / "file", tmp_path / "tmp"
    nowhere.write_text("")
    room.mkdir()
    for compiled in (True, False):
        folder, again = run(package, XDG_CACHE_HOME=nowhere, TMPDIR=room)
        assert Path(folder).parent == room
        assert again == compiled
    assert Path(folder).stat().st_mode & 0o077 == 0


def test_a_folder_that_others_can_write_to_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/nowhere")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = kernels._base.__wrapped__()
    assert folder.parent == tmp_path
    folder.chmod(0o777)
    assert kernels._base.__wrapped__() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert kernels._base.__wrapped__() is None


def test_kernels_work_and_say_so_when_nothing_can_be_kept(monkeypatch):
    from shoal.cli import work

    monkeypatch.setattr(kernels, "_base", lambda: None)
    doubled = kernels.kernel(_doubled)
    assert doubled(21) == 42
    assert not kernels.kept()
    assert "set NUMBA_CACHE_DIR to a folder of your own" in work.compiling()


def _doubled(x):
    return 2 * x


def test_a_plain_number_is_no_type_of_its_own(monkeypatch):
    monkeypatch.setattr(kernels, "_base", lambda: None)
    doubled = kernels.inner(_doubled)
    both = kernels.kernel(lambda n: doubled(0) + doubled(1) + doubled(n))
    assert both(3) == 8
    assert len(doubled.signatures) == 1


@pytest.mark.parametrize("diverse", [False, True])
def test_refinement_is_compiled_ahead_as_it_is_used(diverse):
    rules = [KAnonymity(3), *([LDiversity(2, column="ill")] if diverse else [])]
    compile_refinement(diverse=diverse)
    before = len(trials.signatures)
    place = np.arange(200)
    frame = pl.DataFrame({"a": place % 90, "b": place % 7, "c": place * 7 % 11, "ill": place % 3})
    shoal.anonymize(frame, quasi=["a", "b", "c"], sensitive=["ill"], rules=rules, seed=1)
    assert len(trials.signatures) == before


def test_a_process_that_compiles_ahead_ends_with_the_one_that_asked():
    words = [sys.executable, "-m", "shoal.base.workers", "shoal.groupers.ahead"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as asked:
        asked.stdin.close()
        assert asked.wait(60) == 0


def test_a_run_goes_on_without_the_process_that_compiles_ahead(monkeypatch):
    from shoal.cli import work

    asked = []

    def full(*args, **_):
        asked.append(args)
        raise OSError("Resource temporarily unavailable")

    monkeypatch.setattr(work.subprocess, "Popen", full)
    monkeypatch.setenv("SHOAL_THREADS", "2")
    work.ahead(diverse=True)
    assert asked
