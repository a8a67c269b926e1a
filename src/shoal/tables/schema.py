"""The class Schema: the role and kind of each column."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from shoal.base.errors import SchemaError, format_names, suggest_nearest
from shoal.base.roles import Kind, Role
from shoal.tables.cells import as_text, holds_numbers, infer_type, missing_to_null
from shoal.tables.domain import STAR
from shoal.tables.grid import AUTO, OFF, TailedStep, step_of

_COMPARED = (Role.QUASI, Role.SENSITIVE, Role.PERSON)


@dataclass(frozen=True)
class Column:
    """One column's part.

    Parameters
    ----------
    name
        Its name in the table.
    role
        What it is to someone who wants to find a person, and so what a release does with it.
    kind
        For a quasi-identifier how it is generalized; None for the others.
    reason
        Why the role and the kind were chosen, in words for the reader.
    missing
        Texts that stand for a missing value in this column, besides the table's own.
    order
        For an ordered column of texts: its values from lowest to highest.
    domain
        For a sensitive column: every value that it can have, if that was declared.
    importance
        How much a quasi-identifier's loss counts while rows are grouped.
    grid
        For an ordered column: what the ends of its intervals are multiples of.
    sets
        For names without a hierarchy: whether they may be published as a set of values.
    within
        Whether it is published as it is, with every promise kept inside each of its values.
    coarsest, finest
        The level of its hierarchy, or the width of an interval, that no cell exceeds, or falls
        below.
    top, bottom
        Numbers from there on, or up to there, are published as one.
    """

    name: str
    role: Role
    kind: Kind | None = None
    reason: str = ""
    missing: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    importance: float = 1.0
    grid: str | float | TailedStep = OFF
    sets: bool = True
    within: bool = False
    coarsest: int | float | str | None = None
    finest: int | float | str | None = None
    top: float | None = None
    bottom: float | None = None
    same: tuple[str, ...] = ()

    @property
    def limited(self) -> bool:
        """Whether anything bounds what its cells may be published as."""
        return self.within or any(
            limit is not None for limit in (self.coarsest, self.finest, self.top, self.bottom)
        )

    def clean(self, series: pl.Series) -> pl.Series:
        """Return the column's cells with everything that means missing as null."""
        if isinstance(series.dtype, pl.Categorical):
            series = series.cast(pl.String)  # a category is a text; its number means nothing
        # A sensitive value that was suppressed adds no diversity.
        void = (STAR,) if self.role is Role.SENSITIVE else ()
        cleaned = missing_to_null(series, (*self.missing, *void))
        # Without its '?' a column of numbers may be one after all.
        return infer_type(cleaned) if self.missing and not self.order else cleaned

    def persons(self, series: pl.Series) -> pl.Series:
        """Return the person of every row, as text; none may be missing."""
        texts = as_text(self.clean(series))
        if gaps := texts.null_count():
            raise SchemaError(
                f"{gaps:,} of {len(series):,} rows say nothing in {self.name!r}, the column of the "
                "persons: whose rows they are is not known, nor how many people a class has. Fill "
                "them in (a value of its own for each row of somebody else), or leave them out."
            )
        return texts

    def on_grid(self, series: pl.Series) -> Column:
        """Return the column with the step of its grid settled; only ordered ones have a grid."""
        if self.kind is not Kind.ORDERED and self.grid not in (AUTO, OFF):
            raise SchemaError(
                f"The grid {self.grid!r} was given for column {self.name!r}, whose cells are "
                "not intervals. Only quasi-identifiers of the kind 'ordered' have one: leave it "
                "out."
            )
        if self.kind is not Kind.ORDERED or self.order:
            return replace(self, grid=OFF)
        values = self.known_values(series)
        return replace(self, grid=step_of(values, self.grid, self.name) or OFF)

    def known_values(self, series: pl.Series) -> pl.Series:
        """Return the different known values, ascending."""
        return self.clean(series).drop_nulls().unique().sort()


