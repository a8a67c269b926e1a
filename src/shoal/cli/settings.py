"""Options made from the settings that a plan declares, and what they say of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.base.errors import ParameterError
from shoal.cli.options import named_pairs, split_names, with_options
from shoal.plan.changing import ROLES, arguments
from shoal.plan.parts import TABLES
from shoal.plan.setting import Setting

_ROLES = {
    "quasi": ("NAMES", "Quasi-identifiers, comma-separated: what others may know."),
    "sensitive": ("NAMES", "Sensitive columns: what nobody should learn of a person."),
    "identifier": ("NAMES", "Columns that name a person; never released."),
    "other": ("NAMES", "Harmless columns, released as they are."),
    "person": (
        "NAME",
        "The column that says whose row it is: k counts different people; never released.",
    ),
}

RELEASED = ("quasi", "sensitive", "person", "hierarchies", "domains", "Input")
"""What is said of a published table: its columns, and how it and its original are read."""


@dataclass(frozen=True)
class Given:
    """What flags give, by the names of arguments; names of columns are words still."""

    values: Mapping[str, Any]

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
            name: split_names(value, columns) if name in ROLES else value
            for name, value in self.values.items()
        }

    def _of_columns(self, name: str) -> bool:
        """Tell whether it is said of single columns; under None stands what holds for all."""
        return isinstance(self.values[name], Mapping)


def with_settings(*wanted: str, **helps: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the flags of some settings and roles, handed over as ``given``.

    ``wanted``: names of arguments, or of groups of them; all without any. ``helps``: what some mean
    for this command.
    """

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        chosen: dict[str, tuple[str, str, Setting]] = {}
        options: dict[str, Any] = {}
        for role, (word, meaning) in _ROLES.items():
            if not wanted or role in wanted:
                options[role] = _option(list[str], Setting(meaning, word, f"--{role}"))
        for name, tables in arguments().items():
            for table, (key, setting) in tables.items():
                asked = not wanted or {name, setting.group} & {*wanted}
                if asked and setting.flag and name not in chosen:
                    own = replace(setting, help=helps.get(name, setting.help))
                    chosen[name] = table, key, own
                    options[name] = _option(_type(table, key, own), own)

        def read(values: dict[str, Any]) -> Given:
            given = {name: value for name, value in values.items() if value is not None}
            for name in given.keys() & chosen.keys():
                table, _, setting = chosen[name]
                given[name] = _value(table, setting, given[name])
                if setting.role is not None:
                    given[setting.role.value] = _whose(given, setting, given[name])
                    given[name] = True
            return Given(given)

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
        return dict.fromkeys(split_names(words, ()) or (), True)
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
