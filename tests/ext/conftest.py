"""The command line's fixtures serve the extensions' tests too."""

from __future__ import annotations

from tests.cli.conftest import command, folder, refused, shoal

__all__ = ["command", "folder", "refused", "shoal"]
