"""Encode a table as integers: positions of quasi-identifiers, codes of sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names, warn
from shoal.base.partition import (
    MISSING,
    Bools,
    Codes,
    Floats,
    GroupStats,
    Ints,
    Partition,
    histogram,
)
from shoal.base.people import People
from shoal.base.roles import Kind
from shoal.base.threads import share
from shoal.tables.cells import as_text, holds_numbers, infer_type, merge_values, sorted_values
from shoal.tables.domain import Domain, Nominal, Ordered, Taxonomy, flat
from shoal.tables.grid import interval_ends, step_of, usual_range
from shoal.tables.hierarchy import uncovered
from shoal.tables.schema import Column, Schema


@dataclass(frozen=True, eq=False)
class Encoded:
    """The table as the algorithms see it. Arrays are read-only; a row's number is its identity.

    Parameters
    ----------
    names
        Names of the quasi-identifiers, in the order of the table.
    codes
        ``[n, m]`` positions; the position of missing is the domain's size.
    domains
        One domain per quasi-identifier.
    sensitive
        Per sensitive column its codes, -1 for missing.
    sensitive_names
        Per sensitive column what each code means.
    unseen
        Per sensitive column that declares its domain the values of it that no row has.
    importance
        Per quasi-identifier how much its loss counts while rows are grouped; empty: all alike.
    people
        Whose rows they are; None: every row is a person.
    """

    names: tuple[str, ...]
    codes: Codes
    domains: tuple[Domain, ...]
    sensitive: dict[str, Codes]
    sensitive_names: dict[str, tuple[str, ...]]
    importance: tuple[float, ...] = ()
    unseen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    people: People | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    @property
    def weights(self) -> Floats:
        """How much each quasi-identifier counts."""
        return np.array(self.importance or [1.0] * len(self.domains))

    @property
    def missing(self) -> Bools:
        """Which cells are missing, ``[n, m]``."""
        sizes = np.array([domain.size for domain in self.domains], np.int32)
        gaps: Bools = self.codes == sizes
        return gaps

    def codes_read(self, reading: str) -> Codes:
        """Return the codes of a sensitive column as a rule reads it.

        Where it counts the missing value, that has the number after the last one.
        """
        column = reading.removesuffix(MISSING)
        codes = self.sensitive[column]
        if column == reading:
            return codes
        return np.where(codes < 0, np.int32(len(self.sensitive_names[column])), codes)

    def names_read(self, reading: str) -> tuple[str, ...]:
        """Return what these codes mean."""
        column = reading.removesuffix(MISSING)
        names = self.sensitive_names[column]
        return names if column == reading else (*names, MISSING)

    def stats(self, partition: Partition) -> GroupStats:
        """Return what the rules look at, for the groups of ``partition``."""
        return self.judged(self.tally(partition))

    def judged(self, tally: GroupStats) -> GroupStats:
        """Return what the rules look at, from what :meth:`tally` gave or unions of it."""
        return tally if self.people is None else self.people.counted(tally, self.sensitive_names)

    def tally(self, partition: Partition) -> GroupStats:
        """Return what can be added up when groups are joined."""
        labels = partition.labels()
        if self.people is not None:
            return self.people.tally(labels, partition.groups, partition.sizes)
        return GroupStats(
            partition.sizes,
            {
                name: histogram(labels, codes, partition.groups, self.sensitive_names[name])
                for name, codes in self.sensitive.items()
            },
        )

    def take(self, rows: Ints) -> Encoded:
        """Return the table of some of the rows, over the same domains."""
        codes = np.ascontiguousarray(self.codes[rows])
        codes.setflags(write=False)  # as all codes: kernels are compiled for one kind of array
        return replace(
            self,
            codes=codes,
            sensitive={name: codes[rows] for name, codes in self.sensitive.items()},
            people=None if self.people is None else self.people.take(rows),
        )

    def whole(self, *, domains: bool = False) -> GroupStats:
        """Count the table as one group; ``domains``: with every value once that no row has."""
        stats = self.stats(Partition.one(self.rows))
        for name, more in self.unseen.items() if domains else ():
            hist = stats.histograms[name]
            runs, ones = len(hist.names) + np.arange(len(more)), np.ones(len(more), np.int64)
            stats.histograms[name] = replace(
                hist,
                starts=hist.starts + np.array([0, len(more)]),
                values=np.concatenate((hist.values, runs)),
                counts=np.concatenate((hist.counts, ones)),
                whole=np.concatenate((hist.whole[: len(hist.names)], ones)) if more else hist.whole,
                names=(*hist.names, *more),
            )
        return stats


def encode(
    frame: pl.DataFrame,
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    *,
    flat_sets: bool = False,
) -> Encoded:
    """Turn a table into positions and codes, or say all that does not fit, at once.

    Parameters
    ----------
    frame
        The table; null, NaN and empty cells are missing.
    schema
        Which columns are quasi-identifiers, of which kind, and which are sensitive.
    taxonomies
        The hierarchies of the columns of kind ``taxonomy``. Values are matched by their text.
    flat_sets
        Give each column of kind ``set`` the taxonomy that has every value right under ``*``, for
        methods that know taxonomies only.

    Raises
    ------
    SchemaError
        With every fault found: unknown columns, values without a leaf, texts without an order.
    """
    taxonomies = taxonomies or {}
    declared = [c for c in schema.columns if c.name in (*schema.quasi, *schema.sensitive)]
    present = [column for column in declared if column.name in frame]
    frame = frame.with_columns(share(lambda c: c.clean(frame[c.name]), present))
    names = tuple(name for name in frame.columns if name in schema.quasi)
    domains, codes = _positions_of(frame, schema, names, taxonomies, flat_sets)
    codes.setflags(write=False)
    hidden = encode_hidden(frame, schema)
    importance = tuple(schema[name].importance for name in names)
    return replace(hidden, names=names, codes=codes, domains=domains, importance=importance)


def encode_hidden(frame: pl.DataFrame, schema: Schema) -> Encoded:
    """Encode the sensitive columns and whose rows they are, and no quasi-identifier."""
    pairs = share(lambda name: _sensitive(sensitive_cells(schema[name], frame)), schema.sensitive)
    sensitive = {name: pair[0] for name, pair in zip(schema.sensitive, pairs, strict=True)}
    names = {name: pair[1] for name, pair in zip(schema.sensitive, pairs, strict=True)}
    people = None
    if schema.person is not None:
        texts = schema.persons(frame)
        codes = _positions(texts, texts.unique().sort())
        people = People.from_codes(codes, sensitive)
    lacking = {name: values_without_rows(schema[name], values) for name, values in names.items()}
    none = np.empty((frame.height, 0), np.int32)
    return Encoded((), none, (), sensitive, names, (), lacking, people)


def sensitive_cells(column: Column, frame: pl.DataFrame) -> pl.Series:
    """Return the cells of a sensitive column as the rules count them."""
    return merge_values(column.clean(frame[column.name]), column.same)


def values_without_rows(column: Column, values: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a declared domain that no row has; it must have those of all rows."""
    if not column.domain:
        return ()
    domain, occurring = set(column.domain), set(values)
    if lacking := [value for value in values if value not in domain]:
        raise SchemaError(
            f"The domain of column {column.name!r} lacks {len(lacking):,} of the {len(values):,} "
            f"values that the table has there: {format_names(lacking)}. Add them to the domain, "
            "or list "
            "them as missing."
        )
    return tuple(value for value in column.domain if value not in occurring)


