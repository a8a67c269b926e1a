"""The tables of a plan: data, columns, method, rules, release."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD

Sets = Literal["allowed", "never"]
LIMITS = ("within", "coarsest", "finest", "top", "bottom")
"""What bounds how cells of a column may be published."""


class Part(BaseModel):
    """A table of a plan: no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataPart(Part):
    """Which table (when a call names none) and how it is read: missing texts, delimiter, ...

    ``history``: the folder that says what earlier releases published of whom.
    """

    source: str | None = None
    table: str | None = None
    query: str | None = None
    missing: tuple[str, ...] = ("",)
    delimiter: str | None = None
    encoding: str | None = None
    dates: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    labels: Literal["texts", "codes"] | None = None
    hierarchies: str | None = None
    history: str | None = None

    @property
    def how(self) -> dict[str, Any]:
        """How the file is read, by the names of :func:`shoal.read_table`."""
        names = ("encoding", "dates", "decimal", "sheet", "labels")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ColumnPart(Part):
    """One declared column.

    ``hierarchy``: its file. ``missing``: texts that mean missing in this column only. ``order``:
    the texts of an ordered column, lowest first. ``domain``: every value that a sensitive column
    can have, those that nobody has included; dummy values are drawn from it. ``importance``: how
    much its loss counts while rows are grouped, 1 for an ordinary column. ``grid``: what the ends
    of an ordered column's intervals are multiples of. ``sets``: whether names without a hierarchy
    may be published as sets of values, if that is not as the release has it. ``within``: it is
    published as it is, and every promise holds inside each of its values. ``coarsest``, ``finest``:
    the level of its hierarchy, or the width of an interval, that no cell exceeds, or falls below.
    ``top``, ``bottom``: numbers from there on, or up to there, are published as one.
    """

    role: Role
    kind: Kind | None = None
    hierarchy: str | None = None
    missing: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    domain: tuple[str, ...] | None = None
    importance: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    grid: str | float | None = None
    sets: Sets | None = None
    within: bool | None = None
    coarsest: int | float | str | None = None
    finest: int | float | str | None = None
    top: float | None = Field(default=None, allow_inf_nan=False)
    bottom: float | None = Field(default=None, allow_inf_nan=False)

    @property
    def limits(self) -> dict[str, Any]:
        """What bounds how its cells may be published, by the names of a plan."""
        given = {name: getattr(self, name) for name in LIMITS}
        return {
            name: limit for name, limit in given.items() if limit is not None and limit is not False
        }


class MethodPart(BaseModel):
    """The method by name; every other key is one of its options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = DEFAULT_METHOD

    @property
    def options(self) -> dict[str, Any]:
        """The options as given."""
        return dict(self.model_extra or {})


class RulePart(BaseModel):
    """A rule by name; every other key is one of its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str
    column: str | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """The rule as the catalog builds it."""
        column = {} if self.column is None else {"column": self.column}
        return {"name": self.name, **column, **(self.model_extra or {})}


class EvidencePart(Part):
    """What a board wants to know of a release besides figures; no run depends on it.

    ``purpose`` and ``recipient`` of the release, its ``legal_basis``, who ``decided_by``, and
    ``why`` this promise.
    """

    purpose: str | None = None
    recipient: str | None = None
    legal_basis: str | None = None
    decided_by: str | None = None
    why: str | None = None


class ReleasePart(Part):
    """How the release is written.

    ``typed``: ordered columns, and those with a hierarchy of intervals, as two columns ``x_lo`` and
    ``x_hi``. ``mid``: and a third, ``x_mid``. ``shuffle``: break the link to the order of the
    input. ``csv_safe``: an apostrophe before texts of a CSV file that a spreadsheet would run as
    formulas. ``slack``: how likely a cell is published wider than it need be. ``sets``: whether
    names without a hierarchy may be published as sets of values, which all occur; if never, as one
    value or ``*``. ``person_rows``: ``together`` publishes all rows of a person with the same
    quasi-identifiers. ``pseudonym``: a keyed pseudonym in place of the column of the persons, which
    needs that. ``suppress``: the largest share of the rows that may be left out, counted as loss.
    ``as_in_paper``: the method is run exactly as its paper has it (``shoal methods`` says how).
    """

    typed: bool = False
    mid: bool = False
    shuffle: bool = True
    csv_safe: bool = False
    slack: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    sets: Sets | None = None
    person_rows: Literal["apart", "together"] | None = None
    pseudonym: bool | None = None
    suppress: float | None = Field(default=None, ge=0, lt=1, allow_inf_nan=False)
    as_in_paper: bool | None = None

    @property
    def ends(self) -> bool:
        """Whether intervals are published as their ends."""
        return self.typed or self.mid

    @property
    def together(self) -> bool:
        """Whether all rows of a person are published alike."""
        return self.person_rows == "together" or bool(self.pseudonym)
