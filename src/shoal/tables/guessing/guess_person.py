"""Guess the column that says which person a row belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from shoal.base.errors import SchemaError
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
    Names without a digit repeat for different people, too. They count if the rows of a name agree
    in all quasi-identifiers.
    """
    if schema.person is not None:
        return _several_persons(schema, frame) or _all_different(schema, frame)
    people, worst = repeating(schema, frame)
    return worst and (
        f"People have several rows: {frame.height:,} rows of {people:,} different {worst!r}, and k "
        f"counts rows. Name it with --person (person={worst!r}), and people are counted."
    )


def check_persons(schema: Schema, frame: pl.DataFrame) -> None:
    """Refuse a column of persons that counts rows while a declared identifier says who repeats.

    It counts rows when it differs in every row, or when most rows have a person of their own and
    most rows share their identifier with another person.
    """
    if schema.person is None or not schema.identifier:
        return
    persons = schema.persons(frame)
    alone = frame.height - int(persons.is_duplicated().sum())
    for split in _split(schema, frame, persons):
        most = alone > frame.height / 2 and split.rows > frame.height / 2
        if split.name in schema.identifier and (alone == frame.height or most):
            raise SchemaError(
                f"The column of the persons {schema.person!r} has a value of its own in {alone:,} "
                f"of {frame.height:,} rows, and the identifier {split.name!r} repeats: "
                f"{split.known:,} rows have {split.codes:,} different values. So rows would be "
                f"counted, not people. If {split.name!r} says whose row it is, name it with "
                f"--person (person={split.name!r}). If it does not, as an address of several "
                f"people, give {split.name!r} no role: such columns are not released."
            )


@dataclass(frozen=True)
class _Split:
    """A column of numbers of which some stand beside several different persons.

    ``known`` rows have one of ``codes`` numbers; ``rows`` have one of the ``several`` that do.
    """

    name: str
    known: int
    codes: int
    rows: int
    several: int


def _split(schema: Schema, frame: pl.DataFrame, persons: pl.Series) -> list[_Split]:
    found = []
    for name, codes in _numbers(schema, frame):
        if name == schema.person:
            continue
        rows = pl.DataFrame({"code": codes, "person": persons}).drop_nulls()
        each = rows.group_by("code").agg(rows=pl.len(), persons=pl.col("person").n_unique())
        several = each.filter(pl.col("persons") > 1)
        if several.height:
            many = int(several["rows"].sum())
            found.append(_Split(name, rows.height, each.height, many, several.height))
    return found


def _several_persons(schema: Schema, frame: pl.DataFrame) -> str:
    """Say that the same number stands beside several persons: it may be the person's."""
    split = max(_split(schema, frame, schema.persons(frame)), key=lambda s: s.rows, default=None)
    if split is None:
        return ""
    return (
        f"One person may be counted as several: people are counted by {schema.person!r}, and "
        f"{split.several:,} of {split.codes:,} values of {split.name!r} occur with several "
        f"different values of it. If {split.name!r} says whose row it is, name it with --person "
        f"(person={split.name!r})."
    )


def repeating(schema: Schema, frame: pl.DataFrame) -> tuple[int, str]:
    """Return the column that numbers people and repeats, and how many it has; else 0 and no name.

    Of several, the one with most.
    """
    candidates = []
    for name, codes in _numbers(schema, frame):
        known = codes.drop_nulls()
        if (people := known.n_unique()) < len(known):
            candidates.append((people, name))
    return max(candidates, default=(0, ""))


def _numbers(schema: Schema, frame: pl.DataFrame) -> Iterator[tuple[str, pl.Series]]:
    """Yield the columns that number people, null where a cell holds no number.

    Of remarks most have none ("none", "see file 7"), so these columns are left out.
    """
    for name in frame.columns:
        if not plain(frame[name].dtype):
            continue
        column = schema[name].clean(frame[name]) if name in schema else frame[name]
        if name in schema.identifier or _of_a_person(name, column.drop_nulls()):
            texts = as_text(column)
            codes = texts.set(~texts.str.contains("[0-9@]").fill_null(value=False), None)
            if codes.drop_nulls().n_unique() > texts.drop_nulls().n_unique() / 2:
                yield name, codes
            elif name in schema.identifier and _are_people(schema, frame, texts):
                yield name, texts


def _are_people(schema: Schema, frame: pl.DataFrame, texts: pl.Series) -> bool:
    """Tell whether names repeat because people have several rows: these agree in all that is known.

    Different people of one name differ in their quasi-identifiers.
    """
    known = [name for name in schema.quasi if name in frame.columns]
    rows = frame.select(*known).with_columns(texts.alias("\x00name")).drop_nulls("\x00name")
    each = rows.group_by("\x00name").agg(pl.len().alias("\x00rows"), pl.col(known).n_unique())
    several = each.filter(pl.col("\x00rows") > 1)
    alike = several.filter(pl.all_horizontal(pl.col(known) == 1))
    many = int(several["\x00rows"].sum())
    return bool(known) and many > rows.height / 2 and int(alike["\x00rows"].sum()) > many / 2


def _of_a_person(name: str, known: pl.Series) -> bool:
    """Tell whether a column seems to hold numbers of persons, by its name and its values."""
    said, word = names.words(name), names.matching_word(name, names.WHOSE)
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
    if name is None or frame.height < 2 or schema.persons(frame).n_unique() < frame.height:
        return ""
    return (
        f"{EACH_ONCE}: no two of the {frame.height:,} rows have the same "
        f"{name!r}, so people are counted as rows are. If it numbers the rows, name the column "
        "that says whose row it is with --person."
    )
