"""Results as plain data and as JSON text."""

from __future__ import annotations

import json
import math
from typing import Any, Protocol


class _Told(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def as_json(result: _Told) -> str:
    """Return what ``to_dict`` of a result says as JSON text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """Return data that JSON can hold: no numpy, no infinity."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return plain(value.item()) if getattr(value, "ndim", 0) == 0 else plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