@dataclass(frozen=True)
class Schema:
    """The declared columns. A column of the table that is not declared is never published."""

    columns: tuple[Column, ...]
    _by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})
        faults = self._faults()
        if faults:
            raise SchemaError(faults)

    def _faults(self) -> list[str]:
        faults = []
        for name, column in self._by_name.items():
            roles = [c.role.value for c in self.columns if c.name == name] if self._repeats else []
            if len(roles) > 1:
                faults.append(
                    f"Column {name!r} is declared {len(roles)} times ({', '.join(roles)}). "
                    "A column has one role: choose one."
                )
            if column.role is Role.QUASI and column.kind is None:
                faults.append(
                    f"Quasi-identifier {name!r} has no kind. Choose one of {format_names(Kind)}."
                )
            if column.order and column.kind is not Kind.ORDERED:
                faults.append(
                    f"Column {name!r} lists an order but its kind is "
                    f"{column.kind.value if column.kind else 'none'}. "
                    "Only the kind 'ordered' has an order: change the kind or drop the list."
                )
            if column.domain and column.role is not Role.SENSITIVE:
                faults.append(
                    f"Column {name!r} declares a domain but its role is {column.role.value}. Only "
                    "a sensitive column has one: change the role or drop the domain."
                )
        if len(persons := self.names(Role.PERSON)) > 1:
            faults.append(
                f"The role 'person' has {len(persons)} columns ({format_names(persons)}). One "
                "column "
                "says whose row it is: keep one, and make the others identifiers."
            )
        return faults

    @property
    def _repeats(self) -> bool:
        return len(self._by_name) < len(self.columns)

    def __getitem__(self, name: str) -> Column:
        """Return the column called ``name``."""
        if name not in self._by_name:
            raise SchemaError(unknown_column(name, self._by_name, "The schema"))
        return self._by_name[name]

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns that play ``role``."""
        return tuple(column.name for column in self.columns if column.role is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns."""
        return self.names(Role.SENSITIVE)

    @property
    def identifier(self) -> tuple[str, ...]:
        """Names of the identifiers, which no release holds."""
        return self.names(Role.IDENTIFIER)

    @property
    def person(self) -> str | None:
        """Name of the column that says whose row it is, which no release holds."""
        return next(iter(self.names(Role.PERSON)), None)

    def persons(self, frame: pl.DataFrame) -> pl.Series:
        """Return the person of every row, as text; none may be missing."""
        assert self.person is not None
        return self[self.person].persons(frame[self.person])

    @property
    def keep(self) -> tuple[str, ...]:
        """Names of the columns that are published unchanged."""
        return self.names(Role.KEEP)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of the columns that nobody has decided about, which no release holds."""
        return self.names(Role.UNDECIDED)

    def faults(self, frame: pl.DataFrame, taxonomies: Iterable[str] = ()) -> list[str]:
        """Say everything that keeps this schema from fitting ``frame``, without its values."""
        have = set(taxonomies)
        faults = []
        if not self.quasi:
            faults.append(
                "No column is a quasi-identifier, so there is nothing to generalize. "
                f"Declare at least one of: {format_names(frame.columns)}."
            )
        for column in self.columns:
            faults.extend(self.column_faults(column, frame, have))
        return faults

    @staticmethod
    def column_faults(column: Column, frame: pl.DataFrame, have: Container[str]) -> list[str]:
        """Say what keeps one column from fitting ``frame``; ``have``: the hierarchies there are."""
        name = column.name
        if name not in frame.columns:
            return [unknown_column(name, frame.columns, role=column.role)]
        series = frame[name]
        dtype = series.dtype
        if column.role is Role.KEEP and dtype == pl.Object:
            return [
                f"Column {name!r} holds Python objects, which no file can hold. Make texts or "
                "numbers of them first, or leave the column out."
            ]
        if column.role in _COMPARED and isinstance(dtype, pl.Duration):
            return [
                f"Column {name!r} holds durations; a {column.role.value} column needs numbers, "
                "texts, dates, booleans or categories. Make numbers of them first, for instance "
                "seconds."
            ]
        if column.role in _COMPARED and not plain(dtype):
            return [
                f"Column {name!r} holds values of type {dtype}; a {column.role.value} column "
                "needs numbers, texts, dates, booleans or categories. "
                "Split it into plain columns first."
            ]
        if column.kind is Kind.TAXONOMY and name not in have:
            return [
                f"Column {name!r} has the kind 'taxonomy' but no hierarchy was given. "
                f"Give a file {name}.csv, or use the kind 'ordered' or 'set'."
            ]
        if column.kind is Kind.ORDERED and not column.order and textual(dtype):
            series = column.clean(series)
            if series.null_count() == len(series) or not textual(series.dtype):
                return []
            return [
                f"Column {name!r} has the kind 'ordered' but holds texts, for instance "
                f"{_example(series)!r}. Use the kind 'set', give a hierarchy, or list its "
                "values from lowest to highest."
            ]
        return []

    def check(self, frame: pl.DataFrame, taxonomies: Iterable[str] = ()) -> None:
        """Raise one SchemaError with all of :meth:`faults`."""
        faults = self.faults(frame, taxonomies)
        if faults:
            raise SchemaError(faults)


def plain(dtype: pl.DataType) -> bool:
    """Tell whether cells of this type are single values that can be compared and written."""
    return not (dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration))


WHOLE, NUMBER, DATE, TIME = "whole number", "number", "date", "time"


def type_name(dtype: pl.DataType) -> str:
    """Return the type of a column in words."""
    if dtype.is_integer():
        return WHOLE
    if dtype.is_numeric():
        return NUMBER
    if dtype == pl.Date:
        return DATE
    if dtype.is_temporal():
        return TIME
    if dtype == pl.Boolean:
        return "yes or no"
    return "text" if textual(dtype) or isinstance(dtype, pl.Enum) else str(dtype)


def textual(dtype: pl.DataType) -> bool:
    """Tell whether cells of this type are texts, which have no order of their own."""
    return dtype == pl.String or isinstance(dtype, pl.Categorical)


def _example(series: pl.Series) -> str:
    known = series.drop_nulls().cast(pl.String)
    words = known.filter(known.str.strip_chars().cast(pl.Float64, strict=False).is_null())
    return str(words[0] if len(words) else known[0])


def unknown_column(
    name: str, names: Iterable[str], where: str = "The table", role: Role | None = None
) -> str:
    """Say that a column does not exist, and which name may have been meant."""
    names = list(names)
    as_role = f" (declared as {role.value})" if role else ""
    nearest = suggest_nearest(name, names)
    return f"{where} has no column {name!r}{as_role}.{nearest} It has: {format_names(names)}."


def declare(
    frame: pl.DataFrame,
    *,
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    order: Mapping[str, Sequence[str]] | None = None,
    taxonomies: Iterable[str] = (),
    **named: Sequence[str],
) -> Schema:
    """Make the schema from the names of columns by role; kinds that are not given are guessed.

    Columns that are not named are not declared, and what is not declared is not published.
    ``missing`` and ``order`` are those of :class:`Column`, by the name of the column. All faults
    (unknown names, names with two roles) are reported at once.
    """
    kinds, missing, order = kinds or {}, missing or {}, order or {}
    have = set(taxonomies)
    roles: dict[str, list[Role]] = {}
    for role, names in named.items():
        for name in dict.fromkeys(names):
            roles.setdefault(name, []).append(Role(role))
    faults = []
    for name, played in roles.items():
        if name not in frame.columns:
            faults.append(unknown_column(name, frame.columns, role=played[0]))
        if len(played) > 1:
            both = ", ".join(role.value for role in played)
            faults.append(f"Column {name!r} has {len(played)} roles ({both}). Choose one.")
    for name, kind_given in kinds.items():
        if kind_given not in list(Kind):
            hint = suggest_nearest(str(kind_given), [kind.value for kind in Kind])
            faults.append(
                f"Column {name!r} has the unknown kind {str(kind_given)!r}.{hint} "
                f"Choose one of {format_names(Kind)}."
            )
        if name not in roles:
            faults.append(unknown_column(name, roles, "The declaration of roles"))
    if faults:
        raise SchemaError(faults)
    columns = []
    for name in frame.columns:  # the table's order, whatever order the names came in
        if name not in roles:
            continue
        column = Column(
            name,
            roles[name][0],
            reason="declared",
            missing=tuple(missing.get(name, ())),
            order=tuple(order.get(name, ())),
        )
        if column.role is Role.QUASI:
            kind, why = Kind.ORDERED, "the plan lists its order"
            if name in kinds:
                kind, why = Kind(kinds[name]), "kind declared"
            elif not column.order:
                kind, why = guess_kind(column.clean(frame[name]), name in have)
            column = replace(column, kind=kind, reason=f"declared; {why}")
        columns.append(column)
    return Schema(tuple(columns))


def guess_kind(series: pl.Series, has_taxonomy: bool) -> tuple[Kind, str]:
    """Guess how a quasi-identifier should be generalized, and say why."""
    if has_taxonomy:
        return Kind.TAXONOMY, "has a hierarchy"
    dtype = series.dtype
    if series.null_count() == len(series):
        return Kind.SET, "all values are missing"
    if dtype.is_numeric():
        return Kind.ORDERED, "numbers"
    if dtype.is_temporal():
        return Kind.ORDERED, "dates or times"
    mixed = holds_numbers(series)
    if mixed:
        return Kind.SET, f"numbers ({mixed[0]!r}) mixed with texts ({mixed[1]!r})"
    return Kind.SET, "categories"
