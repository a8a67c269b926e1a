"""The class Opened: a published release with its declared columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from shoal.base.errors import InputError, SchemaError, format_names, suggest_nearest
from shoal.base.partition import Ints
from shoal.base.roles import Role
from shoal.catalog import GENERALIZED, SHAPES, Shape
from shoal.plan.plan import Plan
from shoal.releases.base import ShapeWords, View
from shoal.releases.ends import all_ends
from shoal.releases.notation import top_label
from shoal.releases.published import Published, read
from shoal.releases.readback import Sides
from shoal.releases.verdict import held_back, undeclared
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.domain import STAR, Taxonomy
from shoal.tables.schema import Column, Schema


@dataclass(frozen=True, eq=False)
class Opened:
    """A release and what is declared of it, ready to be asked. It never holds the original.

    Parameters
    ----------
    tables
        The published tables by name: ``release``, and whatever its shape publishes beside it.
    columns
        The declared columns; ``missing`` of a sensitive one lists every text that means missing.
    taxonomies
        Hierarchies by column, to understand generalized cells.
    domains
        The values that generalized columns can have, ascending, when they are known from
        elsewhere; else those that the cells name.
    shape
        Which shape of release it is.
    plan
        The plan of the run, as far as it is known.
    complete
        The plan declares every column, and not only those that somebody named.
    sides
        Generalized cells that were understood beside the original, by column.
    people
        The number of different people of every class, where the run that made it counted them.
    spellings
        By column how cells in another tool's notation are written in ours. Rows are told apart by
        what was published all the same.
    digest
        SHA-256 of the file that the published table was read from.
    """

    tables: Mapping[str, pl.DataFrame]
    columns: tuple[Column, ...]
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    domains: Mapping[str, pl.Series] = field(default_factory=dict)
    shape: Shape = GENERALIZED
    plan: Plan = field(default_factory=Plan)
    complete: bool = True
    sides: Mapping[str, Sides] = field(default_factory=dict)
    people: Ints | None = None
    spellings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, pl.DataFrame],
        columns: Sequence[Column],
        taxonomies: Mapping[str, Taxonomy] | None = None,
        domains: Mapping[str, pl.Series] | None = None,
        plan: Plan | None = None,
        *,
        complete: bool = True,
    ) -> Opened:
        """Open published tables; what they tell of themselves joins what is declared."""
        declared = [column.name for column in columns]
        sensitive = [column.name for column in columns if column.role is Role.SENSITIVE]
        shape = detect_shape(tables, sensitive)
        told = [name for name in shape.view.hidden(tables) if name not in declared]
        return cls(
            tables,
            (*columns, *(Column(name, Role.SENSITIVE) for name in told)),
            taxonomies or {},
            domains or {},
            shape,
            plan or Plan(),
            complete,
        )

    @property
    def frame(self) -> pl.DataFrame:
        """The published table."""
        return self.tables["release"]

    @property
    def words(self) -> ShapeWords:
        """What things are called in a release of this shape."""
        words: ShapeWords = self.shape.words
        return words

    def names(self, *roles: Role) -> list[str]:
        """Return the columns that play one of some roles."""
        return [column.name for column in self.columns if column.role in roles]

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return self.names(Role.SENSITIVE)

    @property
    def persons(self) -> pl.Series | None:
        """Whose row each row is, where the release says so by a pseudonym."""
        name = next((name for name in self.names(Role.PERSON) if self.has(name)), None)
        return None if name is None else self.column(name).persons(self.frame[name])

    @property
    def pseudonym(self) -> str | None:
        """The published column of pseudonyms, if there is to be one."""
        persons = self.names(Role.PERSON) if self.plan.release.pseudonym else []
        return next(filter(self.has, persons), None)

    def column(self, name: str) -> Column:
        """Return a declared column by its name."""
        return next(column for column in self.columns if column.name == name)

    def has(self, name: str) -> bool:
        """Tell whether the published table has a column of this name."""
        return name in self.frame.columns

    def forbidden(self, schema: Schema | None = None) -> list[str]:
        """Say which published columns should not be there.

        Those with a role that is never released, and, where a plan declares every column, those
        that it does not name: an identifier by another name would pass otherwise. ``schema``: what
        is declared of the original, if that is at hand; then it declares every column.
        """
        complete = self.complete or schema is not None
        known = [self.pseudonym] if complete else self.names(Role.PERSON)
        columns = self.columns if schema is None else schema.columns
        faults = [
            held_back(column.name, column.role)
            for column in columns
            if self.has(column.name) and not (column.role.published or column.name in known)
        ]
        declared = {*self.plan.columns} if schema is None else {c.name for c in columns}
        if complete and declared:
            quasi = [name for name in self.quasi if schema is None or not self.has(name)]
            declared |= {*all_ends(self.frame, quasi), *self.shape.own, *known}
            faults += [undeclared(name) for name in self.frame.columns if name not in declared]
        return faults

    def known_by(self, quasi: Sequence[str]) -> Opened:
        """Return the same release, looked up by other columns."""
        if list(quasi) == self.quasi:
            return self
        rest = [column for column in self.columns if column.name not in quasi]
        own = {column.name: column for column in self.columns}
        asked = [
            replace(own.get(name, Column(name, Role.QUASI)), role=Role.QUASI) for name in quasi
        ]
        others = [replace(c, role=Role.KEEP) if c.role is Role.QUASI else c for c in rest]
        return replace(self, columns=(*asked, *others), people=None)

    def with_sides(self, sides: Mapping[str, Sides]) -> Opened:
        """Return the same release with its cells understood beside the original."""
        return replace(self, sides=sides)

    def take_rows(self, rows: Ints) -> Opened:
        """Return some rows of the release."""
        return replace(self, tables={**self.tables, "release": self.frame[rows]}, people=None)

    def with_sensitive(self, of: str) -> Opened:
        """Return the same release with the column declared sensitive that is asked about.

        Without quasi-identifiers every column counts as one that may be.
        """
        shape = detect_shape(self.tables, [of, *self.sensitive])
        rest = shape.view.candidates(self.tables, of)
        quasi = [name for name in self.quasi if name != of] or rest
        if unknown := [name for name in quasi if name not in rest]:
            raise SchemaError(
                "The release has no quasi-identifier "
                f"{unknown[0]!r}.{suggest_nearest(unknown[0], rest)} "
                f"It has: {format_names(rest)}."
            )
        own = {column.name: column for column in self.columns}
        asked = own.get(of, Column(of, Role.SENSITIVE))
        others = [column for column in self.known_by(quasi).columns if column.name != of]
        columns = (*others, replace(asked, role=Role.SENSITIVE, kind=None))
        return replace(self, columns=columns, shape=shape)

    @cached_property
    def published(self) -> Published:
        """The classes of rows that nobody can tell apart."""
        classes = read(self.frame, self.quasi)
        meant = [
            as_text(classes.cells[name]).replace(list(spelling), list(spelling.values()))
            for name, spelling in self.spellings.items()
            if name in classes.columns
        ]
        classes = replace(classes, cells=classes.cells.with_columns(meant)) if meant else classes
        if self.people is None and self.persons is not None:
            return replace(classes, people=classes.different(self.persons))
        return replace(classes, people=self.people)

    @cached_property
    def _views(self) -> dict[str, View]:
        return {}

    def view(self, of: str) -> View:
        """Return the release, ready to be asked about a sensitive column; opened once."""
        if of not in self._views:
            self._views[of] = self.shape.view.open_view(self, of)
        return self._views[of]

    def texts(self, name: str) -> pl.Series:
        """Return the cells of a published column, with ``*`` for a cell that says nothing."""
        column = self.frame[name if self.has(name) else f"{name}_lo"]
        return missing_to_null(column.cast(pl.String)).fill_null(STAR)

    def tops(self, name: str) -> list[str]:
        """Return the cells of a quasi-identifier that leave every value possible."""
        tree = self.taxonomies.get(name)
        return [STAR] if tree is None else [STAR, top_label(tree)]

    def silent(self, name: str) -> float:
        """Return the share of published cells of a column that say nothing."""
        share: float = self.shape.view.silent(self, name)
        return share

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the release as plain data, without a cell of it."""
        return {
            "shape": self.shape.name,
            "rows": self.frame.height,
            "classes": self.published.sizes.size,
            "quasi": self.quasi,
            "sensitive": self.sensitive,
        }


