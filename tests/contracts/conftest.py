"""Contracts run over every method again and again: those that start anew do so less often."""

from __future__ import annotations

import pytest

from shoal.groupers import kaim


@pytest.fixture(autouse=True)
def _few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kaim, "PATIENCE", 2)
