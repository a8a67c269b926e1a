"""Compiled kernels are kept where that is possible, and work where it is not."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import KAnonymity, LDiversity, kernels
from shoal.base.errors import ShoalWarning
from shoal.groupers import k_member
from shoal.groupers.compile_ahead import compile_refinement
from shoal.kernels.boxes.refine import trials
from shoal.kernels.cache_folder import Keeping, keeping
from tests.tables import encoded

pytestmark = [pytest.mark.slow, pytest.mark.unwatched]

# A process with numba loaded, and a child of it for each line of settings of its environment:
# what is kept is looked for when our own modules are loaded.
HERE = """
import json, os, sys
import numpy as np
from numba.core import event


class Listener(event.Listener):
    compiled = 0
    def on_start(self, event): Listener.compiled += 1
    def on_end(self, event): pass


def once(changes):
    os.umask(changes.pop("umask"))
    os.environ.update(changes)
    sys.path.insert(0, os.environ["PYTHONPATH"])
    from shoal.kernels.cache_folder import keeping
    from shoal.kernels.tiny import total

    with event.install_listener("numba:compile", Listener()):
        found = total(np.array([2, 2, 1]))
    assert found == 5, found
    print(keeping().folder, Listener.compiled > 0, flush=True)


for line in sys.stdin:
    if not (child := os.fork()):
        once(json.loads(line))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("failed", flush=True)
"""
# What is kept and where does not depend on what a kernel does: one that is compiled soon.
TINY = """
from shoal.kernels import kernel

@kernel
def total(values):
    found = 0
    for value in values:
        found += value
    return found
"""


@pytest.fixture(scope="module")
def started():
    """Start the process that has numba loaded, and nothing of ours."""
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR", "PYTHONPATH")
    env = {name: value for name, value in os.environ.items() if name not in names}
    words = [sys.executable, "-B", "-P", "-c", HERE]
    with subprocess.Popen(
        words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="module")
def run(package, started):
    """Run a kernel in a new process; return the cache folder and whether it was compiled."""

    def run(umask=0o022, **folders):
        changes = {"PYTHONPATH": str(package), "umask": umask}
        changes |= {name: str(path) for name, path in folders.items()}
        started.stdin.write(json.dumps(changes) + "\n")
        started.stdin.flush()
        folder, compiled = started.stdout.readline().split()
        return folder, compiled == "True"

    return run


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of what the kernel needs, which nobody may write to."""
    copy = tmp_path_factory.mktemp("copy") / "package" / "shoal"
    source = Path(kernels.__file__).parents[1]
    names = ("__init__", "cache_folder", "inner_functions", "numba_internals")
    needed = [f"kernels/{name}.py" for name in names]
    needed += [f"base/{name}.py" for name in ("__init__", "errors", "system")]
    for folder in (copy / "kernels", copy / "base"):
        folder.mkdir(parents=True)
    (copy / "__init__.py").write_text("")
    for name in needed:
        (copy / name).write_bytes((source / name).read_bytes())
    (copy / "kernels" / "tiny.py").write_text(TINY)
    folders = (copy.parent, copy, copy / "kernels", copy / "base")
    for path in folders:
        path.chmod(0o555)
    yield copy.parent
    for path in folders:
        path.chmod(0o755)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def compiled(run, package, tmp_path_factory):
    """A cache that the kernel was compiled into while every file was open to everybody."""
    before, cache = files(package), tmp_path_factory.mktemp("compiled") / "cache"
    assert run(umask=0, XDG_CACHE_HOME=cache) == (str(cache / "shoal"), True)
    assert files(package) == before
    return cache


@pytest.fixture
def cache(compiled, tmp_path):
    """The same cache, for one test."""
    return Path(shutil.copytree(compiled, tmp_path / "cache"))


def test_a_read_only_package_compiles_once_and_keeps_it_closed_to_others(run, compiled, cache):
    assert not any(path.stat().st_mode & 0o022 for path in compiled.rglob("*"))
    assert run(XDG_CACHE_HOME=cache) == (str(cache / "shoal"), False)


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


@pytest.mark.parametrize("ending", ["nbc", "nbi"])
def test_a_damaged_file_is_compiled_again_and_kept(run, cache, ending):
    for path in cache.rglob(f"*.{ending}"):
        path.write_bytes(path.read_bytes()[:100])
    assert run(XDG_CACHE_HOME=cache)[1]
    assert not run(XDG_CACHE_HOME=cache)[1]


def test_without_a_cache_folder_of_the_user_a_private_one_is_used(run, tmp_path):
    nowhere, room = tmp_path / "file", tmp_path / "tmp"
    nowhere.write_text("")
    room.mkdir()
    for compiled in (True, False):
        folder, again = run(XDG_CACHE_HOME=nowhere, TMPDIR=room)
        assert Path(folder).parent == room
        assert again == compiled
    assert Path(folder).stat().st_mode & 0o077 == 0