def people_not_counted(person: str, *, compared: bool = False) -> str:
    """Say that people could not be counted in a release; ``compared``: nor by its original."""
    tried = ", and rows of the original fit several classes, or were left out" if compared else ""
    return (
        "Rows are counted here, not people: the release does not say whose row each is "
        f"({person!r} is not in it{tried}). The figures of the run that made it count people."
    )


def detect_shape(tables: Mapping[str, pl.DataFrame], sensitive: Sequence[str]) -> Shape:
    """Tell the shape of a release from its own marks and the columns declared sensitive.

    Lists in a column that nobody declared sensitive are no mark: they could stand in any table.
    """
    marked = (
        shape
        for shape in SHAPES.values()
        if shape is not GENERALIZED and shape.view.marked(tables, sensitive)
    )
    return next(marked, GENERALIZED)


def check_release(opened: Opened, of: str) -> None:
    """Refuse a table that nobody published: what it says need not be estimated."""
    if opened.taxonomies or opened.domains or opened.shape.view.marked(opened.tables, [of]):
        return
    raise InputError(
        f"This does not look like a release: column {of!r} holds single values, not sets of "
        "them, no other cell is generalized (*, [20-39], {a, b}, or a pair x_lo, x_hi), and "
        "there is no second table of Anatomy. Give a release; one made with hierarchies needs "
        "--hierarchies (hierarchies=...), and exact tables can simply be counted."
    )
