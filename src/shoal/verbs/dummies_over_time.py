"""Dummy values released once more: a person keeps the set of values while the value is the same.

Fresh dummies would give the value away by intersection. So the history holds the set of every
record, a person with a value, and who is released again with that value gets the set from before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import SchemaError, format_names
from shoal.base.partition import Ints
from shoal.coding.encode import Encoded
from shoal.groupers.m_invariant_groups import Grouping
from shoal.privacy import All, Rule, flatten
from shoal.releases.counterfeits import class_names
from shoal.releases.dummies.make import Sets
from shoal.releases.history.check import SETS_KEPT, set_faults
from shoal.releases.history.store import CLASSES, RECORDS, History, Pending, digest
from shoal.releases.opened import Opened
from shoal.tables.original import Original
from shoal.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class DummySeries:
    """A table that is released once more with dummy values.

    ``persons``: whose row each is; a person may have several.
    """

    history: History
    rules: tuple[Rule, ...]
    schema: Schema
    persons: pl.Series

    @classmethod
    def create(
        cls, history: History, rules: Sequence[Rule], frame: pl.DataFrame, schema: Schema
    ) -> DummySeries:
        """Return it, or say why sets cannot be kept."""
        made = cls(history, tuple(flatten(rules)), schema, schema.persons(frame))
        history.check_same(made.about)
        history.check_people(made.persons)
        return made

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """What the manifest tells of the series."""
        return self.history.manifest_entry

    @property
    def about(self) -> dict[str, Any]:
        """What must be the same in all releases of a series."""
        lengths: dict[str, int] = {}
        for rule in self.rules:
            column = str(rule.column)
            lengths[column] = max(rule.diversity or 0, lengths.get(column, 0))
        return {
            "rule": SETS_KEPT,
            "l": [f"{lengths[name]} of {name}" for name in sorted(lengths)],
            "sensitive column": sorted(lengths),
            "column of the persons": self.schema.person,
        }

    def group(self, data: Encoded, grouping: Grouping, _rng: Any) -> Sets:
        """Draw sets for new records; those of the history have theirs."""
        data = self._widened(data)
        rule = self.rules[0] if len(self.rules) == 1 else All(self.rules)
        drawn: Any = grouping(data, rule)
        codes = {name: self._kept(data, name, own) for name, own in drawn.codes.items()}
        return Sets(codes, drawn.kept)

    def _widened(self, data: Encoded) -> Encoded:
        """Return the table with the values that sets of the history hold, and no row has now."""
        records, unseen = self.history.records, dict(data.unseen)
        for name, values in data.sensitive_names.items():
            known = records.filter(pl.col("column") == name)["signature"].list.explode()
            here = {*values, *unseen.get(name, ())}
            more = [text for text in known.unique().drop_nulls().sort() if text not in here]
            if more and self.schema[name].domain:
                raise SchemaError(
                    f"The domain of column {name!r} lacks {len(more):,} values that sets of "
                    f"earlier releases hold: {format_names(more)}. A set stays as it is while "
                    "the value "
                    "does: add them to the domain."
                )
            unseen[name] = (*unseen.get(name, ()), *more)
        return replace(data, unseen=unseen)

    def _kept(self, data: Encoded, name: str, drawn: Any) -> Any:
        """Put the sets of the history in the place of fresh ones."""
        known = self._known(data, name)["signature"]
        at = np.flatnonzero(known.is_not_null().to_numpy())
        if not at.size:
            return drawn
        domain = pl.Series([*data.sensitive_names[name], *data.unseen[name]], dtype=pl.String)
        places = pl.Series(np.arange(len(domain), dtype=np.int32))
        flat = known.gather(at).list.explode().replace_strict(domain, places)
        kept = drawn.copy()
        kept[at] = np.sort(flat.to_numpy().reshape(at.size, -1), axis=1)
        return kept

    def _known(self, data: Encoded, name: str) -> pl.DataFrame:
        """Return the record of every row, and its set if it has one."""
        own = self.history.records.filter(pl.col("column") == name).drop("column")
        return self._valued(data, name).join(
            own, on=["person", "value"], how="left", nulls_equal=True, maintain_order="left"
        )

    def _valued(self, data: Encoded, name: str) -> pl.DataFrame:
        codes = data.sensitive[name]
        names = pl.Series([*data.sensitive_names[name], None], dtype=pl.String)
        return pl.DataFrame({"person": self.persons, "value": names.gather(codes % len(names))})

    def publish(
        self, frame: pl.DataFrame, data: Encoded, made: Sets, _rng: Any
    ) -> tuple[pl.DataFrame, Encoded, Sets]:
        """Return what is published of the table: its rows, with sets over all values so far."""
        notes = {
            "sets kept": sum(
                int(self._known(data, name)["signature"].is_not_null().sum()) for name in made.codes
            )
        }
        return frame, self._widened(data), replace(made, notes=notes)

    def side_tables(self, _release: pl.DataFrame, _order: Ints) -> dict[str, pl.DataFrame]:
        """Return what is published beside it: nothing."""
        return {}

    def counterfeit_counts(self, opened: Opened, _order: Ints) -> Ints:
        """Return how many counterfeits every class has: none."""
        return np.zeros(opened.published.sizes.size, np.int64)

    def record(
        self, data: Encoded, made: Sets, opened: Opened, source: Original
    ) -> tuple[Pending | None, list[str]]:
        """Return what the history becomes with the release, and what is wrong with the two."""
        assert source.order is not None
        data = self._widened(data)
        published = opened.published
        class_of = class_names(published).gather(published.labels)
        records, classes = [self.history.records], []
        for name, codes in made.codes.items():
            texts = pl.Series([*data.sensitive_names[name], *data.unseen[name]], dtype=pl.String)
            sets = texts.gather(codes.ravel()).reshape((-1, codes.shape[1])).arr.to_list()
            valued = self._valued(data, name).with_columns(pl.lit(name).alias("column"))
            signed = valued.with_columns(sets.list.sort().alias("signature"))
            records.append(signed.filter(pl.Series(made.kept[name])).select(*RECORDS))
            there = valued[source.order].with_columns(class_of.alias("class"))
            classes.append(there.select("column", *CLASSES))
        whole = pl.concat(records).unique(
            ["column", "person", "value"], keep="first", maintain_order=True
        )
        order = ["column", "person", "value"]
        release = {"digest": digest(opened.frame), "rows": opened.frame.height, "counterfeits": 0}
        pending = Pending(
            self.history,
            self.about,
            release,
            whole.sort(order, nulls_last=True),
            # In an order of their own: the history keeps no trace of the order of the input.
            pl.concat(classes).sort([*order, "class"], nulls_last=True),
        )
        before = self.history.records
        return pending, set_faults(opened, pending.records, pending.classes, before)
