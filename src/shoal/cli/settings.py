"""Make command line options from the settings that a plan declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.base.errors import ParameterError
from shoal.base.roles import Role
from shoal.cli.options import (
    MaxUnpacked,
    Notation,
    PlanFile,
    Query,
    QueryFile,
    SecondTable,
    Table,
    TrustPlan,
    located,
    named_pairs,
    split_names,
    with_options,
)
from shoal.plan.apply_changes import ROLES, arguments
from shoal.plan.parts import TABLES
from shoal.plan.plan import Plan
from shoal.plan.setting import Setting
from shoal.tables.source import Place, Source

PLACE = ("table", "query", "query_file")
OPENING: dict[str, dict[str, Any]] = {
    "plan": {"plan": PlanFile, "trust_plan": TrustPlan},
    "place": {"table": Table, "query": Query, "query_file": QueryFile},
    "release": {"st": SecondTable, "notation": Notation},
}
"""What opens a table or a release and is no setting: its plan, its place, what goes with it."""
TABLE = ("plan", "place", "Input", "hierarchies")
"""What is said of a table: its plan, where it is, how it is read."""
RELEASED = ("plan", "release", "quasi", "sensitive", "person", "hierarchies", "domain", "Input")
"""What is said of a published table: its columns, and how it and its original are read."""


@dataclass(frozen=True)
class GivenOptions:
    """What flags give, by the names of arguments; names of columns are words still."""

    values: Mapping[str, Any]
    opening: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plan_file(self) -> Path | None:
        """The plan that is named."""
        return self.opening.get("plan")

    @property
    def trust(self) -> bool:
        """Whether the plan may lead out of its folder."""
        return bool(self.opening.get("trust_plan"))

    def plan(self) -> Plan:
        """Return the plan that is named, with what can be said before the columns are known."""
        from shoal.tables.open_table import merge_plan

        return merge_plan(self.plan_file, trust=self.trust, **self.early)

    def located(self, data: Place | None, plan: Plan) -> Path | Source:
        """Return the table that the words of the command and the plan mean together."""
        return located(data, plan, *(self.opening.get(name) for name in PLACE))

    @property
    def released(self) -> dict[str, Any]:
        """How another tool wrote columns of a release, as it is opened with."""
        meant = "COLUMN=FORM, such as 'age=LO to HI'"
        words = self.opening.get("notation")
        return {"notations": named_pairs(words, "notation", meant)}

    @property
    def early(self) -> dict[str, Any]:
        """What can be said before the columns of the table are known."""
        return {
            name: value[None] if self._of_columns(name) else value
            for name, value in self.values.items()
            if name not in ROLES and (not self._of_columns(name) or None in value)
        }

    def late(self, *more: str) -> Callable[[Sequence[str]], dict[str, Any]]:
        """Return what reads the rest once the columns are known; ``more``: more of them."""

        def read(columns: Sequence[str]) -> dict[str, Any]:
            given = self.every([*columns, *more])
            return {
                name: {n: own for n, own in value.items() if n is not None}
                if self._of_columns(name)
                else value
                for name, value in given.items()
                if name in ROLES or self._of_columns(name)
            }

        return read

    def every(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return all of it, once the columns of the table are known."""
        return {
            name: split_names(value, columns, name) if name in ROLES else value
            for name, value in self.values.items()
        }

    def _of_columns(self, name: str) -> bool:
        """Tell whether it is said of single columns; under None stands what holds for all."""
        return isinstance(self.values[name], Mapping)


def with_settings(*wanted: str, **helps: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the flags of some settings and roles, handed over as ``given``.

    ``wanted``: names of arguments, of groups of them, or of :data:`OPENING`; all without any, as a
    table is opened. ``helps``: what some mean for this command.
    """
    groups = {setting.group for tables in arguments().values() for setting in tables.values()}
    if unknown := {*wanted, *helps} - {*OPENING, *ROLES, *arguments(), *groups}:
        raise ValueError(f"No setting, role or group of settings is called {unknown.pop()!r}.")

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        chosen: dict[str, tuple[str, Setting]] = {}
        shared = {"max_unpacked": MaxUnpacked}
        for name, flags in OPENING.items():
            if name in wanted or (not wanted and name != "release"):
                shared |= flags
        options: dict[str, Any] = dict(shared)
        for role in map(Role, ROLES):
            if not wanted or role in wanted:
                word = "NAME" if role is Role.PERSON else "NAMES"
                help_ = f"{role.meaning[0].upper()}{role.meaning[1:]}; {role.outcome}."
                options[role.value] = _option(list[str], Setting(help_, word, f"--{role}"))
        for name, tables in arguments().items():
            for table, setting in tables.items():
                asked = not wanted or {name, setting.group} & {*wanted}
                if asked and setting.flag and name not in chosen:
                    own = replace(setting, help=helps.get(name, setting.help))
                    chosen[name] = table, own
                    options[name] = _option(_type(table, name, own), own)

        def read(values: dict[str, Any]) -> GivenOptions:
            opening = {name: values.pop(name) for name in shared}
            given = {name: value for name, value in values.items() if value is not None}
            for name in given.keys() & chosen.keys():
                table, setting = chosen[name]
                given[name] = _value(table, setting, given[name])
                if setting.role is not None:
                    given[setting.role.value] = _whose(given, setting, given[name])
                    given[name] = True
            return GivenOptions(given, opening)

        return with_options(command, options, "given", read)

    return wrap


def _option(kind: Any, setting: Setting) -> Any:
    word = None if kind is bool else setting.takes
    return Annotated[kind | None, typer.Option(setting.flag, help=setting.help, metavar=word)]


def _type(table: str, key: str, setting: Setting) -> Any:
    """Return what the command line reads: a number, a path, a text, or several texts."""
    kind = str(TABLES[table].model_fields[key].annotation)
    if table == "columns" or "tuple" in kind:
        return list[str]
    if not setting.takes:
        return bool
    if setting.takes == "DIR":
        return Path
    return float if "float" in kind and setting.read is None else str


def _value(table: str, setting: Setting, words: Any) -> Any:
    """Return what the words of a flag mean as an argument."""
    if table != "columns":
        return words
    flag, takes = str(setting.flag).removeprefix("--"), setting.takes
    if "=" not in takes:
        return dict.fromkeys(split_names(words, (), flag) or (), True)
    wide = [text for text in words if "=" not in text] if takes.startswith("[") else []
    if len(wide) > 1:
        raise ParameterError(
            f"--{flag} takes one word for all columns. Got {', '.join(wide)}. Say of one column: "
            f"COLUMN={wide[1]}."
        )
    meant = f"{takes}, each column once"
    pairs = named_pairs([text for text in words if text not in wide], flag, meant)
    everywhere = dict.fromkeys([None] if wide else [], *wide)
    return everywhere | {name: _own(flag, takes, name, text) for name, text in pairs.items()}


def _own(flag: str, takes: str, name: str, text: str) -> Any:
    if takes.endswith("=FILE"):
        return Path(text)
    if not takes.endswith("=NUMBER"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"--{flag} takes {takes}. Got {text!r} for {name!r} instead."
        ) from None


def _whose(given: Mapping[str, Any], setting: Setting, name: str) -> list[str]:
    """Return the column that a flag gives a role, which another flag may give no other column."""
    role = str(setting.role)
    if given.get(role) not in (None, [name]):
        raise ParameterError(
            f"--{role} names {', '.join(map(repr, given[role]))} and {setting.flag} {name!r}. One "
            f"column has this role: leave --{role} out."
        )
    return [name]
