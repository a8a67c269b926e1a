"""The classes of a published table: rows that nobody can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names, suggest_nearest
from shoal.base.partition import Histogram, Ints
from shoal.releases.ends import ENDS, ends_of
from shoal.tables.cells import as_text, missing_to_null

# No published column can be called so: a name with this in front is ours.
_ROW = "\x00row"


@dataclass(frozen=True, eq=False)
class Published:
    """A published table and its classes: rows equal in every quasi-identifier.

    Parameters
    ----------
    frame
        The published table.
    columns
        Its columns that hold quasi-identifiers, the ends of a typed one each on its own.
    labels
        The class of every row.
    cells
        The cells of every class, in ``columns``.
    sizes
        The number of rows of every class.
    people
        The number of different people of every class, where that is known.
    """

    frame: pl.DataFrame
    columns: tuple[str, ...]
    labels: Ints
    cells: pl.DataFrame
    sizes: Ints
    people: Ints | None = None

    @property
    def crowds(self) -> Ints:
        """In how many a person hides in every class: different people, else rows."""
        return self.sizes if self.people is None else self.people

    def different(self, persons: pl.Series, among: pl.Series | None = None) -> Ints:
        """Count the different people of every class, or of those rows of it that ``among`` says."""
        whose = pl.DataFrame({"group": self.labels, "person": persons})
        if among is not None:
            whose = whose.filter(among)
        many = np.zeros(self.sizes.size, np.int64)
        counted = whose.group_by("group").agg(pl.col("person").n_unique())
        many[counted["group"].to_numpy()] = counted["person"].to_numpy()
        return many


def count_values(
    owner: Ints, codes: Ints, groups: int, names: pl.Series, weights: Ints | None = None
) -> Histogram:
    """Count the values of a sensitive column in every class; a code of -1 is a missing value.

    ``owner``: the class of every value. ``weights``: how often each stands there; once by default.
    """
    span = max(len(names), 1)
    known = codes >= 0
    keys = owner[known] * span + codes[known]
    many = np.ones(codes.size, np.int64) if weights is None else weights
    if weights is None:
        cells, counts = np.unique(keys, return_counts=True)
    else:
        cells, which = np.unique(keys, return_inverse=True)
        counts = np.zeros(cells.size, np.int64)
        np.add.at(counts, which.reshape(-1), many[known])
    whole, gaps = np.zeros(span, np.int64), np.zeros(groups, np.int64)
    np.add.at(whole, codes[known], many[known])
    np.add.at(gaps, owner[~known], many[~known])
    starts = np.searchsorted(cells, np.arange(groups + 1) * span).astype(np.int64)
    texts = tuple(as_text(names).to_list())
    return Histogram(
        starts, cells % span, counts, whole, texts, gaps=gaps, whole_gaps=int(gaps.sum())
    )


def occurrences(
    before: pl.DataFrame, after: pl.DataFrame, names: Sequence[str]
) -> tuple[Ints, Ints]:
    """Return how often every combination of some columns occurs in two tables."""
    # By number: polars would take a column called * or ^a$ for a pattern.
    places = [str(place) for place in range(len(names))]
    first, second = (
        pl.DataFrame(
            [
                as_text(missing_to_null(frame[n])).alias(at)
                for at, n in zip(places, names, strict=True)
            ]
        )
        .group_by(places)
        .agg(pl.len().cast(pl.Int64).alias(_ROW))
        for frame in (before, after)
    )
    both = first.join(second, on=places, how="full", nulls_equal=True)
    now, then = (both[name].fill_null(0).to_numpy() for name in (_ROW, f"{_ROW}_right"))
    return now, then


def read(frame: pl.DataFrame, quasi: Sequence[str]) -> Published:
    """Find the classes of a published table. Null is a value like any other, never dropped."""
    columns = published_columns(frame, quasi)
    # By number: polars would take a column called * or ^a$ for a pattern.
    numbers = [str(place) for place in range(len(columns))]
    seen = pl.DataFrame([_seen(frame[name]) for name in columns])
    seen.columns = numbers
    grouped = seen.with_row_index(_ROW).group_by(numbers, maintain_order=True).agg(_ROW)
    lists = grouped[_ROW]
    sizes = lists.list.len().to_numpy().astype(np.int64)
    members = lists.list.explode().to_numpy() if sizes.size else np.empty(0, np.int64)
    labels = np.empty(frame.height, np.int64)
    labels[members] = np.repeat(np.arange(sizes.size), sizes)
    cells = pl.DataFrame([frame[name] for name in columns])
    return Published(frame, columns, labels, cells[lists.list.first()], sizes)


def published_columns(frame: pl.DataFrame, quasi: Sequence[str]) -> tuple[str, ...]:
    """Return the published columns that hold the quasi-identifiers, typed pairs included."""
    if not quasi:
        raise SchemaError(
            "Checking a release needs at least one quasi-identifier, got none: name the columns by "
            f"which a person could be recognised. The release has: {format_names(frame.columns)}."
        )
    held: list[str] = []
    faults: list[str] = []
    for name in quasi:
        pair = [name + end for end in ENDS]
        whole, ends = name in frame.columns, ends_of(frame, name)
        # A reader of a column and of its ends can use both.
        held += [*([name] if whole else []), *ends]
        if not whole and not ends:
            faults.append(
                f"The release has no quasi-identifier {name!r}, nor the pair {pair[0]!r} and "
                f"{pair[1]!r}.{suggest_nearest(name, frame.columns)} It has: "
                f"{format_names(frame.columns)}."
            )
    if faults:
        raise SchemaError(list(dict.fromkeys(faults)))
    return tuple(dict.fromkeys(held))


def _seen(column: pl.Series) -> pl.Series:
    """Return a column as the reader can tell its cells apart.

    Polars takes -0.0 and 0.0 for equal; in a published file they are not, so floats are compared by
    their bits.
    """
    if not column.dtype.is_float():
        return column
    bits = column.cast(pl.Float64).fill_null(0.0).to_numpy().view(np.uint64)
    return pl.Series(column.name, bits).set(column.is_null(), None)
