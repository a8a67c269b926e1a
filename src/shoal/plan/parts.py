"""The tables of a plan: data, columns, method, rules, release; every setting is declared here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.base.roles import Kind, Role
from shoal.catalog import DEFAULT_METHOD
from shoal.plan.setting import Setting, declared, limit_of, missing_texts, ordered_texts, share_of

Sets = Literal["allowed", "never"]
LIMITS = ("within", "coarsest", "finest", "top", "bottom")
"""What bounds how cells of a column may be published."""

_SETS = Setting(
    "Whether names without a hierarchy may be published as a set of values, which all occur: "
    "allowed, or never (one value or *); of all columns, or of one, repeated.",
    "[COLUMN=]WORD",
    rare=True,
    in_file="whether names without a hierarchy may be published as a set of values, which all "
    "occur: allowed, or never (one value or *)",
)


class Part(BaseModel):
    """A table of a plan: no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataPart(Part):
    """Which table (when a call names none) and how it is read."""

    source: Annotated[
        str | None, Setting("Where the table is, when the command does not say it.", flag=None)
    ] = None
    table: Annotated[str | None, Setting("Which table of a database.", flag=None)] = None
    query: Annotated[str | None, Setting("A query of a database.", flag=None)] = None
    missing: Annotated[
        tuple[str, ...],
        Setting(
            "A text that means missing, such as '?'; may be repeated.",
            "TEXT",
            group="Input",
            read=missing_texts,
            in_file="texts that mean missing, the empty one always",
        ),
    ] = ("",)
    delimiter: Annotated[
        str | None, Setting("CSV delimiter, when guessing it goes wrong.", "CHAR", group="Input")
    ] = None
    encoding: Annotated[
        str | None,
        Setting(
            "Of text files that are not UTF-8: cp1252, utf-16, ...; detect: look at the bytes.",
            "NAME",
            group="Input",
            rare=True,
        ),
    ] = None
    dates: Annotated[
        str | None,
        Setting(
            "How a text file writes dates: d.m.y, d/m/y, m/d/y, ...; off: leave them.",
            "FORM",
            group="Input",
            rare=True,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        Setting(
            "How a text file writes decimals: comma or point.", "WORD", group="Input", rare=True
        ),
    ] = None
    sheet: Annotated[
        str | None, Setting("Which sheet of an Excel file.", "NAME", group="Input", rare=True)
    ] = None
    hidden: Annotated[
        Literal["include", "skip"] | None,
        Setting(
            "What to do with hidden rows, columns and sheets of an Excel file: include, or skip; "
            "without either they are refused.",
            "WORD",
            group="Input",
            rare=True,
        ),
    ] = None
    labels: Annotated[
        Literal["texts", "codes"] | None,
        Setting(
            "Of Stata, SPSS and SAS files: texts (default), or codes.",
            "WORD",
            group="Input",
            rare=True,
        ),
    ] = None
    hierarchies: Annotated[
        str | None, Setting("Folder of COLUMN.csv hierarchies (ARX format).", "DIR")
    ] = None
    history: Annotated[
        str | None,
        Setting("Folder that says what earlier releases published of whom.", flag=None),
    ] = None

    @property
    def how(self) -> dict[str, Any]:
        """How the file is read, by the names of :func:`shoal.read_table`."""
        own = {key for key, setting in declared(type(self)).items() if setting.group == "Input"}
        names = own - {"missing", "delimiter"}
        return {n: value for n in sorted(names) if (value := getattr(self, n)) is not None}


class ColumnPart(Part):
    """One declared column."""

    role: Role
    kind: Annotated[
        Kind | None,
        Setting(
            "How a quasi-identifier is generalized: up its hierarchy, to intervals, or to sets of "
            "values; may be repeated.",
            f"COLUMN={'|'.join(Kind)}",
            rare=True,
        ),
    ] = None
    hierarchy: Annotated[str | None, Setting("The file of its hierarchy.", flag=None)] = None
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
            read=ordered_texts,
        ),
    ] = ()
    domain: Annotated[
        tuple[str, ...] | None,
        Setting(
            "Every value that a sensitive column can have, one a line, from which dummy values "
            "are drawn; may be repeated.",
            "NAME=FILE",
            rare=True,
            in_file="every value that a sensitive column can have; dummy values are drawn from it",
            of=(Role.SENSITIVE,),
        ),
    ] = None
    importance: Annotated[
        float,
        Field(gt=0, le=1_000_000, allow_inf_nan=False),
        Setting(
            "How much the loss of a column counts while rows are grouped, 1 for an ordinary one; "
            "may be repeated.",
            "COLUMN=NUMBER",
            rare=True,
        ),
    ] = 1.0
    grid: Annotated[
        str | float | None,
        Setting(
            "What the ends of an ordered column's intervals are multiples of: a number, for dates "
            "and times hour, day, week, month, quarter or year, or auto, or off; may be repeated.",
            "COLUMN=STEP",
            rare=True,
            read=limit_of,
        ),
    ] = None
    sets: Annotated[Sets | None, _SETS] = None
    within: Annotated[
        bool | None,
        Setting(
            "Columns that are published as they are, comma-separated: every promise holds inside "
            "each of their values.",
            "NAMES",
            in_file="true: published as it is, and every promise holds inside each of its values",
        ),
    ] = None
    coarsest: Annotated[
        int | float | str | None,
        Setting(
            "No cell of a column is coarser: a level of its hierarchy (0 is the values), or the "
            "width of an interval (10, month); may be repeated.",
            "COLUMN=LIMIT",
            rare=True,
            read=limit_of,
        ),
    ] = None
    finest: Annotated[
        int | float | str | None,
        Setting(
            "No cell of a column is finer: a level, or a width, as of --coarsest; may be repeated.",
            "COLUMN=LIMIT",
            in_file="no cell is finer: a level, or a width, as of coarsest",
            rare=True,
            read=limit_of,
        ),
    ] = None
    top: Annotated[
        float | None,
        Field(allow_inf_nan=False),
        Setting(
            "Numbers from here on are published as one, 90+; may be repeated.", "COLUMN=NUMBER"
        ),
    ] = None
    bottom: Annotated[
        float | None,
        Field(allow_inf_nan=False),
        Setting(
            "Numbers up to here are published as one, <=18; may be repeated.",
            "COLUMN=NUMBER",
            rare=True,
        ),
    ] = None
    allow_labels: Annotated[
        tuple[str, ...],
        Setting(
            "Labels of a hierarchy, with commas, released although they name a value that "
            "fewer than k people have; may be repeated.",
            "COLUMN=LABELS",
            rare=True,
            read=ordered_texts,
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
    why: Annotated[str | None, Setting("Why this promise.", flag=None)] = None


class ReleasePart(Part):
    """How the release is written."""

    typed: Annotated[
        bool,
        Setting(
            "Ordered columns, and those with a hierarchy of intervals, as two columns x_lo, x_hi.",
            flag="--typed/--text",
            group="Output",
        ),
    ] = False
    mid: Annotated[
        bool,
        Setting(
            "Typed, with a third column: the middle, x_mid.",
            flag="--mid/--no-mid",
            group="Output",
            rare=True,
        ),
    ] = False
    shuffle: Annotated[bool, Setting("Hide the order of the input; on by default.", flag=None)] = (
        True
    )
    csv_safe: Annotated[
        bool,
        Setting(
            "Put an apostrophe before texts of a CSV release that a spreadsheet would run as "
            "formulas (=, +, -, @); Shoal takes it off again.",
            flag="--csv-safe/--csv-plain",
            group="Output",
            rare=True,
        ),
    ] = False
    slack: Annotated[
        float,
        Field(ge=0, le=1, allow_inf_nan=False),
        Setting(
            "How likely a cell is published wider than it need be, so that it does not prove "
            "its ends: 0 (never, the default) to 1.",
            "P",
            rare=True,
        ),
    ] = 0.0
    sets: Annotated[Sets | None, _SETS] = None
    person_rows: Annotated[
        Literal["apart", "together"] | None,
        Setting(
            "together: all rows of a person are published with the same quasi-identifiers, which "
            "must not differ between them. [default: apart]",
            "apart|together",
            rare=True,
        ),
    ] = None
    pseudonym: Annotated[
        bool | None,
        Setting(
            "Like --person, and publish a keyed pseudonym in place of the column; all rows of a "
            "person are then together.",
            "NAME",
            rare=True,
            role=Role.PERSON,
            in_file="true: a keyed pseudonym in place of the column of persons, and all rows of a "
            "person together",
        ),
    ] = None
    suppress: Annotated[
        float | None,
        Field(ge=0, lt=1, allow_inf_nan=False),
        Setting(
            "The largest share of the rows that may be left out (1%), counted as loss: rows that "
            "no class can take within the limits.",
            "SHARE",
            read=share_of,
        ),
    ] = None
    as_in_paper: Annotated[
        bool | None,
        Setting(
            "Run the method exactly as its paper has it; what that sets is shown (see: shoal "
            "methods).",
            flag="--as-in-paper",
            group="Method",
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
