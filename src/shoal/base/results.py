"""The base class of results: sentences and tables for terminal, notebook and report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from shoal.base.to_json import as_json, table_html


@dataclass(frozen=True)
class ResultTable:
    """A table of a result.

    ``strong``: rows and columns of bold cells. ``spare``: columns that a narrow screen does
    without, the first one first. ``meanings``: what is to be known of columns, by heading.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    strong: Collection[tuple[int, int]] = ()
    spare: Sequence[str] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Caution:
    """A sentence that warns."""

    text: str


Piece = str | Caution | ResultTable


class Result:
    """What was found: it says itself in sentences and tables, and as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything found as plain data."""
        raise NotImplementedError

    to_json = as_json

    def pieces(self) -> Iterator[Piece]:
        """Yield sentences and tables in the order in which they are read."""
        raise NotImplementedError

    def tables(self) -> list[ResultTable]:
        """Return the tables."""
        return [piece for piece in self.pieces() if isinstance(piece, ResultTable)]

    def describe(self) -> list[str]:
        """Return the sentences, warnings among them."""
        said = (piece.text if isinstance(piece, Caution) else piece for piece in self.pieces())
        return [piece.strip() for piece in said if isinstance(piece, str) and piece.strip()]

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return f"<div>{''.join(map(_html, self.pieces()))}</div>"


def _html(piece: Piece) -> str:
    if isinstance(piece, ResultTable):
        own = {head: text for head, text in piece.meanings.items() if head in ("", *piece.heads)}
        told = "; ".join(f"{head}: {text}" if head else text for head, text in own.items())
        return table_html(piece.title, piece.heads, piece.rows, told)
    if isinstance(piece, Caution):
        return f"<p><strong>Warning:</strong> {escape(piece.text)}</p>"
    return f"<p>{escape(piece.strip())}</p>" if piece.strip() else ""


def percent(share: float, digits: int = 1) -> str:
    """Return a share as tables show it."""
    return f"{100 * share:.{digits}f} %"
