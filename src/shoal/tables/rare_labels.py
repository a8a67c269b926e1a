"""Find hierarchy labels that name a rare value.

A cell that is generalized to such a label still publishes the value. A value is spelled out if its
words stand in the label, in any capitals, and not as part of a value that enough people have. A
number or a date may also be the end of an interval, which names nobody if it is round, if another
interval begins there, or if several intervals are equally wide.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.grid import precision

_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_DATE = r"\d{4}-\d\d-\d\d"
_CODE = r"[A-Za-z]{0,3}\d[\dA-Za-z.]{0,5}"
_TO = r"\s*(?:-|–|~|,|;|\.\.|to|bis|and|und)\s*"
_INTERVAL = re.compile(rf"^[\[(\]]?\s*({_NUMBER}){_TO}({_NUMBER})\s*[\])\[]?$")
_DATES = re.compile(rf"^[\[(\]]?\s*({_DATE}){_TO}({_DATE})\s*[\])\[]?$")
_CODES = re.compile(rf"^{_CODE}{_TO}{_CODE}$")
# What stands between the values of a list; after a bracket it may be the comma of an interval.
_SEPARATORS = re.compile(r"\s*[,;/|+&]\s*|\s+(?:and|und|or|oder|et|ou|y|o|e)\s+|\s+")
_ONE_OF = frozenset(
    {"only", "nur", "all", "but", "alle", "außer", "ohne", "without", "not", "nicht"}
)
_COUNTS = r"and [\d,]+ more\)*$|\([\d,]+ values\)"
"""What the labels that Shoal makes count: it is no value."""
_NO_SPACES = r"\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Thai}|\p{Lao}|\p{Khmer}|\p{Myanmar}"
_LISTED = 3  # numbers in a label that make it a list, and no interval
_TENTH = 10.0  # of an interval's width: multiples of so much are round numbers
_ROUND = 5  # steps between the values of a column, of which a round number is a multiple at least
_LARGE = 100  # steps from which on a number with one digit before zeros is round
_HITS = 2_000  # pairs that are looked at one by one; more would take long, and count as spelled out


@dataclass(frozen=True)
class RareLabel:
    """A label and a value below it that it spells out."""

    label: str
    value: str


def find_rare_labels(tree: Taxonomy, rare: pl.Series) -> list[RareLabel]:
    """Return the labels of groups that spell out one of the ``rare`` values below them.

    A group of a single value is published where enough people have it, and is left out.
    """
    places = {text: place for place, text in enumerate(tree.values)}
    leaves = np.array([places[text] for text in rare.to_list() if text in places], np.int64)
    if not leaves.size:
        return []
    few = np.zeros(tree.size, np.bool_)
    few[leaves] = True
    pairs = _pairs(tree, leaves)
    numbers = pl.col("value").str.contains(rf"^{_NUMBER}$")
    dates = pl.col("value").str.contains(rf"^{_DATE}$")
    interval = pl.col("label").str.contains(_INTERVAL.pattern)
    between = pl.col("label").str.contains(_DATES.pattern)
    ends = pairs.filter(
        (numbers & interval & _at_end(_INTERVAL)) | (dates & between & _at_end(_DATES))
    )
    listed = pl.col("label").str.count_matches(_NUMBER) >= _LISTED
    lists = [node for node in pairs["node"].unique().to_list() if _is_list(tree, places, node)]
    words = pairs.filter(
        pl.col("node").is_in(lists)
        | (
            ~(numbers & (interval | ~listed))
            & ~(dates & between)
            & ~pl.col("label").str.contains(_CODES.pattern)
        )
    )
    return [*_worded(tree, words, few), *_ended(tree, ends)]


def _is_list(tree: Taxonomy, places: Mapping[str, int], node: int) -> bool:
    """Tell whether a label lists values below it and says nothing else: 10031/10047, only 10031.

    A single number may be the name of a group, as 1990 of a decade.
    """
    label = tree.labels[node].strip().removeprefix("{").removesuffix("}")
    if label.startswith(("[", "(", "]")):
        return False
    parts = [part for part in _SEPARATORS.split(label) if part]
    values = [part for part in parts if part.lower() not in _ONE_OF]
    below = (tree.lo[node] <= places.get(value, -1) <= tree.hi[node] for value in values)
    return len(parts) > 1 and bool(values) and all(below)


def _at_end(pattern: re.Pattern[str]) -> pl.Expr:
    """Tell whether the value is one of the two ends of the label."""
    sides = (pl.col("label").str.extract(pattern.pattern, at) for at in (1, 2))
    value, *ends = (
        pl.coalesce(side.str.replace(",", ".").cast(pl.Float64, strict=False).cast(pl.String), side)
        for side in (pl.col("value"), *sides)
    )
    return (value == ends[0]) | (value == ends[1])


def _pairs(tree: Taxonomy, leaves: np.ndarray) -> pl.DataFrame:
    """Return every pair of a group's label, without its own counts, and a rare value below it."""
    shown = pl.Series(tree.labels, dtype=pl.String)
    groups = tree.hi > tree.lo
    groups[: tree.size] = False
    if tree.labels[tree.root] == STAR:
        groups[tree.root] = False
    frames = []
    for level in tree.levels[1:, leaves]:
        inner = groups[level]
        frames.append(pl.DataFrame({"node": level[inner], "value": shown.gather(leaves[inner])}))
    pairs = pl.concat(frames).unique(maintain_order=True)
    named = shown.gather(pairs["node"].cast(pl.Int64))
    return pairs.with_columns(
        named.alias("label"), named.str.replace_all(_COUNTS, "").alias("text")
    )


