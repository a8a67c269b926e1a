"""Convert results to plain data, to JSON, and to tables for notebooks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Protocol

_STYLE = "text-align:left"


class _Told(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def as_json(result: _Told) -> str:
    """Return what ``to_dict`` of a result says as JSON text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"


def to_plain_data(value: Any) -> Any:
    """Return data that JSON can hold: no numpy, no infinity."""
    if isinstance(value, dict):
        return {str(key): to_plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain_data(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return (
            to_plain_data(value.item())
            if getattr(value, "ndim", 0) == 0
            else to_plain_data(value.tolist())
        )
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def table_html(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    """Return a table as HTML; whatever comes from data is escaped."""
    head = "".join(f"<th style='{_STYLE}'>{escape(name)}</th>" for name in heads)
    lines = (
        "".join(f"<td style='{_STYLE}'>{escape(_cell_text(cell))}</td>" for cell in row)
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    told = f"<p>{escape(note)}</p>" if note else ""
    headed = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    return (
        f"<div>{headed}<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{told}</div>"
    )


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
