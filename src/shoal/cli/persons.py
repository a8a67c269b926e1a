"""Options of what is published of persons: all their rows alike, and pseudonyms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from shoal.base.errors import ParameterError
from shoal.cli.options import flag

PersonRows = Annotated[
    str | None,
    flag(
        "--person-rows",
        "apart|together",
        "together: all rows of a person are published with the same quasi-identifiers, which must "
        "not differ between them. [default: apart]",
    ),
]
Pseudonym = Annotated[
    str | None,
    flag(
        "--pseudonym",
        "NAME",
        "Like --person, and publish a keyed pseudonym in place of the column; all rows of a person "
        "are then together.",
    ),
]
PseudonymKey = Annotated[
    Path | None,
    flag(
        "--pseudonym-key",
        "FILE",
        "A file with the key of the pseudonyms that only you can read (chmod 600): the same key "
        "gives the same pseudonyms. Without it a key is made and forgotten.",
    ),
]
History = Annotated[
    Path | None,
    flag(
        "--history",
        "FOLDER",
        "What earlier releases published of whom, which --m needs; with --method dummies everybody "
        "keeps the same set of values. An empty folder begins a series. It is as sensitive as the "
        "table: keep it, and never publish it.",
    ),
]
HistoryKey = Annotated[
    Path | None,
    flag(
        "--history-key",
        "FILE",
        "A file with the key that encrypts the history, which only you can read (chmod 600); or "
        "set SHOAL_HISTORY_KEY_FILE to it, or SHOAL_HISTORY_KEY to the key. Needs shoal[crypt].",
    ),
]
Against = Annotated[
    list[str] | None,
    flag(
        "--against",
        "DATA",
        "An earlier release of the same people; repeat it for each. With --history it must be one "
        "of its releases; without, the promise must hold for somebody who has them all.",
    ),
]


def whose(person: list[str] | None, pseudonym: str | None) -> list[str] | None:
    """Return the column of the persons, which one of the two flags names."""
    if pseudonym is None:
        return person
    if person is not None and person != [pseudonym]:
        raise ParameterError(
            f"--person names {', '.join(map(repr, person))} and --pseudonym {pseudonym!r}. One "
            "column says whose row it is: leave --person out."
        )
    return [pseudonym]


def refuse_history(history: object) -> None:
    """Refuse a history, and earlier releases, on Spark."""
    from shoal.api.arguments import refuse_history

    refuse_history(history)
