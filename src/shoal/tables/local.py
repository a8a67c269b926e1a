"""Numbers and dates as people write them: 31.12.2024, 12/31/2024, 3,14.

A column is read so only when every known cell is written so, and only one reading fits: a column
in which 03/04/2024 could be March or April stays text, with a warning that says how to tell.
"""

from __future__ import annotations

import polars as pl

from shoal.base.errors import InputError, ParameterError, warn

DATES = ("d.m.y", "d/m/y", "m/d/y", "d-m-y", "m-d-y", "y/m/d", "y.m.d", "off")
DECIMALS = ("point", "comma")
_PARTS = {"d": "[0-9]{1,2}", "m": "[0-9]{1,2}", "y": "[0-9]{4}"}
_FORMS = {"d": "%d", "m": "%m", "y": "%Y"}
_LIKE_DATE = r"^\s*[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}\s*$"
_COMMA = r"^-?(?:0|[1-9][0-9]{0,14})?(?:,[0-9]+)?$"
# Two groups of thousands, or one and decimals after the other sign: no other reading is left.
_THOUSANDS = (
    r"^[+-]?[0-9]{1,3}(?:(?:,[0-9]{3})+\.[0-9]+|(?:\.[0-9]{3})+,[0-9]+|(?:,[0-9]{3}){2,}"
    r"|(?:\.[0-9]{3}){2,}|(?:['’ \u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?)$"
)
_NUMBER = r"^[+-]?[0-9]+(?:[.,'’ \u00a0\u202f][0-9]{3})*(?:[.,][0-9]+)?$"


def check_words(dates: str | None, decimal: str | None) -> None:
    """Refuse a form of dates or a decimal sign that is none."""
    for what, word, words in (("dates", dates, DATES), ("decimal", decimal, DECIMALS)):
        if word is not None and word not in words:
            raise ParameterError(
                f"--{what} ({what}=) takes one of {', '.join(words)}. Got {word!r} instead."
            )


def local(column: pl.Series, dates: str | None = None, decimal: str | None = None) -> pl.Series:
    """Return a text column as dates or decimal numbers, if it is written so, or as it is."""
    if column.dtype != pl.String:
        return column
    known = column.drop_nulls().str.strip_chars()
    if known.is_empty():
        return column
    if dates != "off" and known.head(64).str.contains(_LIKE_DATE).all():
        return _dates(column, known, dates)
    if known.head(64).str.contains(_NUMBER).all():
        return _numbers(column, known, decimal)
    return column


def _dates(column: pl.Series, known: pl.Series, pattern: str | None) -> pl.Series:
    forms = DATES[:-1] if pattern is None else (pattern,)
    fitting = [form for form in forms if _read(known, form).null_count() == 0]
    if len(fitting) == 1:
        return _read(column.str.strip_chars(), fitting[0])
    if fitting:
        warn(
            f"Column {column.name!r} holds dates that can be read in {len(fitting)} ways "
            f"({', '.join(fitting)}), so it stays text. Say which with --dates, for instance "
            f"--dates {fitting[0]} (dates=...)."
        )
    return column


def _read(texts: pl.Series, form: str) -> pl.Series:
    first, sign, second, _, third = tuple(form)
    pattern = f"^{_PARTS[first]}[{sign}]{_PARTS[second]}[{sign}]{_PARTS[third]}$"
    fits = pl.select(pl.when(texts.str.contains(pattern)).then(texts)).to_series()
    day = f"{_FORMS[first]}{sign}{_FORMS[second]}{sign}{_FORMS[third]}"
    return fits.str.to_date(day, strict=False).alias(texts.name)


def _numbers(column: pl.Series, known: pl.Series, decimal: str | None) -> pl.Series:
    """Read a comma as the decimal sign where it can be nothing else; refuse thousands."""
    if known.str.contains(_NUMBER).all() and known.str.contains(_THOUSANDS).any():
        raise InputError(
            f"Column {column.name!r} writes numbers with separators of thousands. What is a "
            "separator in one country is a decimal sign in another, so they are not guessed: "
            "write the numbers without separators (in a spreadsheet: format as a plain number, "
            "then save again)."
        )
    commas = known.str.contains(",", literal=True)
    if decimal == "point" or not commas.any() or not known.str.contains(_COMMA).all():
        return column
    if decimal is None and known.filter(commas).str.contains(r",[0-9]{3}$").all():
        warn(
            f"Column {column.name!r} holds numbers with a comma before three digits, which may be "
            "decimals or thousands, so it stays text. Say --decimal comma (decimal='comma') if "
            "they are decimals; write the numbers without separators if they are not."
        )
        return column
    return column.str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64)
