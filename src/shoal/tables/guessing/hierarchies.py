"""Suggest hierarchies for columns of categories."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from shoal.base.errors import SchemaError
from shoal.tables.cells import as_text
from shoal.tables.coded_hierarchies import ages, countries
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.guessing import names
from shoal.tables.guessing.patterns import POSTAL, Pattern, first_fit
from shoal.tables.makers import COMMON, dates, frequencies, intervals, prefixes

_CODES = Pattern("codes", r"^[A-Z]{0,4}[-. ]?\d[\dA-Z]*(?:[-. /]?[\dA-Z]+)*$", None, 10)
_ENOUGH = 20  # cells below which nearly all different means nothing
_SHORTEST, _LONGEST = 3, 12  # signs of a code; what is longer is a number of something


def guess_hierarchy(
    series: pl.Series, column: str, few: int = COMMON
) -> tuple[Taxonomy, str] | None:
    """Return a hierarchy of names and how it was made; None where there is no name.

    Codes, which mean more the further left they are read, are cut from the right. What else is
    known of names is how often they occur, which is nothing where nearly every cell has its own. A
    label names a value that ``few`` cells have at least.
    """
    texts = as_text(series).drop_nulls()
    texts = texts.filter(texts != STAR)  # in a hierarchy it says what missing says
    different = texts.unique()
    if different.is_empty() or (different.str.strip_chars() == "").any():
        return None  # no file of a hierarchy can say a value of spaces alone
    form = first_fit((*POSTAL, _CODES), different)
    lengths = different.str.len_chars()
    if form and lengths.is_between(_SHORTEST, _LONGEST).all():
        first = different.str.slice(0, 1).n_unique()
        if first < len(different):  # a first sign of each one's own puts nothing together
            return prefixes(texts, column), f"prefixes of {form}"
    if nearly_unique(texts):
        return None
    return frequencies(texts, column, few=few), "names of about equal frequency together"


def nearly_unique(texts: pl.Series) -> bool:
    """Tell whether values of a column occur less than twice on average."""
    known = texts.drop_nulls()
    return len(known) >= _ENOUGH and len(known) < 2 * known.n_unique()


def no_hierarchy(series: pl.Series, column: str) -> str:
    """Say why a column of names cannot get a hierarchy from its values, if it cannot."""
    if not nearly_unique(series) or guess_hierarchy(series, column) is not None:
        return ""
    known = series.drop_nulls()
    return (
        f"its {len(known):,} texts have {known.n_unique():,} different values, so no hierarchy can "
        "be made of how often they occur: group them by hand (shoal hierarchy), or leave it out"
    )


def guess_any(series: pl.Series, column: str, few: int = COMMON) -> tuple[Taxonomy, str] | None:
    """Return a hierarchy of any column and how it was made; None where nothing is known.

    The first way that fits all values: countries, dates, numbers, else as names are.
    """
    ways: tuple[tuple[str, Callable[[pl.Series, str], Taxonomy]], ...] = (
        ("countries into regions and continents", countries),
        ("dates into months, quarters and years", dates),
    )
    if _is_age(column):
        ways += (("ages by 5, 10 and 20 years", ages),)
    number = ("prefixes of codes", prefixes) if _is_code(series) else ("intervals", intervals)
    ways += (number,)
    for how, make in ways:
        try:
            return make(series, column), how
        except SchemaError:
            continue
    return guess_hierarchy(series, column, few)


def _is_age(column: str) -> bool:
    return bool({"age", "alter", "lebensalter", "edad"} & set(names.words(column)))


def _is_code(series: pl.Series) -> bool:
    """Tell whether whole numbers are codes of one length, such as zip codes, and not amounts."""
    texts = as_text(series.drop_nulls()).unique()
    lengths = texts.str.len_chars()
    return bool(len(texts) and (lengths == 5).all() and texts.str.contains(r"^\d+$").all())
