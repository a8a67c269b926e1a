"""Are rows people? What the columns say that repeat, and the one that says whose row it is."""

from __future__ import annotations

import polars as pl

from shoal.base.roles import Role
from shoal.tables.cells import as_text
from shoal.tables.guessing import names
from shoal.tables.guessing.roles import Evidence, role_of
from shoal.tables.schema import Schema, plain

_FEW = 20  # values, or rows of each, from which a number may count the members of a household


EACH_ONCE = "Every row is a different person"
"""How the warning begins that a series of releases has no need of: it asks for one row each."""


def not_people(schema: Schema, frame: pl.DataFrame) -> str:
    """Say that rows are not people, or that all are different ones; nothing when all seems well.

    A number of a person that repeats counts whatever was said of its column, and when nothing was.
    Names without a digit repeat too, and different people bear them: they prove nothing.
    """
    if schema.person is not None:
        return _all_different(schema, frame)
    people, worst = repeating(schema, frame)
    return worst and (
        f"People have several rows: {frame.height:,} rows of {people:,} different {worst!r}, and k "
        f"counts rows. Name it with --person (person={worst!r}), and people are counted."
    )


def repeating(schema: Schema, frame: pl.DataFrame) -> tuple[int, str]:
    """Return the column that numbers people and repeats, and how many it has; else 0 and no name.

    Of several, the one with most.
    """
    candidates: list[tuple[int, str]] = []
    for name in frame.columns:
        if not plain(frame[name].dtype):
            continue
        known = frame[name].drop_nulls()
        if name in schema.identifier or _of_a_person(name, known):
            texts = as_text(known)
            codes = texts.filter(texts.str.contains("[0-9@]"))
            people = codes.n_unique()  # remarks repeat too: "none", "see file 7"
            if people < len(codes) and people > texts.n_unique() / 2:
                candidates.append((people, name))
    return max(candidates, default=(0, ""))


def _of_a_person(name: str, known: pl.Series) -> bool:
    """Tell whether a column seems to hold numbers of persons, by its name and its values."""
    said, word = names.words(name), names.telling(name, names.WHOSE)
    if word is None and said != ["id"]:
        return False
    if word and (f"{word}s" in said or (word.endswith("s") and word[:-1] in said)):
        return False  # persons, customers: how many
    if role_of(Evidence(known, name))[0] not in (Role.IDENTIFIER, Role.UNDECIDED):
        return False
    return known.n_unique() > _FEW or len(known) <= _FEW * known.n_unique()


def _all_different(schema: Schema, frame: pl.DataFrame) -> str:
    """Say that the column of the persons has another value in every row."""
    name = schema.person
    if name is None or frame.height < 2 or schema.whose(frame).n_unique() < frame.height:
        return ""
    return (
        f"{EACH_ONCE}: no two of the {frame.height:,} rows have the same "
        f"{name!r}, so people are counted as rows are. If it numbers the rows, name the column "
        "that says whose row it is with --person."
    )
