"""Make one release of an m-invariant series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import Infeasible, ParameterError, SchemaError, format_names
from shoal.base.partition import Ints, Partition
from shoal.catalog import Method
from shoal.coding.encode import Encoded
from shoal.groupers.m_invariant_groups import (
    EarlierClasses,
    Grouping,
    MInvariantGroups,
    group_m_invariant,
)
from shoal.privacy import KAnonymity, MInvariance, Rule
from shoal.releases.counterfeits import COUNTERFEITS, class_names
from shoal.releases.history.check import invariance_faults
from shoal.releases.history.store import CLASSES, RECORDS, History, Pending, digest
from shoal.releases.opened import Opened
from shoal.releases.published import Published, read
from shoal.tables.cells import infer_type
from shoal.tables.original import Original
from shoal.tables.schema import Schema

_FALSE = "\x00counterfeit "


@dataclass(frozen=True, eq=False)
class MInvariantSeries:
    """A table that is released once more, under m-invariance.

    ``persons``: whose row each is, one row each. ``near``: signatures go to rows that lie close.
    ``crowd``: how many people every class must have, counterfeits not counted.
    """

    history: History
    rule: MInvariance
    schema: Schema
    persons: pl.Series
    near: bool = True
    crowd: int = 1

    @classmethod
    def create(
        cls,
        history: History,
        rules: Sequence[Rule],
        entry: Method,
        frame: pl.DataFrame,
        schema: Schema,
    ) -> MInvariantSeries:
        """Return it, or say why m-invariance cannot be kept."""
        rule = _only(rules, schema)
        persons = one_row_each(frame, schema)
        near = entry.name != "buckets"
        crowd = max((each.k for each in rules if isinstance(each, KAnonymity)), default=1)
        series = cls(history, rule, schema, persons, near, crowd)
        history.check_same(series.about)
        history.check_people(persons)
        return series

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """What the manifest tells of the series."""
        return self.history.manifest_entry

    @property
    def about(self) -> dict[str, Any]:
        """What must be the same in all releases of a series."""
        return {
            "rule": self.rule.name,
            "m": self.rule.m,
            "sensitive column": self.rule.column,
            "column of the persons": self.schema.person,
        }

    def group(
        self, data: Encoded, grouping: Grouping, rng: np.random.Generator
    ) -> MInvariantGroups:
        """Group the rows, each among the values that it was among before."""
        made: dict[str, Any] = {"near": self.near, "crowd": self.crowd}
        return group_m_invariant(data, self.rule, self.before(data), grouping, rng, **made)

    def before(self, data: Encoded) -> EarlierClasses:
        """Return what the history says of the rows of the table."""
        names = data.sensitive_names[self.rule.column]
        rows = self._valued(data).join(
            self._own, on=["person", "value"], how="left", nulls_equal=True, maintain_order="left"
        )
        known = rows["signature"]
        different = known.drop_nulls().unique(maintain_order=True).to_list()
        more = sorted(
            {text for texts in different for text in texts if text is not None} - {*names}
        )
        every = (*names, *more)
        number = {text: place for place, text in enumerate(every)} | {None: len(every)}
        coded = [tuple(sorted(number[text] for text in texts)) for texts in different]
        order = pl.DataFrame(
            {"signature": different, "number": np.arange(len(different))},
            schema={"signature": RECORDS["signature"], "number": pl.Int64},
        )
        kept = rows.join(order, on="signature", how="left", maintain_order="left")["number"]
        return EarlierClasses(every, len(every), kept.fill_null(-1).to_numpy(), tuple(coded))

    @property
    def _own(self) -> pl.DataFrame:
        records = self.history.records
        return records.filter(pl.col("column") == self.rule.column).drop("column")

    def _valued(self, data: Encoded) -> pl.DataFrame:
        """Return the person and the value of every row, as the history writes them."""
        codes = data.sensitive[self.rule.column]
        names = pl.Series([*data.sensitive_names[self.rule.column], None], dtype=pl.String)
        return pl.DataFrame({"person": self.persons, "value": names.gather(codes % len(names))})

    def publish(
        self, frame: pl.DataFrame, data: Encoded, made: MInvariantGroups, rng: np.random.Generator
    ) -> tuple[pl.DataFrame, Encoded, Partition]:
        """Return what is published: the table, its numbers and its groups, counterfeits among them.

        The sensitive cell of a counterfeit is that of a random row with its value, if one has it;
        so nothing but the history tells it from the others.
        """
        rows, partition = made.among(data)
        column, person = self.rule.column, str(self.schema.person)
        before, wanted = self.before(data), made.counterfeits[:, 1]
        cells, own = frame[column], data.sensitive[column].astype(np.int64)
        own = np.where(own < 0, before.gap, own)
        false = pl.repeat(None, wanted.size, dtype=cells.dtype, eager=True)
        for value in np.unique(wanted):
            like, at = np.flatnonzero(own == value), np.flatnonzero(wanted == value)
            if like.size:
                false = false.scatter(at, cells.gather(rng.choice(like, at.size)))
            elif value != before.gap:
                false = false.scatter(at, _as(before.names[value], cells).gather([0] * at.size))
        nobody = pl.Series([f"{_FALSE}{place}" for place in range(wanted.size)], dtype=pl.String)
        whole = frame[rows].with_columns(
            pl.concat([cells, false.alias(column)]),
            pl.concat([self.persons, nobody.alias(self.persons.name)]).alias(person),
        )
        return whole, data.take(rows), partition

    def side_tables(self, release: pl.DataFrame, order: Ints) -> dict[str, pl.DataFrame]:
        """Return what is published beside it: the counterfeits of every class that has any."""
        if COUNTERFEITS in release.columns:
            raise SchemaError(
                f"The release has a column {COUNTERFEITS!r}, which is what its second table "
                "calls the number of counterfeits. Rename the column."
            )
        published = read(release, self.schema.quasi)
        false = self._count_counterfeits(published, order)
        told = published.cells.with_columns(pl.Series(COUNTERFEITS, false))
        told = told.filter(pl.col(COUNTERFEITS) > 0).sort(published.columns, nulls_last=True)
        return {COUNTERFEITS: told}

    def counterfeit_counts(self, opened: Opened, order: Ints) -> Ints:
        """Return how many counterfeits every class of a release has."""
        return self._count_counterfeits(opened.published, order)

    def _count_counterfeits(self, published: Published, order: Ints) -> Ints:
        ours = published.labels[order >= len(self.persons)]
        return np.bincount(ours, minlength=published.sizes.size).astype(np.int64)

    def pending(
        self, data: Encoded, made: MInvariantGroups, opened: Opened, order: Ints
    ) -> Pending:
        """Return what the history becomes."""
        valued = self._valued(data)
        names = [*self.before(data).names, None]
        texts = [sorted((names[v] for v in s), key=_last) for s in made.signatures]
        signed = pl.Series(texts, dtype=RECORDS["signature"]).gather(made.bucket)
        fresh = valued.with_columns(
            pl.lit(self.rule.column).alias("column"), signed.alias("signature")
        )
        kept = self.history.records
        records = pl.concat([kept, fresh.select(*RECORDS)]).unique(
            ["column", "person", "value"], keep="first", maintain_order=True
        )
        published = opened.published
        real = order < len(self.persons)
        places = class_names(published).gather(published.labels)
        classes = valued[order[real]].with_columns(places.filter(pl.Series(real)).alias("class"))
        # In an order of their own: the history, too, keeps no trace of the order of the input.
        release = {
            "digest": digest(opened.frame),
            "rows": opened.frame.height,
            "counterfeits": int((~real).sum()),
            "k": self.crowd,
        }
        records = records.sort("column", "person", "value", nulls_last=True)
        classes = classes.select(*CLASSES).sort("person")
        return Pending(self.history, self.about, release, records, classes)

    def record(
        self, data: Encoded, made: MInvariantGroups, opened: Opened, source: Original
    ) -> tuple[Pending | None, list[str]]:
        """Return what the history becomes with a release, and what is wrong with the two."""
        assert source.order is not None
        pending = self.pending(data, made, opened, source.order)
        return pending, self.faults(opened, pending, source)

    def faults(self, opened: Opened, pending: Pending, source: Original) -> list[str]:
        """Say what keeps the release from being m-invariant in its series."""
        broken = invariance_faults(
            opened, self.rule.column, self.rule.m, pending.records, pending.classes,
            self.history.records, self.crowd,
        )  # fmt: skip
        whose = source.persons
        assert whose is not None
        published = opened.published
        true = pl.DataFrame(
            {"person": whose, "class": class_names(published).gather(published.labels)}
        ).filter(~pl.col("person").str.starts_with(_FALSE))
        if not true.sort("person").equals(pending.classes.select("person", "class")):
            broken.append("The history puts people into other classes than the release.")
        return broken


def one_row_each(frame: pl.DataFrame, schema: Schema) -> pl.Series:
    """Return whose row each is; a person with several rows is refused."""
    persons = schema.persons(frame)
    if twice := int(persons.is_duplicated().sum()):
        many = persons.filter(persons.is_duplicated()).n_unique()
        raise SchemaError(
            f"{twice:,} rows are of {many:,} people who have several, and a series of releases "
            f"needs one row per person ({schema.person!r}) in each. Keep one row of each (the "
            "last one), or put what the others say into columns of their own."
        )
    return persons


def _only(rules: Sequence[Rule], schema: Schema) -> MInvariance:
    """Return the rule, or say which columns do not go with it."""
    rule = next((rule for rule in rules if isinstance(rule, MInvariance)), None)
    if rule is None:
        raise ParameterError("A history ties releases together by m-invariance. Ask for it: --m 2.")
    if others := [*schema.keep, *(name for name in schema.sensitive if name != rule.column)]:
        raise SchemaError(
            f"m-invariance protects the column {rule.column!r}, and {format_names(others)} "
            "would be published unchanged. It would show which rows of a class belong together "
            "over the releases, and which are counterfeits. Leave it out, or make it a "
            "quasi-identifier."
        )
    return rule


def _as(text: str, like: pl.Series) -> pl.Series:
    """Return a value that no row has any more, in the type of its column."""
    written = pl.Series([text], dtype=pl.String)
    try:
        # A text is no date nor a truth until it is read as one.
        own = like.dtype.is_temporal() or like.dtype == pl.Boolean
        return (infer_type(written) if own else written).cast(like.dtype)
    except pl.exceptions.PolarsError:
        raise Infeasible(
            f"A class needs a counterfeit with a value that the column {like.name!r} had in an "
            f"earlier release, and its type is {like.dtype} now, which has no such value. Read the "
            "column as it was read then, as text for instance."
        ) from None


def _last(text: str | None) -> tuple[bool, str]:
    return (text is None, text or "")
