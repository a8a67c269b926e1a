"""Explanations of terms in reports."""

from __future__ import annotations

from shoal.base.roles import Role

GLOSSARY = (
    (
        "attack",
        "A trial: somebody who knows a little about people tries to find them, or to learn their "
        "sensitive value, with the release in hand. The baseline is a guess without the release; "
        "the control attacks with the knowledge of other people. Only success above both comes "
        "from the release.",
    ),
    (
        "class",
        "Rows that are equal in every quasi-identifier, so that nobody can tell them apart; in a "
        "release of two tables (Anatomy), rows that share their sensitive values.",
    ),
    (
        "confidence interval",
        "Where the true rate lies, very likely: an attack is tried on some people, not on all.",
    ),
    (
        "generalized",
        "Said less exactly: [20-39] instead of 31, a region instead of a town. The star (*) says "
        "nothing at all: somebody in the class has no value there.",
    ),
    ("identifier", "A column that names a person outright. It is never published."),
    (
        "information lost",
        "How much less exact the quasi-identifiers are than before: 0 % when every cell is "
        "published as it was, 100 % when no cell says anything.",
    ),
    (
        "quasi-identifier",
        "A column that others may know about a person (age, place, job) and by which the person "
        "could be recognised.",
    ),
    (
        "release",
        "The published table.",
    ),
    (
        "risk",
        "How likely somebody who knows all quasi-identifiers of a person picks that person's row: "
        "one divided by the number of people who fit, or of rows if no person column is declared.",
    ),
    ("sensitive", "A column that nobody should learn about a particular person."),
    ("unique", "A row whose quasi-identifiers no other row has: the person who fits it is found."),
)


def role_words(role: Role) -> str:
    """Return the label of a role, and whether such columns are left out."""
    return role.label if role.published else f"{role.label}, not published"
