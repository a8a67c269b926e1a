"""Settings that all tests share, and the order in which they run."""

from __future__ import annotations

import gc
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# What a seed or a password stands for takes a tenth of a second on purpose, and a run asks twice.
# Tests take the same few again and again: each is computed once per process, to the same bits.
hashlib.scrypt = cache(hashlib.scrypt)

# A busy machine must not turn a slow example into a failed test; the same examples every time, so
# more of them would tell no more from the second run on.
settings.register_profile("shoal", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("shoal")
# The deep tests look at other examples each time; a failure prints how to repeat it.
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=50)

HERE = Path(__file__).parent
# Folders whose tests start the real command, a server, a browser or Spark: slow by nature. In the
# order in which they run: what takes longest in one piece must not be what all wait for at the end.
SLOW = ("ext/spark", "experiments", "ext/databases", "ext/web", "golden", "cli")
# What needs more than Python, and is skipped where that is not there: Java, a browser. PostgreSQL
# and the tools of the documentation site are needed by single tests of other files. Besides, what
# tells of what stands beside the package: experiments, the soak, an attack by enumeration,
# pipelines of others, and figures over 497 columns.
DEEP = (
    "ext/spark/test_*.py",
    "experiments/test_*.py",
    "unit/tools/test_soak.py",
    "unit/verbs/test_minimality.py",
    "docs/test_pipelines.py",
    "guessing/test_measure.py",
    "ext/web/test_browser.py",
    "ext/web/test_states.py",
    "cli/test_report_browser.py",
)
TOGETHER = ("ext/spark", "ext/databases")  # one session, one server for all files of the folder
# The contract of methods comes first, in two halves that call different kernels: two workers that
# start with nothing compiled compile each kernel once for both, instead of both of them.
FIRST = "contracts/test_groupers.py"


def pytest_configure(config: pytest.Config) -> None:
    """Draw new examples in ``make test-deep``."""
    if config.option.markexpr == "deep":
        settings.load_profile("fresh")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests last.

    ``make test-quick`` runs what is not marked ``slow``: by its folder here, or by hand where a
    test takes more than a quarter of a second of processor time. ``make test`` leaves out what is
    marked ``deep``, which ``make test-deep`` runs.
    """
    for item in items:
        folder, deep = _place(item.path)
        if folder in SLOW:
            item.add_marker(pytest.mark.slow)
        if deep or "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.deep)
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file together: what one of them has made, the next may use."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::", maxsplit=1)[0]
            folder = Path(path).parent.relative_to("tests").as_posix()
            if path.endswith(FIRST) and re.search(r"[\[-]shoal\b", nodeid):
                return f"{path} boxes"
            return folder if folder in TOGETHER else path

    return ByFile(config, log)


@cache
def _place(file: Path) -> tuple[str, bool]:
    """Return the folder of a file of tests, and whether all of them are deep."""
    path = file.relative_to(HERE)
    return path.parent.as_posix(), any(path.match(one) for one in DEEP)


def _turn(item: pytest.Item) -> int:
    folder, _ = _place(item.path)
    if folder == "contracts" and item.path == HERE / FIRST:
        return -1
    if folder in SLOW:
        return 1 + SLOW.index(folder)
    return len(SLOW) + 1 if item.get_closest_marker("slow") else 0


def pytest_collection_finish() -> None:
    """Spare the collector of garbage what lives until the end anyway: tests and libraries."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Hand it back: a library counts what is left at the end as leaks."""
    gc.unfreeze()
