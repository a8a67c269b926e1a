"""From what a method made to a release of its shape, and its verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import polars as pl

from shoal.base.partition import Ints
from shoal.catalog import Method
from shoal.coding.encode import Encoded
from shoal.measures.losses import Grouped, Loss, measured
from shoal.privacy import Rule
from shoal.releases.anatomy import make as anatomized
from shoal.releases.anatomy.make import Anatomized
from shoal.releases.check_bytes import foreign
from shoal.releases.check_exact import Source, verify_sets, verify_tables
from shoal.releases.dummies import make as dummies
from shoal.releases.dummies.make import Dummies
from shoal.releases.fresh import fresh
from shoal.releases.generalized.check import Verdict, verify
from shoal.releases.generalized.make import Generalized, generalize
from shoal.tables.domain import Taxonomy
from shoal.tables.schema import Schema

Shape = Generalized | Dummies | Anatomized


def publish(
    entry: Method,
    frame: pl.DataFrame,
    schema: Schema,
    data: Encoded,
    made: Any,
    *,
    typed: bool,
    order: Ints | None,
) -> tuple[Shape, Loss]:
    """Return the release, in memory of its own, and what it costs on the quasi-identifiers.

    ``made`` is what the method returned: a partition, or sets.
    """
    release, loss = _shaped(entry, frame, schema, data, made, typed=typed, order=order)
    own: dict[str, Any] = {
        field.name: fresh(table)
        for field in fields(release)
        if isinstance(table := getattr(release, field.name), pl.DataFrame)
    }
    return replace(release, **own), loss


def _shaped(
    entry: Method,
    frame: pl.DataFrame,
    schema: Schema,
    data: Encoded,
    made: Any,
    *,
    typed: bool,
    order: Ints | None,
) -> tuple[Shape, Loss]:
    if entry.release == "generalized":
        release = generalize(frame, schema, data, made, typed=typed, order=order)
        return release, measured(Grouped(data, made))
    untouched = measured(Grouped.untouched(data))
    if entry.release == "dummies":
        return dummies.publish(frame, schema, data, made, order), untouched
    return anatomized.publish(frame, schema, data, made, order), untouched


def verify_shape(
    release: Shape,
    frame: pl.DataFrame,
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
    rules: Sequence[Rule],
) -> Verdict:
    """Verify a release of any shape against its rules and its source, and look at its memory."""
    verdict = _verdict(release, frame, schema, taxonomies, rules)
    if faults := foreign(release.tables()):
        return replace(verdict, holds=False, faults=(*verdict.faults, *faults))
    return verdict


def _verdict(
    release: Shape,
    frame: pl.DataFrame,
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
    rules: Sequence[Rule],
) -> Verdict:
    source = Source(frame, schema, release.order)
    if isinstance(release, Dummies):
        return verify_sets(release.frame, schema.quasi, rules, source)
    if isinstance(release, Anatomized):
        return verify_tables(release.frame, release.values, schema.quasi, rules, source)
    return verify(
        release.frame,
        schema.quasi,
        rules,
        original=frame,
        schema=schema,
        taxonomies=taxonomies,
        order=release.order,
    )
