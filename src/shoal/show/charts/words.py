"""Escape, measure and cut texts in charts, and format numbers."""

from __future__ import annotations

import math
import re
import unicodedata
from html import escape as html_escape

from shoal.base.errors import ParameterError

# No XML file may hold these, and marks that turn the direction of text would reach past their cell.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_BREAKS = re.compile(r"[\t\r\n\u2028\u2029]+")
_NARROW, _SLIM, _BROAD = set("ijlI.,:;|!'` "), set('frt()[]{}-/\\"'), set("mwMW@%")
_ROOM = 1.1  # the reader's font may be wider than the one these widths come from

FORMS = ("count", "share", "plain", "seconds")


def clean(text: object) -> str:
    """Return a text that can stand in any XML or HTML file, on one line."""
    return _FORBIDDEN.sub("\ufffd", _BREAKS.sub(" ", str(text)))


def escape(text: object) -> str:
    """Return a text as it must be written between or inside tags."""
    return html_escape(clean(text), quote=True)


def width(text: str, size: float) -> float:
    """Return about how wide a text is, rather too wide than too narrow."""
    return _ROOM * size * sum(_advance(char) for char in text)


def _advance(char: str) -> float:
    if char in _NARROW:
        return 0.28
    if char in _SLIM:
        return 0.37
    if char in _BROAD:
        return 0.86
    if char.isdigit():
        return 0.58  # 0.636 in DejaVu Sans, which a system without other fonts has
    if char.isascii():
        return 0.67 if char.isupper() else 0.555
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn"):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(char) in "WF" else 0.68


def fit(text: object, room: float, size: float) -> str:
    """Return a text cut to the room it has, with a sign that it was cut."""
    whole = clean(text)
    if width(whole, size) <= room:
        return whole
    left = room - width("…", size)
    kept = 0
    for char in whole:
        left -= width(char, size)
        if left < 0:
            break
        kept += 1
    return whole[:kept].rstrip() + "…"


def format_number(value: float | None, form: str = "plain") -> str:
    """Say a number: ``count`` 1,234; ``share`` 12.3 %; ``plain`` four digits; ``seconds`` 0.5 s."""
    if form not in FORMS:
        raise ParameterError(
            f"A chart cannot say numbers as {form!r}. Allowed are {', '.join(map(repr, FORMS))}."
        )
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if form == "share":
        return _percent(value)
    if form == "seconds":
        return f"{value:.3g} s" if abs(value) < 1000 else f"{value:,.0f} s"
    if form == "count":
        close = abs(value - round(value)) < 0.05 or abs(value) >= 100
        return f"{value:,.0f}" if close else f"{value:,.1f}"
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _percent(value: float) -> str:
    hundredths = 100 * value
    if hundredths == 0:
        return "0 %"
    if abs(hundredths) < 0.1:
        return f"{hundredths:.2f} %" if abs(hundredths) >= 0.01 else "< 0.01 %"
    text = f"{hundredths:.1f}"
    # 99.97 % is not all, and must not read so.
    if text in ("100.0", "0.0") and value not in (0.0, 1.0) and value < 1:
        return f"{hundredths:.3f}".rstrip("0") + " %"
    return f"{text.removesuffix('.0')} %"


def tick(value: float, form: str, step: float) -> str:
    """Say a number on an axis whose ticks are ``step`` apart (0: as short as it can be said)."""
    scaled, end = (100 * value, " %") if form == "share" else (value, "")
    end = " s" if form == "seconds" else end
    step = 100 * step if form == "share" else step
    if step:
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        if abs(step * 10**digits - round(step * 10**digits)) > 1e-6:
            digits += 1  # steps of 2.5
        return f"{scaled:,.{digits}f}{end}" if digits < 7 else f"{scaled:.6g}{end}"
    return (f"{scaled:,.0f}" if abs(scaled) >= 1 else f"{scaled:.6g}") + end
