"""A pytest plugin that makes one extension unimportable: ``SHOAL_WITHOUT=spark pytest -p``."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

import pytest


class Missing(MetaPathFinder):
    """Finds the modules of one extension, and says that they are not there."""

    def __init__(self, name: str) -> None:
        self.package = f"shoal.ext.{name}"

    def find_spec(self, fullname: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Refuse the extension as a deleted folder would."""
        if fullname == self.package or fullname.startswith(f"{self.package}."):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=self.package)
        return None


NAME = os.environ.get("SHOAL_WITHOUT", "")
if NAME:
    sys.meta_path.insert(0, Missing(NAME))
REFUSED = (f"without the part 'shoal.ext.{NAME}'", f"No module named 'shoal.ext.{NAME}")


def _refused(report: Any) -> Any:
    """Take a test that was refused by name for one that is left out."""
    if report.failed and any(text in report.longreprtext for text in REFUSED):
        report.outcome, report.longrepr = "skipped", (__file__, 0, f"needs {NAME}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    """Look at what a test says when it fails."""
    return _refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Any:
    """Look at why a file of tests cannot be imported."""
    return _refused((yield))
