"""What a column's name says about its role, and which names a table may not have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.base.errors import InputError, listed


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Parts of column names, lower case.
IDENTIFYING = _vocabulary(
    """
    id uid uuid guid ssn mrn nhs nbr nr key pid name firstname lastname surname forename
    fullname username email mail phone telephone mobile fax passport iban account licence
    license plate address street url ip idcode insurance
    """
)
QUASI = _vocabulary(
    """
    age birth birthday birthdate birthyear dob born yob sex gender race ethnic ethnicity hispanic
    zip zipcode postcode postal plz city town village state county country nation nationality
    native region province district municipality birthplace citizenship citizen marital married
    education school degree grade occupation job profession employer workclass religion language
    height weight household children admission discharge death deceased year
    """
)
SENSITIVE = _vocabulary(
    """
    disease diagnosis diag icd illness condition disorder symptom injury hiv cancer treatment
    therapy medication drug salary income wage earnings credit debt balance conviction crime
    offence offense orientation
    """
)


def words(name: str) -> list[str]:
    """Split a column name: at signs, digits and capitals."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    parts = [part.casefold() for part in re.split(r"[^A-Za-z]+", spaced) if part]
    whole = "".join(parts)
    singular = [part[:-1] for part in parts if part.endswith("s")]
    return [*parts, *singular, whole]


def telling(name: str, vocabulary: frozenset[str]) -> str | None:
    """Return the first part of ``name`` that belongs to ``vocabulary``."""
    return next((word for word in words(name) if word in vocabulary), None)


def check_names(names: Iterable[str], where: object) -> None:
    """Refuse names that mean several columns wherever polars is given a name.

    ``^a.*$`` would stand for every column that starts with an a, and ``*`` for all of them: what is
    done to the one would silently be done to the others.
    """
    patterns = [name for name in names if name == "*" or re.fullmatch(r"\^.*\$", name, re.DOTALL)]
    if patterns:
        raise InputError(
            f"{where} has column names that are read as patterns: {listed(patterns)}. A name may "
            "not be '*', nor start with '^' and end with '$': rename the columns."
        )
