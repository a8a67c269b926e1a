"""Make hierarchies of ages, dates, countries, diagnoses and regions.

The code lists and where they come from are in the folder ``codelists``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any

import polars as pl

from shoal.base.errors import ParameterError, SchemaError
from shoal.tables.cells import as_text
from shoal.tables.domain import Taxonomy
from shoal.tables.makers import build, days_of, intervals, measured, texts_of

_REGIONS = {
    "Australia and New Zealand": "Australasia",
    "Micronesia": "Micronesian islands",
    "Antarctica": "Antarctic region",
}
"""Regions of the list that are called like a country: a label must not name one."""
_CONTINENTS = {"Antarctica": "Antarctic"}

Values = pl.Series | Sequence[Any]

_TOP = 90
_TOGETHER = 3  # names in the group of rare ones: of two that are published as one both must occur
_LACK = 5  # values without a code that are told


def ages(values: Values, column: str = "values", *, top_age: Sequence[float] = (_TOP,)) -> Taxonomy:
    """Group ages by 5, 10 and 20 years, everybody from ``top_age`` on together: ``90+``."""
    (top,) = top_age if len(top_age) == 1 else (0,)
    if top <= 0:
        raise ParameterError(
            f"top-age takes one age from which on all are together. Got {list(top_age)}."
        )
    texts, points, _ = measured(values, column)
    old = pl.Series(points >= top)
    word = f"{top:g}+"
    young = pl.Series(points).filter(~old)
    levels = [texts, texts.zip_with(~old, pl.Series([word] * len(texts)))] if old.any() else [texts]
    if len(young):
        tree = intervals(_whole(young), column, widths=(5, 10, 20))
        below = dict(zip(tree.values, range(tree.size), strict=True))
        spots = as_text(_whole(young)).replace_strict(below, default=None, return_dtype=pl.Int64)
        middle = tree.levels[1:-1]
        levels = [texts] if len(middle) else levels
        for level in middle:
            labels = iter([_below(tree.labels[level[spot]], top) for spot in spots.to_list()])
            levels.append(pl.Series([word if is_old else next(labels) for is_old in old]))
    return build(levels, column)


def _below(label: str, top: float) -> str:
    """Let an interval of whole ages end before the top: those above have a label of their own."""
    ends = re.fullmatch(r"\[(\d+)-(\d+)\]", label)
    if ends is None or int(ends[2]) < top or not float(top).is_integer():
        return label
    return f"[{ends[1]}-{int(top) - 1}]" if int(ends[1]) < top - 1 else ends[1]


def _whole(numbers: pl.Series) -> pl.Series:
    """Return numbers as whole ones if they all are, which is how their texts are written."""
    return numbers.cast(pl.Int64) if (numbers == numbers.floor()).all() else numbers


def weeks(values: Values, column: str = "values") -> Taxonomy:
    """Group dates by week and year as ISO 8601 counts them: ``2024-W07``, ``2024``."""
    leaves, known = days_of(values, column)
    year = known.dt.iso_year().cast(pl.String)
    week = known.dt.week().cast(pl.String).str.zfill(2)
    return build([leaves, year + "-W" + week, year], column)


def decades(values: Values, column: str = "values") -> Taxonomy:
    """Group dates or years by year, decade and century: ``1987``, ``1980s``, ``1900s``."""
    try:
        leaves, known = days_of(values, column)
        years = known.dt.year().cast(pl.Int64)
        first = [known.dt.strftime("%Y")]
    except SchemaError:
        leaves, points, _ = measured(values, column)
        years, first = pl.Series(points).floor().cast(pl.Int64), []
        if not years.is_between(1000, 2999).all():
            raise SchemaError(
                f"Column {column!r} holds neither dates nor years, for instance {leaves[0]!r}. "
                "Use intervals for other numbers."
            ) from None
    decade = (years // 10 * 10).cast(pl.String) + "s"
    century = "century " + (years // 100 * 100).cast(pl.String)
    return build([leaves, *first, decade, century], column)


def rare(values: Values, column: str = "values", *, at_least: Sequence[int] = (50,)) -> Taxonomy:
    """Put the names that fewer rows than ``at_least`` have together, until so many have them.

    Notes
    -----
    The group has three members at least: of two that are published as one both must occur.
    """
    least = int(at_least[0]) if len(at_least) == 1 else 0
    if least < 2:
        raise ParameterError(
            f"at-least takes one whole number of rows from 2. Got {list(at_least)} instead."
        )
    series = values if isinstance(values, pl.Series) else pl.Series("values", values, strict=False)
    texts_of(series, column)
    counted = as_text(series).drop_nulls().rename("value").value_counts(name="count")
    counted = counted.sort(["count", "value"])
    names, counts = counted["value"].to_list(), counted["count"].to_list()
    many = sum(count < least for count in counts)
    while 0 < many < len(names) and (sum(counts[:many]) < least or many < _TOGETHER):
        many += 1
    label = f"other ({many:,} values)"
    while label in names:
        label = f"({label})"
    return build([counted["value"], pl.Series([label] * many + names[many:])], column)


def countries(values: Values, column: str = "values") -> Taxonomy:
    """Group countries by region and continent; codes of two or three letters, or names."""
    texts = texts_of(values, column)
    known: dict[str, tuple[str, str]] = {}
    for row in _listed("countries.csv").iter_rows(named=True):
        for key in ("alpha2", "alpha3", "english", "german"):
            known[row[key].casefold()] = (row["region"], row["continent"])
    regions_of = [known.get(text.strip().casefold()) for text in texts]
    _refuse(
        [text for text, place in zip(texts, regions_of, strict=True) if place is None],
        column,
        "country of ISO 3166 (DE, DEU, Germany, Deutschland)",
    )
    regions, continents = (
        pl.Series([names.get(place[at], place[at]) if place else "" for place in regions_of])
        for at, names in enumerate((_REGIONS, _CONTINENTS))
    )
    return build([texts, regions, continents], column)


def icd10(values: Values, column: str = "values") -> Taxonomy:
    """Group diagnoses by category (three characters), block and chapter of ICD-10."""
    texts = texts_of(values, column)
    category = texts.str.strip_chars().str.to_uppercase().str.slice(0, 3)
    chapters = _within(category, [*_listed("icd10.csv").iter_rows()])
    blocks = _within(
        category, [(a, z, f"{a}-{z}") for a, z in _listed("icd10_blocks.csv").iter_rows()]
    )
    formed = texts.str.strip_chars().str.contains(
        r"(?i)^[A-Z]\d[0-9A-Z]([.\-+*!]?[0-9A-Z\-+*!]{0,5})$"
    )
    wrong = [t for t, ok, c in zip(texts, formed, chapters, strict=True) if not ok or c is None]
    _refuse(wrong, column, "code of ICD-10 (J45, J45.0)")
    coarse = category.zip_with(category == texts, category + ".-")
    # National versions have categories between the blocks: these lie right under their chapter.
    levels = [texts, coarse, blocks.zip_with(blocks.is_not_null(), chapters), chapters]
    return build(levels, column)


def _within(codes: pl.Series, ranges: list[tuple[str, ...]]) -> pl.Series:
    """Return the label of the range that holds each code, null where none does."""
    return pl.Series(
        [next((label for a, z, label in ranges if a <= code <= z), None) for code in codes],
        dtype=pl.String,
    )


def nuts(values: Values, column: str = "values") -> Taxonomy:
    """Group regions of Europe by their NUTS code: ``DE212``, ``DE21*``, ``DE2*``, ``DE*``."""
    texts = texts_of(values, column)
    formed = texts.str.contains(r"^[A-Z]{2}[0-9A-Z]{0,3}$")
    _refuse(texts.filter(~formed).to_list(), column, "code of NUTS (DE, DE2, DE21, DE212)")
    longest = int(texts.str.len_chars().to_numpy().max())
    sizes, own = range(longest - 1, 1, -1), texts.str.len_chars()
    levels = [(texts.str.slice(0, size) + "*").zip_with(own > size, texts) for size in sizes]
    return build([texts, *levels], column)


@cache
def _listed(name: str) -> pl.DataFrame:
    content = files(__package__).joinpath("codelists", name).read_bytes()
    return pl.read_csv(BytesIO(content), infer_schema=False, null_values=[])


def _refuse(wrong: Sequence[str], column: str, meant: str) -> None:
    if wrong:
        shown = ", ".join(map(repr, wrong[:_LACK]))
        more = f" and {len(wrong) - _LACK} more" if len(wrong) > _LACK else ""
        raise SchemaError(
            f"Column {column!r} has values that are no {meant}: {shown}{more}. List them as "
            "missing, correct them, or make another hierarchy (frequency, rare, flat)."
        )
