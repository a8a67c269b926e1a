"""How well roles are guessed on the labelled list: ``python -m tests.guessing.measure``."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from shoal.tables.guessing.guess import guess
from tests.guessing.values import Labelled, tables

COULD = ("identifier", "quasi")


@dataclass(frozen=True)
class Score:
    """How many columns were looked at, and how the guesses fared.

    ``recall``: of the columns that could identify, the share guessed identifier or quasi.
    ``safe``: the share of them that would not be released as they are. ``precision``: of the
    columns guessed identifier or quasi, the share that could identify. ``undecided``: the share of
    all columns. ``exact``: the share of all columns whose role was guessed exactly.
    """

    columns: int
    recall: float
    safe: float
    precision: float
    undecided: float
    exact: float


def guesses() -> list[tuple[Labelled, str, str]]:
    """Return every labelled column with the role guessed and the reason."""
    found = []
    for labels, frame in tables():
        schema = guess(frame)
        found += [
            (label, schema[label.name].role.value, schema[label.name].reason) for label in labels
        ]
    return found


def score(found: list[tuple[Labelled, str, str]]) -> Score:
    """Return the figures of some guesses."""
    could = [role for label, role, _ in found if label.identifies]
    named = [label for label, role, _ in found if role in COULD]
    return Score(
        len(found),
        sum(role in COULD for role in could) / len(could),
        sum(role in (*COULD, "undecided") for role in could) / len(could),
        sum(label.identifies for label in named) / len(named),
        sum(role == "undecided" for _, role, _ in found) / len(found),
        sum(role == label.role for label, role, _ in found) / len(found),
    )


def main() -> None:
    """Show the figures, and with ``--misses`` what went wrong outside the held-out third."""
    found = guesses()
    write = sys.stdout.write
    if "--misses" in sys.argv:
        for label, role, why in found:
            if not label.held_out and (role in COULD) != label.identifies:
                write(f"{label.language} {label.table}.{label.name}: {label.role}, {role}: {why}\n")
    parts = {"open": [f for f in found if not f[0].held_out]}
    if "--held-out" in sys.argv:
        parts |= {"held out": [f for f in found if f[0].held_out], "all": found}
    for name, part in parts.items():
        write(f"{name}: {score(part)}\n")


if __name__ == "__main__":
    main()
