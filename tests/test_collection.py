"""Tests have the same names on every machine and at any time.

Two workers that share the tests out compare the names they collected, and run nothing when the
names differ: a name that holds the time, an address in memory or the order of a set stops them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow

# Set the clock (first argument: by how many seconds), collect the other arguments, print names.
COLLECT = """
import json, sys, time
shift, *arguments = sys.argv[1:]
now, ns = time.time, time.time_ns
time.time = lambda: now() + int(shift)
time.time_ns = lambda: ns() + int(shift) * 10**9

import pytest

class Names:
    def pytest_collection_finish(self, session):
        self.names = [item.nodeid for item in session.items]

seen = Names()
code = pytest.main(
    ["--collect-only", "-qqq", "--assert=plain", "-pno:cacheprovider", *arguments], plugins=[seen]
)
assert code == 0, code
print("\\n" + json.dumps(seen.names))
"""


# What differs between machines: the order of sets, the time zone, where files lie, the clock.
MACHINES = (("1", "UTC", "a", 0), ("2", "Asia/Tokyo", "b", 40_000_000))


def collected(paths: Iterable[Path], folder: Path, *, root: Path, machine: int) -> list[str]:
    """Return the names of tests as another process sees them, on a machine that is another one."""
    order, zone, name, shift = MACHINES[machine]
    (folder / name).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(shift), *map(str, paths)],
        cwd=root,
        env=os.environ | {"PYTHONHASHSEED": order, "TZ": zone, "TMPDIR": str(folder / name)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


@pytest.mark.deep
def test_names_of_tests_depend_on_nothing_that_varies(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """This session, which may run a part of the tests only, is one machine; the other is made."""
    here = [item.nodeid for item in request.session.items]
    there = collected([ROOT / "tests"], tmp_path, root=ROOT, machine=1)
    assert set(here) - set(there) == set()
    chosen = set(here)
    assert here == [name for name in there if name in chosen], "the same tests, in another order"


def test_a_name_that_varies_is_seen(tmp_path: Path) -> None:
    (tmp_path / "test_vary.py").write_text(
        "import gzip, pytest, tempfile\n"
        "@pytest.mark.parametrize('x', [gzip.compress(b'')])\ndef test_clock(x): pass\n"
        "@pytest.mark.parametrize('x', {'a', 'b', 'c', 'd', 'e'})\ndef test_order(x): pass\n"
        "@pytest.mark.parametrize('x', [tempfile.gettempdir()])\ndef test_place(x): pass\n"
        "@pytest.mark.parametrize('x', [gzip.compress(b'')], ids=['gzip'])\ndef test_ok(x): pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    paths = [tmp_path / "test_vary.py"]
    here, there = (collected(paths, tmp_path, root=tmp_path, machine=which) for which in (0, 1))
    varying = {name.split("::")[1].split("[")[0] for name in set(here) ^ set(there)}
    assert varying == {"test_clock", "test_place"}
    assert here != there
    assert [name for name in here if "test_order" in name] != [
        name for name in there if "test_order" in name
    ]
