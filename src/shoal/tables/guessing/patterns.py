"""Recognize addresses, numbers with check digits, dates, names and free text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

_MOST = 0.95  # share of the values that have to look alike; the rest are slips of the pen
_LOOKED_AT = 2_000  # different values that are looked at

_UPPER = "A-ZÀ-ÖØ-Þ"
_HEX = "[0-9a-fA-F]"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"
_LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"


@dataclass(frozen=True)
class Pattern:
    """A form of values: what it is called, and how a text is recognized."""

    name: str
    form: str
    check: Callable[[str], bool] | None = None
    least: int = 1  # different values without which a form says nothing

    def fits(self, texts: pl.Series) -> bool:
        """Tell whether nearly all of these different texts have the form."""
        if len(texts) < self.least:
            return False
        matching = texts.filter(texts.str.contains(self.form))
        if len(matching) < _MOST * len(texts):
            return False
        if self.check is None:
            return True
        return sum(map(self.check, matching.to_list())) >= _MOST * len(texts)


def _luhn(text: str) -> bool:
    """Check the last digit of a card's number (ISO/IEC 7812-1)."""
    digits = [int(char) for char in text if char.isdigit()][::-1]
    doubled = [2 * d - 9 * (d > 4) if i % 2 else d for i, d in enumerate(digits)]
    return sum(doubled) % 10 == 0


# Each of these names a person, a thing of hers or an account, whatever the column is called.
IDENTIFYING = (
    Pattern("e-mail addresses", r"^\s*[^@\s]+@[^@\s]+\.[A-Za-z]{2,}\s*$"),
    Pattern("web addresses", r"^\s*(?:https?://|www\.)\S+$"),
    Pattern("IP addresses", r"^(?:\d{1,3}\.){3}\d{1,3}$"),
    Pattern("IP addresses", rf"^{_HEX}{{0,4}}(?::{_HEX}{{0,4}}){{5,7}}$"),
    Pattern("universal identifiers", rf"^{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}$"),
    Pattern("bank accounts (IBAN)", r"^[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}$"),
    Pattern("credit cards", r"^\d(?:[ -]?\d){12,18}$", _luhn, 10),
    Pattern("social security numbers", r"^\d{3}-\d{2}-\d{4}$", None, 10),
    Pattern("tax numbers", r"^\d{3}\.\d{3}\.\d{3}-\d{2}$|^[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]$"),
    Pattern("identity cards", r"^(?:\d{8}|[XYZ]\d{7})-?[A-Z]$", None, 10),
    Pattern("insurance numbers", r"^[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D ]?$", None, 10),
    Pattern("phone numbers", r"^(?:\+|00|\(0|0)[\d\s()/.-]{7,}$", None, 20),
    Pattern("names on a network", r"^@[A-Za-z0-9_.]{2,}$", None, 10),
)  # fmt: skip

DATES = (
    Pattern("dates", rf"^\s*\d{{1,2}}[./-]\d{{1,2}}[./-](?:\d{{4}}|\d{{2}})\s*(?:{_CLOCK})?$"),
    Pattern("dates", r"^\s*\d{4}[./-]\d{1,2}(?:[./-]\d{1,2})?(?:[T ]\d{1,2}:\d{2}.*)?\s*$"),
    Pattern("dates", r"^\s*\d{1,2}\.? ?[-/]?[A-Za-zÀ-ÿ]{3,9}\.?[ -/]?,? ?(?:\d{4}|\d{2})$"),
    Pattern("times", r"^\s*(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\s*(?:[AaPp][Mm])?$"),
)  # fmt: skip

POSTAL = (
    Pattern("postal codes", r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$", None, 10),
    Pattern("postal codes", r"^\d{4} ?[A-Z]{2}$", None, 10),
    Pattern("postal codes", r"^\d{4}-\d{3}$|^\d{5}-\d{3,4}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$", None, 10),
    Pattern("postal codes", r"^\d{5}$", None, 50),
)

STREETS = Pattern(
    "streets and houses",
    rf"^[{_LETTER}.' -]*[{_LETTER}][{_LETTER}.' -]* \d{{1,4}} ?[a-zA-Z]?$|"
    rf"^\d{{1,4}}[a-zA-Z]?,? [{_UPPER}{_LETTER}.' -]{{4,}}$",
    None,
    50,
)
NAMES = Pattern(
    "names of persons",
    rf"^(?:[{_UPPER}][{_LETTER}'.-]+,? ){{1,3}}[{_UPPER}][{_LETTER}'-]+$",
    None,
    30,
)


def different(series: pl.Series) -> pl.Series:
    """Return the different texts of a column, or some of very many."""
    known = series.drop_nulls().cast(pl.String).unique(maintain_order=True)
    return known.gather_every(max(1, len(known) // _LOOKED_AT)) if len(known) else known


def first_fit(patterns: tuple[Pattern, ...], texts: pl.Series) -> str | None:
    """Return what the first form is called that the texts have."""
    if texts.is_empty():
        return None
    return next((pattern.name for pattern in patterns if pattern.fits(texts)), None)


def is_prose(texts: pl.Series) -> bool:
    """Tell whether different texts are sentences that somebody wrote: long, with many words."""
    if len(texts) < 5:
        return False
    lengths = texts.str.len_chars()
    spaces = texts.str.count_matches(r"\s")
    return float(lengths.mean() or 0) >= 40 and float(spaces.mean() or 0) >= 4  # type: ignore[arg-type]
