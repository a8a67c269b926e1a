"""Match the rows of a release with the people of its original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.partition import Ints
from shoal.base.roles import Role
from shoal.measures.risks.matching import Index, Items, blocks, distinct, pairs, sides
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.original import Original

_MOST = 50_000_000  # pairs of a row and a class that fits it


@dataclass(frozen=True, eq=False)
class MatchedPeople:
    """What the original tells.

    Parameters
    ----------
    persons
        The person of every released row, if every row of the original fits one class alone. Rows of
        a class with the same sensitive values are interchangeable: every count is the same.
    least
        How many different people every class has at least, whichever of the rows that fit it (by
        its cells and its sensitive values) are its own.
    count
        How many people there are.
    """

    persons: pl.Series | None
    least: Ints
    count: int


def match_people(opened: Opened, source: Original) -> MatchedPeople | None:
    """Match the rows of a release from which nobody was left out; None where that cannot be."""
    rows, schema = opened.frame.height, source.schema
    lacking = opened.shape.exact or rows != source.frame.height or not rows
    if lacking or schema.person is None or schema.person not in source.frame.columns:
        return None
    classes = opened.published
    columns = [column for column in schema.columns if column.role is Role.QUASI]
    both = sides(source.frame, classes.cells, columns, source.taxonomies)
    keys, which = distinct(np.stack([side.values for side in both], axis=1))
    items = Items.from_codes(
        np.stack([side.cells for side in both], axis=1), classes.sizes.astype(float)
    )
    index = Index.build(both, keys, items)
    key, fits, many = [], [], 0
    alike = np.bincount(which)
    for begin, end in blocks(keys.shape[0], items.size):
        row, item = pairs(index.joint(keys[begin:end]))
        many += int(alike[row + begin].sum())
        if many > _MOST:
            return None
        key.append(row + begin)
        fits.append(item)
    persons = schema.persons(source.frame)
    mine, theirs = (_values(frame, source) for frame in (source.frame, opened.frame))
    own = mine.with_columns(key=which, person=persons, row=np.arange(rows))
    joined = pl.DataFrame({"key": np.concatenate(key), "class": np.concatenate(fits)}).join(
        own, on="key"
    )
    released = theirs.with_columns(pl.Series("class", classes.labels), place=np.arange(rows))
    least = _fewest(joined, released, classes.sizes)
    exact = _ordered(joined, released) if joined.height == rows else None
    return MatchedPeople(
        None if exact is None else persons.gather(exact), least, persons.n_unique()
    )


def _values(frame: pl.DataFrame, source: Original) -> pl.DataFrame:
    """Return what every row says of the sensitive columns, as one text."""
    columns = [source.schema[name] for name in source.schema.sensitive]
    texts = [as_text(missing_to_null(frame[c.name], c.missing)).fill_null("") for c in columns]
    told = pl.DataFrame({str(place): text for place, text in enumerate(texts)})
    if not texts:
        return pl.DataFrame({"value": [""] * frame.height})
    return told.select(value=pl.concat_str(pl.all(), separator="\x00"))


def _fewest(joined: pl.DataFrame, released: pl.DataFrame, sizes: Ints) -> Ints:
    """Fill every class with the people who can have most of its rows, and count them."""
    room = released.group_by("class", "value").len("room")
    each = joined.group_by("class", "value", "person").len("rows").join(room, on=["class", "value"])
    taken = (
        each.group_by("class", "person")
        .agg(pl.min_horizontal("rows", "room").sum().alias("rows"))
        .sort("class", "rows", descending=[False, True])
        .with_columns(before=pl.col("rows").cum_sum().over("class") - pl.col("rows"))
    )
    needed = taken.filter(pl.Series(taken["before"].to_numpy() < sizes[taken["class"].to_numpy()]))
    least = np.zeros(sizes.size, np.int64)
    counts = needed.group_by("class").len("people")
    least[counts["class"].to_numpy()] = counts["people"].to_numpy()
    return least


def _ordered(joined: pl.DataFrame, released: pl.DataFrame) -> Ints | None:
    """Return a row of the original for every released row with the same class and values."""
    before, after = (frame.sort("class", "value") for frame in (joined, released))
    if joined["row"].n_unique() < joined.height:
        return None
    if not before.select("class", "value").equals(after.select("class", "value")):
        return None
    rows = np.empty(after.height, np.int64)
    rows[after["place"].to_numpy()] = before["row"].to_numpy()
    return rows
