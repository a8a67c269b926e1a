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


def collected(paths: Iterable[Path], folder: Path, *, root: Path) -> list[list[str]]:
    """Return the names of tests as two processes see them, which agree on nothing that may vary."""
    settings = {"PYTHONHASHSEED": ("1", "2"), "TZ": ("UTC", "Asia/Tokyo"), "TMPDIR": ("a", "b")}
    processes = []
    for which, shift in enumerate((0, 40_000_000)):
        varying = {name: values[which] for name, values in settings.items()}
        temporary = folder / varying["TMPDIR"]
        temporary.mkdir()
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", COLLECT, str(shift), *map(str, paths)],
                cwd=root,
                env=os.environ | varying | {"TMPDIR": str(temporary)},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    texts = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(texts)
    return [json.loads(text.splitlines()[-1]) for text in texts]


def test_names_of_tests_depend_on_nothing_that_varies(tmp_path: Path) -> None:
    here, there = collected([ROOT / "tests"], tmp_path, root=ROOT)
    assert set(here) ^ set(there) == set()
    assert here == there, "the same tests, in another order"


def test_a_name_that_varies_is_seen(tmp_path: Path) -> None:
    (tmp_path / "test_vary.py").write_text(
        "import gzip, pytest, tempfile\n"
        "@pytest.mark.parametrize('x', [gzip.compress(b'')])\ndef test_clock(x): pass\n"
        "@pytest.mark.parametrize('x', {'a', 'b', 'c', 'd', 'e'})\ndef test_order(x): pass\n"
        "@pytest.mark.parametrize('x', [tempfile.gettempdir()])\ndef test_place(x): pass\n"
        "@pytest.mark.parametrize('x', [gzip.compress(b'')], ids=['gzip'])\ndef test_ok(x): pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    here, there = collected([tmp_path / "test_vary.py"], tmp_path, root=tmp_path)
    varying = {name.split("::")[1].split("[")[0] for name in set(here) ^ set(there)}
    assert varying == {"test_clock", "test_place"}
    assert here != there
    assert [name for name in here if "test_order" in name] != [
        name for name in there if "test_order" in name
    ]
