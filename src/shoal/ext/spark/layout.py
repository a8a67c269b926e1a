"""The layout of a staged table: original and published columns side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.base.roles import Role
from shoal.ext.spark.columns import SparkTable
from shoal.ext.spark.functions import F
from shoal.ext.spark.hashing import ORDER, fresh_salt, hashed, salt_of
from shoal.releases.generalized.make import check_names
from shoal.tables.schema import Schema


@dataclass(frozen=True)
class Layout:
    """The columns of a staged table.

    Parameters
    ----------
    names
        The published columns, in their order; staged as ``p0``, ``p1``, ...
    sources
        For each of them the column of the input that it is published from as it is, or None.
    originals
        The columns of the input that are changed, by name; staged as ``o0``, ``o1``, ...
    """

    names: tuple[str, ...]
    sources: tuple[str | None, ...]
    originals: tuple[str, ...]

    @property
    def published(self) -> list[str]:
        """The published columns as they are called inside."""
        return [f"p{i}" for i in range(len(self.names))]

    @property
    def before(self) -> dict[str, str]:
        """Where the changed columns stand as they were, by what they are called inside."""
        return {f"o{j}": name for j, name in enumerate(self.originals)}

    def inside(self, name: str) -> str:
        """Return what a published column is called inside."""
        return f"p{self.names.index(name)}"

    def passed(self) -> dict[str, str]:
        """Return the columns that are published as they are: inside, and in the input."""
        return {f"p{i}": source for i, source in enumerate(self.sources) if source is not None}


def generalized(table: SparkTable, schema: Schema, cells: Sequence[str]) -> Layout:
    """Lay out a release whose quasi-identifiers are published as the columns ``cells``."""
    names: list[str] = []
    sources: list[str | None] = []
    for name in table.names:
        if schema[name].role is not Role.QUASI:
            names.append(name)
            sources.append(name)
            continue
        own = [name] if name in cells else [f"{name}_lo", f"{name}_hi"]
        names += own
        sources += [None] * len(own)
    check_names(names)
    return Layout(tuple(names), tuple(sources), tuple(n for n in table.names if n in schema.quasi))


def dummied(table: SparkTable, schema: Schema) -> Layout:
    """Lay out a release whose sensitive columns are published as sets."""
    kept = [None if name in schema.sensitive else name for name in table.names]
    return Layout(
        table.names, tuple(kept), tuple(name for name in table.names if name in schema.sensitive)
    )


def shuffled(rows: Any, published: Sequence[str]) -> Any:
    """Put rows in an order that says nothing: that of a salted hash of their published cells.

    Neither the input's order nor its files play a part, so the order carries nothing even for
    somebody who knows the salt; and a task that is run again makes the same order again.
    """
    marked = rows.select("*", hashed(published, fresh_salt()).alias("h"))
    return marked.repartition(F.col("h")).sortWithinPartitions("h").drop("h")


def repeatable(rows: Any, published: Sequence[str], seed: int, *, one: bool) -> Any:
    """Put rows in such an order that a run with the same seed finds again.

    The table is sorted as a whole: how Spark cuts it into pieces is no two times the same. ``one``:
    it becomes one piece.
    """
    marked = rows.select("*", hashed(published, salt_of(seed, ORDER)).alias("h"))
    ordered = marked.coalesce(1).sortWithinPartitions("h") if one else marked.orderBy("h")
    return ordered.drop("h")


def written(rows: Any, kind: str) -> dict[str, Any]:
    """Return every column as it is written, by name: in a CSV file as text, sets as JSON lists."""
    columns = {}
    for name, type_ in rows.dtypes:
        column = F.col(name)
        if kind == "csv" and type_.startswith(("array", "struct")):
            column = F.to_json(column)
        elif kind == "csv" and type_ != "string":
            column = column.cast("string")
        columns[name] = column
    return columns
