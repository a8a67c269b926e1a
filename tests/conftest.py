"""Settings that all tests share, and the order in which they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not turn a slow example into a failed test; the same examples every time.
settings.register_profile("shoal", deadline=None, derandomize=True)
settings.load_profile("shoal")

HERE = Path(__file__).parent
# Folders whose tests start the real command, a server, a browser or Spark: slow by nature.
SLOW = {"cli", "db", "golden", "spark", "web"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests last, and keep those of a file together: a server is started once.

    ``make test-quick`` runs what is not marked ``slow``: by its folder here, or by hand where a
    test takes more than a second or two of processor time once the kernels are compiled.
    """
    for item in items:
        file = item.path.relative_to(HERE)
        if file.parts[0] in SLOW:
            item.add_marker(pytest.mark.slow)
        slow = item.get_closest_marker("slow") is not None
        server = file.parts[0] if file.parts[0] in {"db", "spark"} else file.as_posix()
        item.add_marker(pytest.mark.xdist_group(f"{server} {'slow' if slow else 'quick'}"))
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
