"""Find values of a column that look alike and may mean the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import polars as pl

from shoal.tables.cells import TEXTS, as_text, merge_values

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def look_alikes(series: pl.Series, groups: Sequence[str] = ()) -> list[list[str]]:
    """Return values of a column of texts that may be one: spellings, plurals, longer names.

    Values are compared without capitals, accents, signs and a plural s; a longer one that begins
    with the words of another belongs to it. Values that ``groups`` put together are one already.
    """
    if not isinstance(series.dtype, TEXTS):
        return []
    texts = as_text(merge_values(series.drop_nulls(), groups)).unique().sort()
    found: dict[tuple[str, ...], list[str]] = {}
    for text in texts.to_list():
        found.setdefault(_words(text), []).append(text)
    alike: dict[tuple[str, ...], list[str]] = {}
    for words in sorted(found, key=lambda each: (len(each), each)):
        shorter = next((words[:n] for n in range(1, len(words)) if words[:n] in alike), words)
        alike.setdefault(shorter, []).extend(found[words])
    return [values for values in alike.values() if len(values) > 1]


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", text).lower().translate(_UMLAUTS)
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    parts = "".join(c if c.isalnum() else " " for c in plain).split()
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in parts)