def _positions_of(
    frame: pl.DataFrame,
    schema: Schema,
    names: tuple[str, ...],
    taxonomies: Mapping[str, Taxonomy],
    flat_sets: bool,
) -> tuple[tuple[Domain, ...], Codes]:
    """Return the domains of the quasi-identifiers and the positions of all cells, ``[n, m]``."""
    faults = schema.faults(frame, taxonomies)
    codes = np.empty((frame.height, len(schema.quasi)), np.int32)

    def one(place: int) -> Domain | SchemaError | None:
        column = schema[names[place]]
        if schema.column_faults(column, frame, taxonomies):
            return None
        try:
            domain, codes[:, place] = _quasi(
                frame[column.name], column, taxonomies.get(column.name), flat_sets
            )
        except SchemaError as fault:
            return fault
        return domain

    made = share(one, range(len(names)))
    for fault in made:
        if isinstance(fault, SchemaError):
            faults.extend(fault.faults)
    if faults:
        raise SchemaError(faults)
    return tuple(domain for domain in made if isinstance(domain, Domain)), codes


def _quasi(
    series: pl.Series, column: Column, taxonomy: Taxonomy | None, flat_sets: bool
) -> tuple[Domain, Codes]:
    """Return a quasi-identifier's domain and the position of every cell in it."""
    if series.null_count() == len(series):
        warn(
            f"Column {column.name!r} is entirely missing: it is released as '*' throughout. "
            "Leave it out of the quasi-identifiers if it is of no use.",
        )
    if column.kind is Kind.TAXONOMY:
        assert taxonomy is not None
        return taxonomy, _leaves(series, taxonomy, column.name)
    if column.kind is Kind.ORDERED:
        return _ordered(series, column)
    mixed = holds_numbers(series)
    if mixed:
        warn(
            f"Column {column.name!r} mixes numbers, for instance {mixed[0]!r}, with texts, for "
            f"instance {mixed[1]!r}: it is treated as names without an order. "
            "If a text means missing, list it as missing.",
        )
    texts = as_text(series)
    known = texts.drop_nulls().unique().sort()
    values = tuple(known.to_list())
    single = flat_sets or not column.sets
    domain = flat(values, column.name) if single else Nominal(values)
    return domain, _positions(texts, known)


