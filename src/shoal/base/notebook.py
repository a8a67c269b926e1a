"""What results look like in a notebook: a heading, a small table, a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = "text-align:left"


def table_html(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    """Return a table as HTML; whatever comes from data is escaped."""
    head = "".join(f"<th style='{_STYLE}'>{escape(name)}</th>" for name in heads)
    lines = (
        "".join(f"<td style='{_STYLE}'>{escape(_said(cell))}</td>" for cell in row) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    told = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<div><p><strong>{escape(title)}</strong></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{told}</div>"
    )


def _said(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
