"""Read dates, times and numbers in local formats: 31.12.2024, 12/31/2024, 3,14.

A column is read so only when every known cell is written so, and only one reading fits. A column
in which 03/04/2024 could be March or April stays text, with a warning that says how to decide.
"""

from __future__ import annotations

from typing import get_args

import polars as pl

from shoal.base.errors import InputError, warn
from shoal.plan.data import Dates

# What is between the parts of a date, and which part is which.
_DATE = r"([0-9]{1,4})([./-])([0-9]{1,2})([./-])([0-9]{1,4})"
# Hours and minutes, perhaps seconds, parts of a second, and AM or PM.
_TIME = r"([0-9]{1,2})[:.]([0-9]{2})(?:[:.]([0-9]{2})(?:[.,]([0-9]{1,6}))?)?\s*([AaPp]\.?[Mm]\.?)?"
_LIKE_DATE = rf"^{_DATE}(?:,?[ T]\s*{_TIME})?$"
_SHORT_YEAR = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}$"
_FIELDS = ("first", "sign", "second", "sign2", "third", "hour", "minute", "s", "part", "half")
_WORDS = 3
_SOME = 1_000  # cells that are tried before a whole column is read
_MOSTLY = 0.9  # a column of which so many cells are dates or numbers was meant to be one
_COMMA = r"^-?(?:0|[1-9][0-9]{0,14})?(?:,[0-9]+)?$"
# Two groups of thousands, or one and decimals after the other sign: no other reading is left.
_THOUSANDS = (
    r"^[+-]?[0-9]{1,3}(?:(?:,[0-9]{3})+\.[0-9]+|(?:\.[0-9]{3})+,[0-9]+|(?:,[0-9]{3}){2,}"
    r"|(?:\.[0-9]{3}){2,}|(?:['’ \u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?)$"
)
_NUMBER = r"^[+-]?[0-9]+(?:[.,'’ \u00a0\u202f][0-9]{3})*(?:[.,][0-9]+)?$"


def read_local_forms(
    column: pl.Series, dates: str | None = None, decimal: str | None = None
) -> pl.Series:
    """Return a text column as dates, moments or decimal numbers, or as it is if it is neither."""
    if column.dtype != pl.String:
        return column
    known = column.drop_nulls().str.strip_chars()
    if known.is_empty():
        return column
    glance = known.head(64)
    if dates != "off" and _share(glance, _LIKE_DATE) >= _MOSTLY:
        return _dates(column, known, dates)
    if _share(glance, _NUMBER) >= _MOSTLY:
        return _numbers(column, known, decimal)
    return column


def _share(texts: pl.Series, pattern: str) -> float:
    return float(texts.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]


def _dates(column: pl.Series, known: pl.Series, form: str | None) -> pl.Series:
    forms = get_args(Dates)[:-1] if form is None else (form,)
    cells = _fields(column.str.strip_chars())
    some = cells.filter(column.is_not_null()).head(_SOME)  # rules most forms out
    read = {
        one: values
        for one in forms
        if _read(some, one) is not None and (values := _read(cells, one)) is not None
    }
    fitting = list(read)
    if len(fitting) == 1:
        return read[fitting[0]].alias(column.name)
    if fitting:
        warn(
            f"Column {column.name!r} holds dates that can be read in {len(fitting)} ways "
            f"({', '.join(fitting)}), so it stays text. Say which with --dates, for instance "
            f"--dates {fitting[0]} (dates=...)."
        )
    elif known.str.contains(_SHORT_YEAR).all():
        warn(
            f"Column {column.name!r} holds dates whose years have two digits. That leaves the "
            "century open, so the column stays text. Write years with four digits."
        )
    else:
        _warn_unread(column, known, _LIKE_DATE, "dates")
    return column


