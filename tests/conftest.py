"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine must not turn a slow example into a failed test; the same examples every time.
settings.register_profile("shoal", deadline=None, derandomize=True)
settings.load_profile("shoal")
