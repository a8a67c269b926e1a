"""The method `shoal` with stages switched off, for tests that ask about the others."""

from __future__ import annotations

import pytest


def without(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Switch stages off, by name."""
    from shoal.groupers.shoal import search  # loads kernels

    for part in ("STARTS", "IMPROVEMENTS", "OMISSIONS"):
        kept = tuple(stage for stage in getattr(search, part) if stage.name not in names)
        patch.setattr(search, part, kept)
