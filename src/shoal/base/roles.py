"""The roles and kinds of columns, with their labels and explanations."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a column tells someone who looks for a person, and what happens to it in a release."""

    IDENTIFIER = "identifier"
    PERSON = "person"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    KEEP = "keep"
    DROP = "drop"
    UNDECIDED = "undecided"

    @property
    def published(self) -> bool:
        """Whether a release holds such columns, generalized or unchanged."""
        return self in (Role.QUASI, Role.SENSITIVE, Role.KEEP)

    @property
    def label(self) -> str:
        """What people read in place of the key."""
        return _WORDS[self].label

    @property
    def meaning(self) -> str:
        """What such a column holds."""
        return _WORDS[self].meaning

    @property
    def outcome(self) -> str:
        """What a release does with such a column."""
        return _WORDS[self].outcome


class _Words(NamedTuple):
    label: str
    meaning: str
    outcome: str


_UNCHANGED, _HIDDEN = "published unchanged", "not published"
_WORDS = {
    Role.IDENTIFIER: _Words(
        "identifier", "names or numbers that identify a person (case number)", _HIDDEN
    ),
    Role.PERSON: _Words(
        "person", "the person that a row belongs to; k then counts people, not rows", _HIDDEN
    ),
    Role.QUASI: _Words(
        "quasi-identifier", "what other people may know (age, zip code)", "generalized"
    ),
    Role.SENSITIVE: _Words(
        "sensitive", "what nobody should learn about a person (diagnosis)", "protected by rules"
    ),
    Role.KEEP: _Words("keep", "values that identify nobody and harm nobody", _UNCHANGED),
    Role.DROP: _Words("drop", "columns that you leave out", _HIDDEN),
    Role.UNDECIDED: _Words(
        "not decided yet", "columns without a decision", "not published until decided"
    ),
}


class Kind(StrEnum):
    """How a quasi-identifier is generalized: up a tree, to an interval, to a set."""

    TAXONOMY = "taxonomy"
    ORDERED = "ordered"
    SET = "set"
