"""The tables of a plan, with the declaration of every setting."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD
from shoal.plan import setting as reading
from shoal.plan.data import DataPart
from shoal.plan.setting import Part, Setting

Sets = Literal["allowed", "never"]
LIMITS = ("within", "coarsest", "finest", "top", "bottom")
"""What bounds how cells of a column may be published."""

_SETS = Setting(
    "Whether categories without a hierarchy may be published as lists of values: allowed, or never "
    "(one value or *). For all columns, or for one; may be repeated.",
    "[COLUMN=]WORD",
    rare=True,
    in_file="whether categories without a hierarchy may be published as lists of values: allowed, "
    "or never (one value or *)",
)


class ColumnPart(Part):
    """One declared column."""

    role: Role
    kind: Annotated[
        Kind | None,
        Setting(
            "How a quasi-identifier is generalized: by its hierarchy, to intervals, or to lists of "
            "values; may be repeated.",
            f"COLUMN={'|'.join(Kind)}",
            rare=True,
        ),
    ] = None
    hierarchy: Annotated[str | None, Setting("Hierarchy file.", flag=None)] = None
    missing: Annotated[
        tuple[str, ...],
        Setting("Texts that mean missing in this column only.", flag=None, of=tuple(Role)),
    ] = ()
    order: Annotated[
        tuple[str, ...],
        Setting(
            "The values of an ordered column of texts, lowest first, with commas; may be repeated.",
            "COLUMN=TEXTS",
            rare=True,
            in_file="the values of an ordered column of texts, lowest first",
            of=tuple(Role),
            read=reading.ordered_texts,
        ),
    ] = ()
    domain: Annotated[
        tuple[str, ...] | None,
        Setting(
            "All possible values of a sensitive column, one on each line; dummy values are drawn "
            "from them; may be repeated.",
            "NAME=FILE",
            rare=True,
            in_file="all possible values of a sensitive column; dummy values are drawn from them",
            of=(Role.SENSITIVE,),
        ),
    ] = None
    importance: Annotated[
        float,
        Field(gt=0, le=1_000_000, allow_inf_nan=False),
        Setting(
            "Weight of a column's information loss when classes are formed (default 1); may be "
            "repeated.",
            "COLUMN=NUMBER",
            rare=True,
        ),
    ] = 1.0
    grid: Annotated[
        str | float | None,
        Setting(
            "Step of interval ends: a number; for dates and times hour, day, week, month, quarter "
            "or year; or auto, or off; may be repeated.",
            "COLUMN=STEP",
            rare=True,
            read=reading.limit_of,
        ),
    ] = None
    sets: Annotated[Sets | None, _SETS] = None
    within: Annotated[
        bool | None,
        Setting(
            "Quasi-identifiers published unchanged; the rules must hold within each of their "
            "values.",
            "NAMES",
            rare=True,
            in_file="true: published unchanged; the rules must hold within each of its values",
        ),
    ] = None
    coarsest: Annotated[
        int | float | str | None,
        Setting(
            "Widest generalization allowed: a level of the hierarchy (0 is the original values), "
            "or an interval width (10, month); may be repeated.",
            "COLUMN=LIMIT",
            rare=True,
            read=reading.limit_of,
        ),
    ] = None
    finest: Annotated[
        int | float | str | None,
        Setting(
            "Narrowest generalization allowed, written as for --coarsest; may be repeated.",
            "COLUMN=LIMIT",
            in_file="narrowest generalization allowed, written as for coarsest",
            rare=True,
            read=reading.limit_of,
        ),
    ] = None
    top: Annotated[
        float | None,
        Field(allow_inf_nan=False),
        Setting(
            "Publish all numbers from this one on as one value (90+); may be repeated.",
            "COLUMN=NUMBER",
            rare=True,
        ),
    ] = None
    bottom: Annotated[
        float | None,
        Field(allow_inf_nan=False),
        Setting(
            "Publish all numbers up to this one as one value (<=18); may be repeated.",
            "COLUMN=NUMBER",
            rare=True,
        ),
    ] = None
    allow_labels: Annotated[
        tuple[str, ...],
        Setting(
            "Hierarchy labels (with commas) that may be published although they name a value that "
            "fewer than k people have; may be repeated.",
            "COLUMN=LABELS",
            rare=True,
            read=reading.ordered_texts,
        ),
    ] = ()

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
    """What a board wants to know of a release beyond figures; no run depends on it."""

    purpose: Annotated[str | None, Setting("What the release is for.", flag=None)] = None
    recipient: Annotated[str | None, Setting("Who receives it.", flag=None)] = None
    legal_basis: Annotated[str | None, Setting("The law that allows it.", flag=None)] = None
    decided_by: Annotated[str | None, Setting("Who decided.", flag=None)] = None
    why: Annotated[str | None, Setting("Why these rules.", flag=None)] = None


class ReleasePart(Part):
    """How the release is written."""

    typed: Annotated[
        bool,
        Setting(
            "Write each interval as two columns, x_lo and x_hi.",
            flag="--typed/--text",
            group="Output",
        ),
    ] = False
    mid: Annotated[
        bool,
        Setting(
            "Like --typed, with the middle as a third column, x_mid.",
            flag="--mid/--no-mid",
            group="Output",
            rare=True,
        ),
    ] = False
    shuffle: Annotated[
        bool, Setting("Write the rows in random order; on by default.", flag=None)
    ] = True
    csv_safe: Annotated[
        bool,
        Setting(
            "Put an apostrophe before texts that a spreadsheet would run as formulas (=, +, -, @); "
            "Shoal removes it when it reads the file.",
            flag="--csv-safe/--csv-plain",
            group="Output",
            rare=True,
        ),
    ] = False
    same: Annotated[
        tuple[str, ...],
        Setting(
            "Sensitive values that count as one: HIV=AIDS,HIV infection; may be repeated.",
            "VALUE=VALUES",
            rare=True,
            read=reading.same_groups,
        ),
    ] = ()
    slack: Annotated[
        float,
        Field(ge=0, le=1, allow_inf_nan=False),
        Setting(
            "Probability of extra generalization, which hides exact interval ends: 0 (default) "
            "to 1.",
            "P",
            rare=True,
        ),
    ] = 0.0
    sets: Annotated[Sets | None, _SETS] = None
    person_rows: Annotated[
        Literal["apart", "together"] | None,
        Setting(
            "together: publish all rows of a person with the same quasi-identifiers, which must "
            "not differ between these rows. [default: apart]",
            "apart|together",
            rare=True,
        ),
    ] = None
    pseudonym: Annotated[
        bool | None,
        Setting(
            "Like --person, and publish a keyed pseudonym in place of the column; implies "
            "--person-rows together.",
            "NAME",
            rare=True,
            role=Role.PERSON,
            in_file="true: publish a keyed pseudonym in place of the person column, and all rows "
            "of a person together",
        ),
    ] = None
    suppress: Annotated[
        float | None,
        Field(ge=0, lt=1, allow_inf_nan=False),
        Setting(
            "Largest share of rows that may be removed (such as 1%): rows that no class can take, "
            "and with the method shoal rows without which all others lose much less.",
            "SHARE",
            rare=True,
            read=reading.share_of,
        ),
    ] = None
    as_in_paper: Annotated[
        bool | None,
        Setting(
            "Run the method exactly as its paper describes it (see: shoal methods).",
            flag="--as-in-paper",
            group="Method",
            rare=True,
            read=lambda asked: asked or None,
        ),
    ] = None

    @property
    def ends(self) -> bool:
        """Whether intervals are published as their ends."""
        return self.typed or self.mid

    @property
    def together(self) -> bool:
        """Whether all rows of a person are published alike."""
        return self.person_rows == "together" or bool(self.pseudonym)


TABLES: dict[str, type[Part]] = {
    "data": DataPart,
    "columns": ColumnPart,
    "release": ReleasePart,
    "evidence": EvidencePart,
}
"""The tables of a plan whose keys are declared here; methods and rules declare theirs."""