def _plain(name: str) -> pl.Expr:
    """Return a text as lower-case words between single spaces."""
    spaced = pl.col(name).str.normalize("NFKC").str.to_lowercase()
    spaced = spaced.str.replace_all(r"[^\pL\pN\pM]+", " ").str.strip_chars()
    return pl.concat_str(pl.lit(" "), spaced, pl.lit(" "))


def _worded(tree: Taxonomy, pairs: pl.DataFrame, few: np.ndarray) -> list[RareLabel]:
    bare = pl.col("value").str.strip_chars().str.to_lowercase()
    lower = pl.col("text").str.to_lowercase()
    wordless = ~pl.col("value").str.contains(r"\pL|\pN")
    single = bare.str.len_chars() == 1
    in_words = pl.col("words").str.contains(pl.col("sought"), literal=True)
    inside = lower.str.contains(bare, literal=True)
    # A single sign is a word of many labels; it is a value where it is one of a list.
    parts = pl.concat_str(
        pl.lit(","), lower.str.replace_all(r"\s*[,;/|()\[\]{}]\s*", ","), pl.lit(",")
    )
    separated = parts.str.contains(pl.concat_str(pl.lit(","), bare, pl.lit(",")), literal=True)
    pairs = pairs.with_columns(_plain("text").alias("words"), _plain("value").alias("sought"))
    hits = pairs.filter(
        pl.when(single & ~wordless)
        .then(separated)
        .when(wordless | pl.col("value").str.contains(_NO_SPACES))
        .then(inside & (bare.str.len_chars() > 0))
        .otherwise(in_words)
    )
    names = pl.DataFrame({"value": tree.values}).with_columns(_plain("value").alias("words"))
    often = names.filter(pl.Series(~few))["words"]
    found = []
    for row, hit in enumerate(hits.iter_rows(named=True)):
        whole = hit["sought"] in hit["words"]
        if row >= _HITS or not whole or not _part_of_another(hit["words"], hit["sought"], often):
            found.append(RareLabel(hit["label"], hit["value"]))
    return found


def _part_of_another(words: str, sought: str, often: pl.Series) -> bool:
    """Tell whether a value stands in a label only as a part of values that enough people have."""
    longer = often.filter(often.str.contains(sought, literal=True))
    for other in sorted(longer.to_list(), key=len, reverse=True):
        words = words.replace(other, "  ")
    return sought not in words


def _ended(tree: Taxonomy, pairs: pl.DataFrame) -> list[RareLabel]:
    """Return the intervals of which an end is a rare value, and looks as if taken from the data."""
    if pairs.is_empty():
        return []
    lows: set[float] = set()
    highs: set[float] = set()
    widths: Counter[float] = Counter()
    for label in tree.labels[tree.size :]:
        if reach := _reach(label):
            lows.add(reach[0])
            highs.add(reach[1])
            widths[round(reach[1] - reach[0], 9)] += 1
    points = [point for text in tree.values if (point := _point(text)) is not None]
    apart = precision(np.unique(points))
    found = []
    for label, value in pairs.select("label", "value").iter_rows():
        reach, end = _reach(label), _point(value)
        if reach is None or end is None or end not in reach:
            continue
        beside = ({end, end - apart} & highs if end == reach[0] else {end, end + apart} & lows) - (
            {end} if reach[0] == reach[1] else set()
        )
        if widths[round(reach[1] - reach[0], 9)] > 1:
            continue  # intervals of equal width: one of several that were not cut at values
        closed = end == reach[1]
        if not beside and not _is_round(value, end, reach[1] - reach[0], apart, closed=closed):
            found.append(RareLabel(label, value))
    return found


def _reach(label: str) -> tuple[float, float] | None:
    match = _INTERVAL.fullmatch(label) or _DATES.fullmatch(label)
    if match is None:
        return None
    low, high = _point(match[1]), _point(match[2])
    return None if low is None or high is None else (low, high)


def _point(text: str) -> float | None:
    """Return a number, or the number of a day; None of another text."""
    if re.fullmatch(_DATE, text):
        try:
            return float(dt.date.fromisoformat(text).toordinal())
        except ValueError:
            return None
    return float(text.replace(",", ".")) if re.fullmatch(_NUMBER, text) else None


def _is_round(text: str, end: float, width: float, apart: float, *, closed: bool) -> bool:
    if re.fullmatch(_DATE, text):
        day = dt.date.fromisoformat(text)
        after = day + dt.timedelta(days=1)
        return 1 in (day.day, after.day) or day.weekday() in (0, 6)
    tenth = max(width / _TENTH, _ROUND * apart)
    digits = f"{abs(end):.15g}".replace(".", "").strip("0")
    if tenth <= 0 or (abs(end) >= _LARGE * apart and len(digits) == 1):
        return tenth > 0
    step = 10.0 ** math.floor(math.log10(tenth))
    step *= max(digit for digit in (1, 2, 5) if digit * step <= tenth * (1 + 1e-9))
    ends = (end, end + apart) if closed else (end,)
    return any(math.isclose(one / step, round(one / step), abs_tol=1e-9) for one in ends)
