"""What a column is to a release, and what its values are to each other."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a column is to someone who wants to find a person in the table."""

    IDENTIFIER = "identifier"
    PERSON = "person"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"
    UNDECIDED = "undecided"

    @property
    def published(self) -> bool:
        """Whether a release holds such columns, generalized or as they are."""
        return self in (Role.QUASI, Role.SENSITIVE, Role.OTHER)


class Kind(StrEnum):
    """How a quasi-identifier is generalized: up a tree, to an interval, to a set."""

    TAXONOMY = "taxonomy"
    ORDERED = "ordered"
    SET = "set"
