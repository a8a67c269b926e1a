"""The ways to make a hierarchy, by name, with their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.base.errors import ParameterError, suggest_nearest
from shoal.tables.coded_hierarchies import ages, countries, decades, icd10, nuts, rare, weeks
from shoal.tables.domain import Taxonomy
from shoal.tables.domain import flat as right_under_star
from shoal.tables.makers import COMMON, dates, frequencies, intervals, prefixes, texts_of


@dataclass(frozen=True)
class Maker:
    """A way to make a hierarchy: what it is for, the numbers that steer it, an example of them."""

    story: str
    make: Callable[..., Taxonomy]
    takes: tuple[str, ...] = ()
    hint: str = ""


def quantiles(
    values: pl.Series | Sequence[Any],
    column: str = "values",
    *,
    steps: Sequence[int] | None = None,
) -> Taxonomy:
    """Group numbers into nested intervals that hold about equally many cells; see `intervals`."""
    return intervals(values, column, how="quantile", steps=steps)


def flat(values: pl.Series | Sequence[Any], column: str = "values") -> Taxonomy:
    """Put every value right under ``*``, to be grouped by hand."""
    return right_under_star(texts_of(values, column).to_list(), column)


def _frequencies(values: pl.Series, column: str, *, k: Sequence[int] = (COMMON,)) -> Taxonomy:
    if len(k) != 1 or k[0] < 1:
        raise ParameterError(f"k takes one whole number from 1. Got {list(k)} instead.")
    return frequencies(values, column, few=int(k[0]))


MAKERS = {
    "intervals": Maker(
        "numbers, into ever wider intervals of equal width",
        intervals,
        ("widths", "steps"),
        "5, 10, 20",
    ),
    "quantiles": Maker(
        "numbers, into intervals that hold about equally many rows",
        quantiles,
        ("steps",),
        "16, 8, 4, 2",
    ),
    "prefixes": Maker(
        "codes such as zip codes, one character hidden more on each level",
        prefixes,
        ("drop",),
        "1, 2, 3",
    ),
    "dates": Maker("dates, into months, quarters and years", dates),
    "weeks": Maker("dates, into weeks and years as ISO 8601 counts them", weeks),
    "decades": Maker("dates or years, into years, decades and centuries", decades),
    "ages": Maker(
        "ages, into 5, 10 and 20 years; the oldest together (90+)", ages, ("top-age",), "90"
    ),
    "frequency": Maker(
        "names, those of about equal frequency together", _frequencies, ("k",), str(COMMON)
    ),
    "rare": Maker("names, those that few rows have put together", rare, ("at-least",), "50"),
    "country": Maker("countries (ISO 3166 codes or names), into regions and continents", countries),
    "icd10": Maker("diagnoses (ICD-10), into categories, blocks and chapters", icd10),
    "nuts": Maker("regions of Europe (NUTS), into larger ones and countries", nuts),
    "flat": Maker("names, each right under *, to be grouped by hand", flat),
}


def make(how: str, values: pl.Series, column: str, numbers: Mapping[str, str | None]) -> Taxonomy:
    """Make a hierarchy in one of the :data:`MAKERS`; its numbers are told as texts, by name."""
    if how not in MAKERS:
        raise ParameterError(
            f"--how must be one of {', '.join(map(repr, MAKERS))}. Got {how!r} instead."
            f"{suggest_nearest(how, MAKERS)}"
        )
    asked = {name: text for name, text in numbers.items() if text is not None}
    for name in asked:
        if name not in MAKERS[how].takes:
            raise ParameterError(f"--{name} does not go with --how {how}. Leave it out.")
    options = {name.replace("-", "_"): _read_numbers(name, text) for name, text in asked.items()}
    return MAKERS[how].make(values, column, **options)


def _read_numbers(name: str, text: str) -> list[int | float]:
    try:
        numbers = [float(word) for word in text.replace(";", ",").split(",") if word.strip()]
    except ValueError:
        raise ParameterError(
            f"{name} (--{name}) takes numbers with commas between them, such as 5,10,20. "
            f"Got {text!r} instead."
        ) from None
    return [int(number) if number.is_integer() else number for number in numbers]