def _positions(series: pl.Series, known: pl.Series, missing: int | None = None) -> Codes:
    """Return where each cell stands in ``known``; what is null goes to ``missing``."""
    places = pl.Series(np.arange(len(known), dtype=np.int32))
    if known.is_empty():
        positions = pl.repeat(None, len(series), dtype=pl.Int32, eager=True)
    else:
        positions = series.replace_strict(known, places, default=None, return_dtype=pl.Int32)
    filled: Codes = positions.fill_null(len(known) if missing is None else missing).to_numpy()
    return filled


def _leaves(series: pl.Series, taxonomy: Taxonomy, name: str) -> Codes:
    """Return the leaf of every cell, matched by text; every known value must have one.

    A cell that says the top itself ('*') can be any value: it is missing.
    """
    texts = as_text(series)
    texts = pl.select(pl.when(texts != taxonomy.labels[taxonomy.root]).then(texts)).to_series()
    leaves = pl.Series(taxonomy.values, dtype=pl.String)
    codes = _positions(texts, leaves)
    lost = pl.Series(codes == taxonomy.size) & texts.is_not_null()
    if lost.any() and series.dtype != pl.String:
        # Numbers and booleans have several spellings: '2.50' or 'True' in the file is 2.5 or true.
        spelled = as_text(infer_type(leaves)) if not series.dtype.is_numeric() else _numeric(leaves)
        if spelled.drop_nulls().is_unique().all():
            codes = np.minimum(codes, _positions(texts, spelled, taxonomy.size))
            lost = pl.Series(codes == taxonomy.size) & texts.is_not_null()
    if lost.any():
        counts = texts.filter(lost).value_counts(name="count")
        fault = uncovered(taxonomy, dict(counts.iter_rows()), name)
        raise SchemaError(fault or f"Column {name!r} does not fit its hierarchy.")
    return codes


def _numeric(leaves: pl.Series) -> pl.Series:
    return as_text(leaves.str.strip_chars().cast(pl.Float64, strict=False))


def _ordered(series: pl.Series, column: Column) -> tuple[Ordered, Codes]:
    """Return an ordered column's distinct values, ascending, and every cell's place among them."""
    if column.order:
        return _ranked(as_text(series), column)
    known = series.drop_nulls().unique().sort()
    if isinstance(known.dtype, pl.Enum):
        points = known.to_physical().cast(pl.Float64).to_numpy()
        return Ordered(known, points), _positions(series, known)
    numbers = known.to_physical() if known.dtype.is_temporal() else known
    points = numbers.cast(pl.Float64).to_numpy()
    if not np.isfinite(points).all():
        raise SchemaError(
            f"Column {column.name!r} holds an infinite number, which has no place in an interval. "
            "Replace it, or list it as missing."
        )
    step = step_of(known, column.grid, column.name)
    usual = usual_range(points)
    whole = not points.size or usual == (points[0], points[-1])
    both = interval_ends(known, step) if step else None
    return Ordered(known, points, both, usual=None if whole else usual), _positions(series, known)


def _ranked(texts: pl.Series, column: Column) -> tuple[Ordered, Codes]:
    """Order texts by the list that the schema gives."""
    order = pl.Series(list(dict.fromkeys(column.order)), dtype=pl.String)
    strange = texts.filter(~texts.is_in(order.to_list())).drop_nulls()
    if len(strange):
        raise SchemaError(
            f"Column {column.name!r} holds values that its order does not list: "
            f"{format_names(strange.unique().sort())} in {len(strange):,} rows. "
            "Add them to the order, or list them as missing."
        )
    ranks = np.flatnonzero(order.is_in(texts.drop_nulls().unique().to_list()).to_numpy())
    known = order.gather(ranks)
    return Ordered(known, ranks.astype(np.float64)), _positions(texts, known)


def _sensitive(series: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """Return a code per cell, -1 for missing, and the text of each code, in the values' order."""
    known = sorted_values(series)
    codes = _positions(series, known, -1)
    codes.setflags(write=False)
    return codes, tuple(as_text(known).to_list())