def found(**folders):
    """Ask afresh where compiled code is kept, with this environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
            patch.delenv(name, raising=False)
        temporary = str(folders.pop("TMPDIR"))
        patch.setattr(tempfile, "gettempdir", lambda: temporary)
        for name, path in folders.items():
            patch.setenv(name, str(path))
        return keeping.__wrapped__()


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path):
    folder = found(NUMBA_CACHE_DIR="/dev/null/nowhere", TMPDIR=tmp_path).folder
    assert folder.parent == tmp_path
    folder.chmod(0o777)
    assert found(NUMBA_CACHE_DIR="/dev/null/nowhere", TMPDIR=tmp_path).folder is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert found(NUMBA_CACHE_DIR="/dev/null/nowhere", TMPDIR=tmp_path).folder is None


PLACES = {
    "NUMBA_CACHE_DIR": "shoal",
    "XDG_CACHE_HOME": "shoal",
    "HOME": ".cache/shoal",
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("above", [False, True], ids=["itself", "above"])
def test_a_cache_that_others_can_write_to_is_not_used(tmp_path, name, above):
    place, room = tmp_path / "cache", tmp_path / "tmp"
    place.mkdir()
    room.mkdir(mode=0o700)
    kept = found(**{name: place}, TMPDIR=room)
    assert kept == Keeping(place / PLACES[name])
    assert kept.folder.stat().st_mode & 0o077 == 0
    open_one = place if above else kept.folder
    open_one.chmod(0o777)
    again = found(**{name: place}, TMPDIR=room)
    assert again.folder.parent == room
    assert again.refused == f"{open_one} can be written to by others"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("above", [False, True], ids=["itself", "above"])
def test_the_cache_of_another_user_is_not_used(tmp_path, above):
    folder = tmp_path / "cache" / "shoal"
    folder.mkdir(parents=True)
    given = folder.parent if above else folder
    os.chown(given, 65534, 65534)
    kept = found(XDG_CACHE_HOME=folder.parent, TMPDIR="/dev/null")
    assert kept == Keeping(None, f"{given} belongs to another user")


SPOIL = {
    "open folder": lambda path: path.parent.chmod(0o777),
    "open file": lambda path: path.chmod(0o666),
    "link": lambda path: path.rename(path.parents[4] / "x") and path.symlink_to("../../../../x"),
    "of another user": lambda path: os.chown(path, 65534, 65534),
}


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL)
def test_a_planted_index_is_not_run(run, cache, tmp_path, spoil):
    if spoil is SPOIL["of another user"] and os.getuid() != 0:
        pytest.skip("only root can give files away")
    proof = tmp_path / "proof"
    (index,) = cache.rglob("*.nbi")
    index.write_bytes(pickle.dumps(Planted(str(proof))))
    spoil(index)
    folder, compiled = run(XDG_CACHE_HOME=cache)
    assert Path(folder) == cache / "shoal"
    assert compiled
    assert not proof.exists()


class Planted:
    """What an attacker would leave: to read it is to run it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def nowhere(patch, why=""):
    """Let there be no folder for compiled code."""
    for module in (kernels, sys.modules["shoal.kernels.cache_folder"]):
        patch.setattr(module, "keeping", lambda: Keeping(None, why))


def test_kernels_work_and_say_so_when_nothing_can_be_kept(monkeypatch):
    from shoal.cli import background

    why = "/x belongs to another user"
    nowhere(monkeypatch, why)
    doubled = kernels.kernel(_doubled)
    assert doubled(21) == 42
    assert not kernels.kept()
    assert "et NUMBA_CACHE_DIR to a folder of your own" in background.compiling()
    assert "Your cache is not used, since /x belongs to another user" in background.compiling()


def _doubled(x):
    return 2 * x


def test_a_plain_number_is_no_type_of_its_own(monkeypatch):
    nowhere(monkeypatch)
    doubled = kernels.inner(_doubled)
    both = kernels.kernel(lambda n: doubled(0) + doubled(1) + doubled(n))
    assert both(3) == 8
    assert len(doubled.made.signatures) == 1


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
    words = [sys.executable, "-m", "shoal.base.workers", "shoal.groupers.compile_ahead"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as asked:
        asked.stdin.close()
        assert asked.wait(60) == 0


def test_a_run_goes_on_without_the_process_that_compiles_ahead(monkeypatch):
    from shoal.base import workers
    from shoal.cli import background

    asked = []

    def full(*args, **_):
        asked.append(args)
        raise OSError("Resource temporarily unavailable")

    monkeypatch.setattr(workers.subprocess, "Popen", full)
    monkeypatch.setenv("SHOAL_THREADS", "2")
    background.compile_ahead("shoal", diverse=True)
    assert asked


PLAIN = """
import sys
import numpy as np
from shoal import KAnonymity, kernels
from shoal.groupers import k_member
from tests.tables import encoded
assert "shoal.kernels.numba_internals" not in sys.modules
data = encoded(np.random.default_rng(1), 200, "to")
print(k_member.group(data, KAnonymity(3), np.random.default_rng(2)).labels().tolist())
"""


@pytest.mark.slow
def test_plain_kernels_make_the_same_groups():
    env, root = os.environ | {"SHOAL_PLAIN_KERNELS": "1"}, Path(__file__).parents[3]
    words = [sys.executable, "-c", PLAIN]
    plain = subprocess.run(words, env=env, cwd=root, capture_output=True, text=True, check=False)
    assert not plain.returncode, plain.stderr
    data = encoded(np.random.default_rng(1), 200, "to")
    made = k_member.group(data, KAnonymity(3), np.random.default_rng(2))
    assert json.loads(plain.stdout) == made.labels().tolist()


@pytest.mark.parametrize("version", ["0.69.0", "1.0.0rc1"])
def test_a_newer_numba_is_used_plainly_with_one_line_of_warning(version, monkeypatch):
    monkeypatch.delenv("SHOAL_PLAIN_KERNELS", raising=False)
    monkeypatch.setattr(kernels.numba, "__version__", version)
    with pytest.warns(ShoalWarning, match=f"not tried with numba {version}") as heard:
        assert kernels._private_parts() is None
    assert len(heard) == 1 and "\n" not in str(heard[0].message)
    monkeypatch.setenv("SHOAL_PLAIN_KERNELS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernels._private_parts() is None
    monkeypatch.delenv("SHOAL_PLAIN_KERNELS")
    monkeypatch.setattr(kernels.numba, "__version__", "0.68.1")
    assert kernels._private_parts() is not None
