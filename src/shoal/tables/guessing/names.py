"""Find what the name of a column suggests, in seven languages."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

PERSON, NUMBER, QUASI, SENSITIVE = "person", "number", "quasi", "sensitive"
OUTCOME = "outcome"
WHOSE = "whose"

_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)
# What is often written behind a word without a separator: agegrp, statenum, deathmon.
_TAILS = re.compile(r"(?<=...)(?:num|nbr|no|nr|grp|group|cat|cd|code|mon|yr|dt|txt)$")
# At the end of a name they say that the column is yes or no: drive_thru_ind.
_FLAGS = ("ind", "flag", "yn", "ja")
# Runs of capitals (GP), capitalized words (Practice) and small letters, without digits.
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


@dataclass(frozen=True)
class Words:
    """The words of one meaning: whole ones, beginnings, ends and middles of words."""

    whole: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    inner: tuple[str, ...]

    def has(self, word: str) -> bool:
        """Tell whether a word, folded before, has this meaning."""
        return (
            word in self.whole
            or word.startswith(self.starts)
            or word.endswith(self.ends)
            or any(stem in word for stem in self.inner)
        )


@cache
def vocabulary() -> dict[str, Words]:
    """Return the words of every meaning, of all languages together."""
    text = files(__package__).joinpath("words.toml").read_text("utf-8")
    return {
        meaning: _words(" ".join(by_language.values()))
        for meaning, by_language in tomllib.loads(text).items()
    }


def _words(listed: str) -> Words:
    spelled = {form.lower() for word in listed.split() for form in _ascii(word)}

    def stems(*, before: bool, behind: bool) -> tuple[str, ...]:
        kinds = ((word.startswith("*"), word.endswith("*"), word) for word in sorted(spelled))
        return tuple(word.strip("*") for b, e, word in kinds if (b, e) == (before, behind))

    return Words(
        frozenset(stems(before=False, behind=False)),
        stems(before=False, behind=True),
        stems(before=True, behind=False),
        stems(before=True, behind=True),
    )


def _ascii(text: str) -> set[str]:
    """Return a text without accents, umlauts written both ways: größe, groesse, grosse."""
    if text.isascii():
        return {text}
    return {
        "".join(c for c in unicodedata.normalize("NFKD", form) if not unicodedata.combining(c))
        for form in (text.translate(_UMLAUTS), text.replace("ß", "ss"))
    }


def words(name: str) -> list[str]:
    """Split a column name at signs, digits and capitals; neighbours are also joined.

    ``birth_Place2`` gives birth, place, birthplace; a plural is also its singular, and ``agegrp``
    is also age.
    """
    spelled: list[str] = []
    for form in sorted(_ascii(name)):
        parts = [word.lower() for word in _PARTS.findall(form)]
        if len(parts) > 1 and parts[-1] in _FLAGS:
            parts.pop()
        joined = [a + b for a, b in pairwise(parts)]
        every = [*parts, *joined, "".join(parts)]
        spelled += [*every, *(word[:-1] for word in every if len(word) > 3 and word.endswith("s"))]
        spelled += [_TAILS.sub("", word) for word in parts]
    return list(dict.fromkeys(spelled))


def matching_word(name: str, meaning: str) -> str | None:
    """Return the first word of a name that has this meaning."""
    listed = vocabulary()[meaning]
    return next((word for word in words(name) if listed.has(word)), None)


def without_prefix(names: list[str]) -> dict[str, str]:
    """Return every name without what all names of the table begin with, as in iage, isex, irace."""
    first = {name[:1] for name in names}
    if len(names) < 4 or len(first) > 1 or not all(len(name) > 3 for name in names):
        return {name: name for name in names}
    start = 1
    while len({name[: start + 1] for name in names}) == 1:
        start += 1
    return {name: name[start:] for name in names}
