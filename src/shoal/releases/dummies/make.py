"""Hide each sensitive value in a set of l values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.base.errors import ParameterError
from shoal.base.partition import Bools, Codes, Ints
from shoal.base.random_words import random_below, random_words
from shoal.base.roles import Role
from shoal.catalog import DOMAIN
from shoal.coding.encode import Encoded
from shoal.privacy import Rule, flatten
from shoal.releases.base import MadeTables
from shoal.tables.cells import sorted_values
from shoal.tables.schema import Schema
from shoal.tables.set_cells import SETS


@dataclass(frozen=True, eq=False)
class Sets:
    """Per sensitive column the codes of each row's set, ``[n, l]`` ascending, and empty rows.

    ``kept`` says which rows have a set; the others are published as missing. ``notes``: figures.
    """

    codes: Mapping[str, Codes]
    kept: Mapping[str, Bools]
    notes: Mapping[str, int] = field(default_factory=dict)


def draw(
    data: Encoded, rule: Rule, rng: np.random.Generator | None, *, missing: str = "hide"
) -> Sets:
    """Draw l - 1 other values for every sensitive value.

    Parameters
    ----------
    data
        The encoded table.
    rule
        Distinct l-diversity of every sensitive column, each with its own l.
    rng
        None: the operating system's secure source. Whoever knows a seed knows the dummies.
    missing
        ``hide``: a missing value is published as a set of l values drawn at random, so that nobody
        can tell that it is missing. ``keep``: it is published as missing.

    Notes
    -----
    Sei, Takenouchi, Ohsuga 2015. Others are drawn uniformly without replacement from the other
    values of the column's domain (Floyd's way), which is what the table has unless a domain was
    declared, and the set is sorted, so its order says nothing. Rows of one person with the same
    value share one set: what is in every one of several sets would be the value.
    """
    lengths = _lengths(data, rule)
    codes, kept = {}, {}
    for name, l in lengths.items():  # noqa: E741
        own = data.sensitive[name]
        size = len(_domain(data, name))
        known = own >= 0
        random = random_below(size, random_words(rng, data.rows))
        truth = np.where(known, own, random).astype(np.int64)
        others = _others(size - 1, l - 1, data.rows, rng)
        others += others >= truth  # the true value is not among the others
        drawn = np.sort(np.vstack((truth, others)).T.astype(np.int32), axis=1)
        codes[name] = drawn if data.people is None else drawn[_first_of(data.people.codes, own)]
        kept[name] = known | (missing == "hide")
    return Sets(codes, kept)


def _first_of(persons: Codes, own: Codes) -> Ints:
    """Return for every row the first row of the same person with the same value."""
    keys = persons.astype(np.int64) * (int(own.max(initial=0)) + 2) + own + 1
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows: Ints = first[which.reshape(-1)].astype(np.int64)
    return rows


def _domain(data: Encoded, name: str) -> tuple[str, ...]:
    """Return the domain of a sensitive column; codes stand for the values that come first."""
    return (*data.sensitive_names[name], *data.unseen.get(name, ()))


def _others(size: int, count: int, rows: int, rng: np.random.Generator | None) -> Ints:
    """Draw ``count`` different numbers below ``size`` for every row, ``[count, rows]``.

    Each subset is as likely: a number drawn before makes room for the last one allowed.
    """
    chosen = np.empty((count, rows), np.int64)
    for place in range(count):
        last = size - count + place
        drawn = random_below(last + 1, random_words(rng, rows))
        again = np.zeros(rows, np.bool_)
        for before in chosen[:place]:
            again |= before == drawn
        chosen[place] = np.where(again, last, drawn)
    return chosen


def _lengths(data: Encoded, rule: Rule) -> dict[str, int]:
    """Return the l of every sensitive column, or refuse to publish one without."""
    lengths: dict[str, int] = {}
    for each in flatten([rule]):
        assert each.column is not None and each.diversity is not None  # what the catalog lets in
        lengths[each.column] = max(each.diversity, lengths.get(each.column, 0))
    if bare := [name for name in data.sensitive if name not in lengths]:
        raise ParameterError(
            f"The method 'dummies' needs an l for every sensitive column; {', '.join(bare)} has "
            "none and would be published as it is. Add a rule l-diversity for it (or for all "
            "sensitive columns), or give it another role."
        )
    return lengths


def publish(
    frame: pl.DataFrame,
    schema: Schema,
    data: Encoded,
    sets: Sets,
    *,
    typed: bool = False,
    mid: bool = False,
    order: Ints | None = None,
) -> MadeTables:
    """Publish quasi-identifiers and others as they are, sensitive columns as lists of texts."""
    rows = np.arange(data.rows) if order is None else np.asarray(order, np.int64)
    columns = []
    for name in frame.columns:
        if name not in schema or not schema[name].role.published:
            continue
        if schema[name].role is Role.SENSITIVE:
            columns.append(_listed(name, _domain(data, name), sets, rows))
        else:
            columns.append(frame[name].gather(rows))
    tables = {"release": pl.DataFrame(columns)}
    domains = [
        pl.DataFrame({"column": column.name, "value": sorted_values(pl.Series(column.domain))})
        for column in schema.columns
        if column.domain
    ]
    return MadeTables(tables | ({DOMAIN: pl.concat(domains)} if domains else {}), rows)


def _listed(name: str, values: tuple[str, ...], sets: Sets, rows: Ints) -> pl.Series:
    own = pl.Series(values, dtype=pl.String)
    # In the order that a reader gives texts: an enumeration has one that he cannot see.
    ordered = sorted_values(own)
    places = pl.Series(np.arange(len(ordered), dtype=np.int64))
    ranks = own.replace_strict(ordered, places, return_dtype=pl.Int64).to_numpy()
    codes = np.sort(ranks[sets.codes[name][rows]], axis=1)
    texts = ordered.gather(codes.ravel())
    listed = texts.reshape((-1, codes.shape[1])).arr.to_list().cast(SETS).alias(name)
    empty = np.flatnonzero(~sets.kept[name][rows])
    return listed if not empty.size else _blank(listed, empty)


def _blank(listed: pl.Series, empty: Ints) -> pl.Series:
    gone = np.zeros(len(listed), np.bool_)
    gone[empty] = True
    frame = pl.DataFrame({"cell": listed, "gone": gone})
    return frame.select(pl.when(~pl.col("gone")).then("cell")).to_series().alias(listed.name)
