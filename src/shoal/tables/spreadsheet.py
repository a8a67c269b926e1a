"""Texts that a spreadsheet would run: found, made harmless for a CSV file, and given back.

An apostrophe in front makes a spreadsheet show a cell instead of running it. A text that already
has apostrophes in front of a formula gets one more, so that every text can be told from every
other one, and taking one away gives back what was there.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

TEXTS = (pl.String, pl.Categorical, pl.Enum)
_QUOTE = "'"
_FORMULA = r"(?s)^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])."  # a sign that stands alone is run by nobody
_SIGNED = r"[0-9 .,]*[0-9](?:[eE][+-]?[0-9]+)?%?|inf|NaN|[0-9]{4,}-[0-9]{2}-[0-9]{2}[0-9: .]*"
_NUMBER = rf"^\s*[+-](?:{_SIGNED})$"  # also a telephone number, and a date before our era


def formulas(texts: pl.Series) -> pl.Series:
    """Say which texts a spreadsheet would run."""
    return texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)


def counted(tables: Mapping[str, pl.DataFrame]) -> int:
    """Return how many cells and names of columns :func:`quote` changes."""
    columns = [_names(frame) for frame in tables.values()]
    columns += [
        cell.cast(pl.String) for frame in tables.values() for cell in frame if cell.dtype in TEXTS
    ]
    return sum(int(_quotable(texts).sum()) for texts in columns)


def quote(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before whatever a spreadsheet would run."""
    cells = [_quoted(cell.cast(pl.String)) if cell.dtype in TEXTS else cell for cell in frame]
    quoted = pl.DataFrame(cells)
    quoted.columns = _quoted(_names(frame)).to_list()
    return quoted


def unquote(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo :func:`quote` on a table of texts, if it was quoted: then no text of it is a formula."""
    columns = [_names(frame), *(cell for cell in frame if cell.dtype == pl.String)]
    if not any(texts.str.starts_with(_QUOTE).any() for texts in columns):
        return frame
    if any(formulas(texts).any() for texts in columns):
        return frame
    plain = pl.DataFrame([_unquoted(cell) if cell.dtype == pl.String else cell for cell in frame])
    plain.columns = _unquoted(_names(frame)).to_list()
    return plain


def _names(frame: pl.DataFrame) -> pl.Series:
    return pl.Series(frame.columns, dtype=pl.String)


def _quotable(texts: pl.Series) -> pl.Series:
    return formulas(texts.str.strip_chars_start(_QUOTE))


def _quoted(texts: pl.Series) -> pl.Series:
    marked = pl.Series(texts.name, [_QUOTE], pl.String) + texts
    return marked.zip_with(_quotable(texts), texts)


def _unquoted(texts: pl.Series) -> pl.Series:
    return texts.str.slice(1).zip_with(_quotable(texts), texts)
