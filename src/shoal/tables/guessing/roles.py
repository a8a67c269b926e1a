"""Guess the role of a column from its name and its values; without evidence it stays undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from shoal.base.roles import Role
from shoal.tables.guessing import names, patterns
from shoal.tables.schema import plain, textual

ENOUGH = 20  # rows below which "all different" means nothing
ALONE = 0.2  # share of the rows that are alone with their value, from which a column singles out
_OWN = 1.1  # rows of a value, on average, below which nearly every row has its own
_LONG = 6  # digits of a number that is a number of something

Guess = tuple[Role, str]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A column with what its name and its values say, each found out once."""

    series: pl.Series
    name: str
    beside_names: bool = False

    @cached_property
    def known(self) -> pl.Series:
        """The cells that are not missing."""
        return self.series.drop_nulls()

    @cached_property
    def counts(self) -> pl.Series:
        """How often each value occurs."""
        return self.known.value_counts(name="\x00rows")["\x00rows"]

    @property
    def each(self) -> float:
        """Rows of a value, on average."""
        return len(self.known) / max(len(self.counts), 1)

    @cached_property
    def alone(self) -> float:
        """Share of the rows whose value no other row has."""
        return int((self.counts == 1).sum()) / max(len(self.series), 1)

    @cached_property
    def texts(self) -> pl.Series:
        """The different values as texts, for the forms that they may have."""
        return patterns.different(self.known)

    def word_of_name(self, meaning: str) -> str | None:
        """Return the word of the name that has this meaning."""
        return names.matching_word(self.name, meaning)

    @cached_property
    def whole(self) -> bool:
        """Whether numbers with a decimal point are whole: gaps make a file write 17 as 17.0."""
        return bool((self.known == self.known.round()).all())

    @property
    def many(self) -> bool:
        """Whether the table has enough rows for their values to say something."""
        return len(self.known) >= ENOUGH


def role_of(evidence: Evidence) -> Guess:
    """Return the first role that there is evidence for, and the evidence in words."""
    if evidence.known.is_empty():
        return Role.UNDECIDED, "all values are missing"
    if not plain(evidence.series.dtype):
        return Role.UNDECIDED, f"its cells ({evidence.series.dtype}) hold more than one value"
    for test in _TESTS:
        if (guess := test(evidence)) is not None:
            return guess
    return Role.UNDECIDED, "neither name nor values suggest a role"


def _by_form(evidence: Evidence) -> Guess | None:
    """Values whose form alone says what they are."""
    dtype = evidence.series.dtype
    if dtype.is_temporal():
        return Role.QUASI, "contains dates, which other people may know"
    if not (textual(dtype) or dtype.is_integer()):
        return None
    if form := patterns.first_fit(patterns.IDENTIFYING, evidence.texts):
        return Role.IDENTIFIER, f"the values look like {form}"
    if not textual(dtype):
        return None
    if form := patterns.first_fit(patterns.DATES, evidence.texts):
        return Role.QUASI, f"the values look like {form}, which other people may know"
    if patterns.is_prose(evidence.texts):
        return Role.IDENTIFIER, "contains free text, which may name people"
    return None


def _by_person(evidence: Evidence) -> Guess | None:
    """Names and addresses of persons, by the column's name or by the look of many values."""
    if word := evidence.word_of_name(names.PERSON):
        return Role.IDENTIFIER, f"the column name suggests {word!r}, which identifies a person"
    if not textual(evidence.series.dtype) or evidence.word_of_name(names.SENSITIVE):
        return None
    word = evidence.word_of_name(names.NUMBER)
    if patterns.NAMES.fits(evidence.texts):
        return Role.IDENTIFIER, f"the values look like {patterns.NAMES.name}"
    if evidence.beside_names and word and not evidence.word_of_name(names.QUASI):
        return Role.IDENTIFIER, f"the column name suggests {word!r}, next to names of people"
    if patterns.STREETS.fits(evidence.texts):
        return Role.IDENTIFIER, f"the values look like {patterns.STREETS.name}"
    return None


def _by_number(evidence: Evidence) -> Guess | None:
    """Numbers and codes of persons or cases: 'admission_type_id' has few values and is none."""
    word = evidence.word_of_name(names.NUMBER)
    if word is None or (evidence.series.dtype.is_float() and not evidence.whole):
        return None
    described = evidence.word_of_name(names.QUASI) or evidence.word_of_name(names.SENSITIVE)
    distinct = len(evidence.counts)
    if evidence.each < _OWN or (not described and evidence.each <= 20 and distinct > 100):
        return Role.IDENTIFIER, f"the column name suggests {word!r}; {distinct:,} different values"
    return None


def _by_harm(evidence: Evidence) -> Guess | None:
    """What must not be learned of a person, unless it singles people out by itself."""
    return _protected(evidence, evidence.word_of_name(names.SENSITIVE))


def _by_outcome(evidence: Evidence) -> Guess | None:
    """How it went with a person, where the name says nothing more definite."""
    return _protected(evidence, evidence.word_of_name(names.OUTCOME))


def _protected(evidence: Evidence, word: str | None) -> Guess | None:
    if word is None:
        return None
    if evidence.many and evidence.alone >= ALONE:
        role = Role.QUASI if evidence.series.dtype.is_numeric() else Role.UNDECIDED
        return (
            role,
            f"the column name suggests {word!r}, which is sensitive, but {evidence.alone:.0%} of "
            "the rows have a unique value, so publishing it unchanged identifies people",
        )
    return Role.SENSITIVE, f"the column name suggests {word!r}, which is sensitive"


def _by_knowledge(evidence: Evidence) -> Guess | None:
    """What others may know, by the column's name or the form of its values."""
    if word := evidence.word_of_name(names.QUASI):
        return Role.QUASI, f"the column name suggests {word!r}, which other people may know"
    if textual(evidence.series.dtype) or evidence.series.dtype.is_integer():
        form = patterns.first_fit(patterns.POSTAL, evidence.texts)
        if form and evidence.each > _OWN:
            return Role.QUASI, f"the values look like {form}"
    return None


def _by_singling_out(evidence: Evidence) -> Guess | None:
    """Values that most rows are alone with."""
    if not evidence.many or evidence.alone < ALONE:
        return None
    dtype, share = evidence.series.dtype, f"{evidence.alone:.0%}"
    if evidence.each < _OWN and (textual(dtype) or _counts_up(evidence) or _code(evidence)):
        return Role.IDENTIFIER, "almost every value is unique"
    if textual(dtype):
        return Role.IDENTIFIER, f"{share} of the rows have a unique text"
    return Role.QUASI, f"{share} of the rows have a unique number"


def _counts_up(evidence: Evidence) -> bool:
    """Tell whether the values are a running number: 1, 2, 3 ... in some order."""
    known = evidence.known
    if not known.dtype.is_integer():
        return False
    low, high = known.min(), known.max()
    return isinstance(low, int) and isinstance(high, int) and high - low < 2 * len(known)


def _code(evidence: Evidence) -> bool:
    """Tell whether the values are long whole numbers with equally many digits."""
    if not evidence.known.dtype.is_integer():
        return False
    digits = evidence.texts.str.len_chars().unique()
    return len(digits) == 1 and int(digits[0]) >= _LONG


_TESTS: tuple[Callable[[Evidence], Guess | None], ...] = (
    _by_form,
    _by_person,
    _by_number,
    _by_harm,
    _by_knowledge,
    _by_outcome,
    _by_singling_out,
)
