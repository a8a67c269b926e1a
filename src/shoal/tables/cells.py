"""Clean and type cells, and find missing values.

Text files know no types, so we give them: a column becomes numbers, dates or booleans only when
*every* known cell is one and writing it back says the same thing. ``007`` is a text, and nothing
is ever turned into a null because it did not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from shoal.base.partition import Bools, Ints
from shoal.plan.setting import same_values

# Zeros in front carry meaning (zip codes, account numbers); more than 15 digits would be rounded.
_DECIMAL = r"^-?(?:0|[1-9][0-9]{0,14})?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?$"
_NOT_A_NUMBER = ("nan", "NaN", "NAN")
_GLANCE = 256  # cells looked at before a whole column is tried
_SHORT = 4_096  # rows up to which columns are read as one


def missing_to_null(series: pl.Series, missing: Sequence[str] = ()) -> pl.Series:
    """Turn what stands for missing into null: NaN, empty texts and the texts of ``missing``.

    Spaces around a cell do not matter here: `` ?`` is missing when ``?`` is.
    """
    if series.dtype.is_float():
        return series.fill_nan(None)
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return series
    listed = sorted({"", *(text.strip() for text in missing)})
    texts = series.cast(pl.String)
    places = _suspects(texts, listed).arg_true()
    if places.is_empty():  # as mostly
        return series
    gaps = places.filter(texts.gather(places).str.strip_chars().is_in(listed))
    if gaps.is_empty():
        return series
    gap = pl.repeat(False, len(series), eager=True).scatter(gaps, True)
    return pl.select(pl.when(~gap).then(series).alias(series.name)).to_series()


def _suspects(texts: pl.Series, listed: Sequence[str]) -> pl.Series:
    """Say which texts may stand for missing: comparing is many times faster than trimming.

    A space comes before the exclamation mark or lies beyond the first 128 characters; a text
    without one in front must begin with a text of the list.
    """
    suspects = (texts < "!") | (texts >= "\x80")
    for text in filter(None, listed):
        suspects |= texts.is_between(pl.lit(text), pl.lit(text + "\U0010ffff"))
    return suspects


def infer_type(series: pl.Series) -> pl.Series:
    """Give a text column the type that all of its known cells have, or leave it text."""
    if series.dtype != pl.String:
        return series
    known = series.drop_nulls()
    if known.is_empty():
        return series
    for read in TYPES.values():
        # A glance at the first cells spares most columns most attempts; all may be NaN.
        if not read(known.head(_GLANCE)).null_count():
            result = _whole(read, series)
            if result is not None:
                return result
    return series


def blank_and_typed(
    columns: Sequence[pl.Series], missing: Sequence[str], kept: Collection[str]
) -> list[pl.Series]:
    """Return what :func:`blank` and :func:`typed` make of text columns of the same length.

    Short columns are laid end to end and read as one: a call costs more than a short column.

    Parameters
    ----------
    kept
        The names of the columns that stay text.
    """
    height = len(columns[0])
    if not 0 < height <= _SHORT:
        blanks = (missing_to_null(column, missing) for column in columns)
        return [cells if cells.name in kept else infer_type(cells) for cells in blanks]
    stack = missing_to_null(
        pl.concat([column.alias("") for column in columns], rechunk=True), missing
    )
    result = {place: stack.slice(place * height, height) for place in range(len(columns))}
    texts = np.array([column.name not in kept for column in columns])
    texts &= _any(stack.is_not_null(), height)
    for read in TYPES.values():
        places = np.flatnonzero(texts)
        cells = stack.filter(pl.Series(np.repeat(texts, height)))
        values, fits = _read_stack(read, cells, height)
        for number in np.flatnonzero(fits).tolist():
            result[int(places[number])] = values.slice(number * height, height)
        texts[places[fits]] = False
    return [result[place].alias(column.name) for place, column in enumerate(columns)]


def _read_stack(
    read: Callable[[pl.Series], pl.Series], cells: pl.Series, height: int
) -> tuple[pl.Series, Bools]:
    """Return cells as read, and which columns of the stack are of that type: as :func:`_whole`."""
    values = read(cells)
    fits = ~_any(values.is_null() & cells.is_not_null(), height)
    if values.dtype.is_float():
        values = values.fill_nan(None)
        fits &= _any(values.is_not_null(), height)
    return values, fits


def _any(cells: pl.Series, height: int) -> Bools:
    """Say of every column of a stack whether one of its cells is true."""
    return np.asarray(cells.to_numpy().reshape(-1, height).any(axis=1))


def fitting(series: pl.Series) -> tuple[str, ...]:
    """Return the names in :data:`TYPES` of all the types that every known cell has.

    For a column that is looked at piece by piece: the first type that fits all pieces is the one
    that :func:`typed` gives the whole.
    """
    known = series.drop_nulls()
    if known.is_empty():
        return tuple(TYPES)
    numbers = known.filter(~known.str.strip_chars().is_in(_NOT_A_NUMBER))
    if numbers.is_empty():  # nothing but NaN: missing, if the rest are numbers
        return ("decimal",)
    return tuple(name for name, read in TYPES.items() if _whole(read, known) is not None)


def read_dates(series: pl.Series) -> pl.Series:
    """Turn a text column into days or moments when all of its known cells are such."""
    if series.dtype != pl.String or series.null_count() == len(series):
        return series
    for read in (_dates, _moments):
        if (result := _whole(read, series)) is not None:
            return result
    return series


def _whole(read: Callable[[pl.Series], pl.Series], series: pl.Series) -> pl.Series | None:
    """Return a column as read, or None when a known cell is not of that type."""
    values = read(series)
    if values.null_count() != series.null_count():
        return None
    if values.dtype.is_float():
        values = values.fill_nan(None)
        if values.null_count() == len(values):
            return None
    return values


def _integers(series: pl.Series) -> pl.Series:
    numbers = series.cast(pl.Int64, strict=False)
    if numbers.null_count() != series.null_count():
        # Spaces are rare: look for them only when the plain way fails.
        series = series.str.strip_chars()
        numbers = series.cast(pl.Int64, strict=False)
    # '007' and '+7' would not come back as they were: they are texts.
    return _where(numbers.cast(pl.String) == series, numbers)


def _decimals(series: pl.Series) -> pl.Series:
    """Read decimal numbers; what says that it is none, such as ``nan``, is NaN here."""
    trimmed = series.str.strip_chars()
    not_a_number = trimmed.is_in(_NOT_A_NUMBER).fill_null(False)
    numbers = _where(trimmed.str.contains(_DECIMAL), trimmed).cast(pl.Float64, strict=False)
    # '1e999' is a text too: as a number it would be infinite.
    numbers = _where(numbers.is_finite(), numbers)
    return numbers.set(not_a_number, float("nan")) if not_a_number.any() else numbers


def _booleans(series: pl.Series) -> pl.Series:
    lower = series.str.strip_chars().str.to_lowercase()
    return _where(lower.is_in(["true", "false"]), lower == "true")


def _dates(series: pl.Series) -> pl.Series:
    trimmed = series.str.strip_chars()
    return _where(trimmed.str.contains(_DAY), trimmed).str.to_date("%Y-%m-%d", strict=False)


def _moments(series: pl.Series) -> pl.Series:
    trimmed = series.str.strip_chars()
    padded = _where(trimmed.str.contains(_MOMENT), trimmed).str.replace("T", " ", literal=True)
    padded = padded.set((padded.str.len_bytes() == 16).fill_null(False), None).fill_null(
        padded + ":00"
    )
    return padded.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")


def _where(fits: pl.Series, values: pl.Series) -> pl.Series:
    """Return the values where they fit and null elsewhere; mostly all do, and nothing is copied."""
    if fits.all():
        return values
    return pl.select(pl.when(fits).then(values).alias(values.name)).to_series()


TYPES = {
    "integer": _integers,
    "decimal": _decimals,
    "boolean": _booleans,
    "date": _dates,
    "moment": _moments,
}
"""How texts are read as each type, in the order in which they are tried; null: it is none."""


def as_text(series: pl.Series) -> pl.Series:
    """Say every cell as text, the way hierarchies list values; missing stays null.

    Whole numbers lose their ``.0`` (tables from pandas hold ``39.0`` where a value is missing),
    moments that all fall on midnight are days, booleans are ``true`` and ``false``.
    """
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_float():
        series = series.fill_nan(None)
        text = series.cast(pl.Float64).cast(pl.String)
        if dtype == pl.Float32:  # the short form of a 32-bit number, not its 64-bit neighbour
            text = series.cast(pl.String)
        whole = (series == series.round()) & (series.abs() < 2**53)
        if whole.fill_null(False).any():
            integers = series.cast(pl.Int64, strict=False).cast(pl.String)
            text = integers.zip_with(whole.fill_null(False), text)
        return text
    if isinstance(dtype, pl.Datetime):
        if _midnights(series, dtype).eq_missing(series).all():
            return series.dt.date().cast(pl.String)
        return _written(series, dtype)
    text = series.cast(pl.String)
    if isinstance(dtype, pl.Decimal) and dtype.scale:
        return text.str.strip_chars_end("0").str.strip_chars_end(".")
    return text


def own_text(series: pl.Series) -> pl.Series:
    """Say every cell as text whatever the others are: a moment on midnight is a day."""
    if not isinstance(series.dtype, pl.Datetime):
        return as_text(series)
    midnight = _midnights(series, series.dtype).eq(series).fill_null(False)
    return series.dt.date().cast(pl.String).zip_with(midnight, _written(series, series.dtype))


def _written(series: pl.Series, dtype: pl.Datetime) -> pl.Series:
    zone = "%:z" if dtype.time_zone else ""
    return series.dt.strftime(f"%Y-%m-%d %H:%M:%S%.f{zone}")


def _midnights(series: pl.Series, dtype: pl.Datetime) -> pl.Series:
    """Return the midnight before every moment, null where a clock strikes it twice or never."""
    return zoned(series.dt.date().cast(pl.Datetime(dtype.time_unit)), dtype, "null")


def zoned(moments: pl.Series, dtype: pl.Datetime, twice: Literal["earliest", "null"]) -> pl.Series:
    """Return what clocks in the time zone show as moments; null where a clock never shows it.

    ``twice``: what to make of the hour that comes again when clocks are set back.
    """
    if dtype.time_zone is None:
        return moments
    return moments.dt.replace_time_zone(dtype.time_zone, ambiguous=twice, non_existent="null")


def sorted_values(series: pl.Series) -> pl.Series:
    """Return the known values of a column, each once, in the order that they have by nature.

    Numbers by size, also when a text column holds nothing but numbers; days and moments by time;
    the values of an enumeration as it lists them; other texts by the alphabet.
    """
    known = series.drop_nulls().unique()
    if known.dtype != pl.String:
        return known.sort()
    sizes = known.str.strip_chars().cast(pl.Float64, strict=False)
    if not sizes.is_finite().fill_null(False).all():
        return known.sort()
    return pl.DataFrame({"size": sizes, "value": known}).sort("size", "value")["value"]


def find_positions(values: pl.Series, among: pl.Series) -> Ints:
    """Return where each value first stands among others, -1 when nowhere."""
    index = pl.DataFrame({"value": among, "at": np.arange(len(among), dtype=np.int64)})
    index = index.unique("value", keep="first")
    wanted = pl.DataFrame({"value": values})
    joined = wanted.join(index, on="value", how="left", maintain_order="left", nulls_equal=True)
    return joined["at"].fill_null(-1).to_numpy(writable=True)


def holds_numbers(series: pl.Series) -> tuple[str, str] | None:
    """Return a number and a text when a text column mixes the two, else None."""
    if series.dtype != pl.String:
        return None
    known = series.drop_nulls().unique(maintain_order=True)
    numeric = known.str.strip_chars().cast(pl.Float64, strict=False).is_finite().fill_null(False)
    if not numeric.any() or numeric.all():
        return None
    return str(known.filter(numeric)[0]), str(known.filter(~numeric)[0])


TEXTS = (pl.String, pl.Categorical, pl.Enum)  # of columns that hold texts


def merge_values(series: pl.Series, groups: Sequence[str]) -> pl.Series:
    """Return a column with the value in every cell that it counts as.

    Numbers and dates are compared as such: ``1`` and ``1.0`` are one value of a column of numbers.
    """
    if not groups:
        return series
    names = same_values(groups)
    if not isinstance(series.dtype, TEXTS):
        return _merged_values(series, names)
    texts = series.cast(pl.String)
    names |= {name: name for name in names.values()}  # with spaces around it, too
    said = texts.str.strip_chars().replace_strict(names, default=None, return_dtype=pl.String)
    return said.fill_null(texts).alias(series.name)


def _merged_values(series: pl.Series, names: Mapping[str, str]) -> pl.Series:
    """Put together values that are no texts: each counts as the first of its group that is one."""
    if not (series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Boolean):
        return series
    groups: dict[str, list[str]] = {}
    for value, name in names.items():
        groups.setdefault(name, [name]).append(value)
    merged: dict[Any, Any] = {}
    for texts in groups.values():
        values = _read_like(series, texts)
        merged |= dict.fromkeys(values, values[0]) if values else {}
    old, new = (
        pl.Series(part, dtype=series.dtype) for part in (list(merged), list(merged.values()))
    )
    return series.replace(old, new)


def _read_like(series: pl.Series, texts: Sequence[str]) -> list[Any]:
    """Return those texts that are values of a column, as its values."""
    if series.dtype.is_numeric():
        written = pl.Series(texts, dtype=pl.String)
        whole = written.str.replace(r"\.0*$", "").cast(series.dtype, strict=False)
        return whole.fill_null(written.cast(series.dtype, strict=False)).drop_nulls().to_list()
    there = series.drop_nulls().unique()
    known = dict(zip(as_text(there).str.to_lowercase(), there, strict=True))
    return [known[text.lower()] for text in texts if text.lower() in known]