def _fields(texts: pl.Series) -> pl.DataFrame:
    """Return the parts of dates and times as columns of texts; ``known``: whether there is one."""
    parts = texts.str.extract_groups(_LIKE_DATE).struct.unnest().get_columns()
    named = [part.alias(name) for part, name in zip(parts, _FIELDS, strict=True)]
    return pl.DataFrame([*named, texts.is_not_null().alias("known")])


def _read(cells: pl.DataFrame, form: str) -> pl.Series | None:
    """Return dates as days, or as moments if all of them have a time; None if one does not fit.

    A year has four digits. Two are enough beside a time: the century of a visit is certain, that
    of a birth is not.
    """
    order = dict(zip(form[::2], ("first", "second", "third"), strict=True))
    day, month, year = (pl.col(order[part]) for part in "dmy")
    timed = pl.col("hour").is_not_null()
    long = year.str.len_chars() == 4
    short = timed & (year.str.len_chars() == 2) & (form[-1] == "y")
    late = pl.col("half").str.to_lowercase().str.starts_with("p")
    hour = pl.col("hour").cast(pl.Int32)
    clock = (
        pl.when(pl.col("half").is_null())
        .then(hour)
        .when(hour.is_between(1, 12))
        .then(hour % 12 + 12 * late.cast(pl.Int32))
    )
    part = pl.col("part").str.pad_end(6, "0").cast(pl.Int64).fill_null(0)
    signs = (pl.col("sign") == form[1]) & (pl.col("sign2") == form[1])
    widths = (day.str.len_chars() <= 2) & (month.str.len_chars() <= 2) & (long | short)
    numbers = (year.cast(pl.Int32) + 2000 * short.cast(pl.Int32), month.cast(pl.Int8, strict=False))
    texted = pl.format(
        "{}-{}-{} {}:{}:{}",
        numbers[0].cast(pl.String).str.zfill(4),
        numbers[1].cast(pl.String).str.zfill(2),
        day.str.zfill(2),
        clock.fill_null(0).cast(pl.String).str.zfill(2),
        pl.col("minute").fill_null("00"),
        pl.col("s").fill_null("00"),
    )
    moment = texted.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us")
    fits = signs & widths & (~timed | clock.is_not_null())
    table = cells.select(
        "known",
        moment=pl.when(fits).then(moment + pl.duration(microseconds=part)),
        timed=timed.fill_null(False),
    )
    known = int(table["known"].sum())
    if len(table) - table["moment"].null_count() < known:
        return None
    times = int(table["timed"].sum())
    if times == 0:
        return table["moment"].dt.date()
    return table["moment"] if times == known else None


def _warn_unread(column: pl.Series, known: pl.Series, pattern: str, what: str) -> None:
    """Warn of a column that was probably meant to hold dates or numbers, and stays text."""
    others = known.filter(~known.str.contains(pattern))
    # Three different texts look like words for missing; more of them, like codes such as V57.
    if len(others) <= (1 - _MOSTLY) * len(known) and others.n_unique() <= _WORDS:
        fault = f"{len(others):,} of its {len(known):,} values are not" if len(others) else ""
        warn(
            f"Column {column.name!r} looks like {what}, but {fault or 'not all fit'}, so it stays "
            f"text and cannot become intervals. Name texts that mean missing with --missing, or "
            f"write all {what} in one form."
        )


def _numbers(column: pl.Series, known: pl.Series, decimal: str | None) -> pl.Series:
    """Read a comma as the decimal sign where it can be nothing else; refuse thousands."""
    if known.str.contains(_NUMBER).all() and known.str.contains(_THOUSANDS).any():
        raise InputError(
            f"Column {column.name!r} writes numbers with separators of thousands. What is a "
            "separator in one country is a decimal sign in another, so they are not guessed: "
            "write the numbers without separators (in a spreadsheet: format as a plain number, "
            "then save again)."
        )
    if not known.str.contains(_NUMBER).all():
        _warn_unread(column, known, _NUMBER, "numbers")
        return column
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
