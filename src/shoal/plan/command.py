"""Turn a plan into a command line or a Python call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.base.roles import Role
from shoal.catalog import RULES
from shoal.plan.apply_changes import ROLES, Tree, arguments
from shoal.plan.parts import ColumnPart
from shoal.plan.setting import Setting, join_texts

_WIDE = 88
_NOT_SAID = {key: field.default for key, field in ColumnPart.model_fields.items()}


def arguments_of(own: Tree, old: Tree) -> dict[str, Any]:
    """Return the arguments that say what a final plan has and another one, which is empty, has not.

    The seed is left out: it is a secret.
    """
    given: dict[str, Any] = {
        role: names
        for role in ROLES
        if (names := [name for name, part in own["columns"].items() if part["role"] == role])
    }
    for name, tables in arguments().items():
        value: Any = None
        by_column: dict[str | None, Any] = {}
        for table in tables:
            if table == "columns":
                by_column |= {
                    column: part[name]
                    for column, part in own["columns"].items()
                    if name in part and part[name] != _NOT_SAID[name]
                }
            elif own.get(table, {}).get(name) != old.get(table, {}).get(name):
                value = own[table].get(name)
        if value is not None:
            given[name] = {None: value, **by_column} if by_column else value
        elif by_column:
            given[name] = by_column
    options = {key: value for key, value in own["method"].items() if key != "name"}
    return {**given, "method": own["method"]["name"], "options": options} | _promises(own["rules"])


def _promises(specs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arguments that ask for some rules, as far as there are any."""
    given: dict[str, Any] = {}
    for spec in specs:
        entry = RULES[spec["name"]]
        if entry.family:
            given[_argument(entry.family[0])] = entry.family[1]
        for flag, name in entry.flags:
            value = spec.get(name)
            if isinstance(value, (list, tuple)):
                value = [f"{spec.get('column')}={text}" for text in value]
            if value is not None and value is not False:
                given[_argument(flag)] = value
    return given


def _argument(flag: str) -> str:
    return flag.replace("-", "_")


def words_of(given: Mapping[str, Any]) -> list[str] | None:
    """Return the words by which a command is given some arguments; None if it cannot be."""
    named = arguments()
    # A flag that gives its column a role says it instead of the flag of the role.
    implied = {s.role for name in named.keys() & given.keys() for s in named[name].values()}
    words: list[str] = []
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if name in named:
            own = _setting_words(named[name], value, given)
        elif name in ROLES:
            own = [] if Role(name) in implied else _repeated(flag, [_listed(value)])
        elif name == "options":
            own = _repeated("--option", [f"{key}={_text(each)}" for key, each in value.items()])
        elif isinstance(value, (list, tuple)):
            own = _repeated(flag, value)
        else:
            own = [flag] if value is True else [flag, _text(value)]
        if own is None:
            return None
        words += own
    return words


def _setting_words(
    tables: Mapping[str, Setting], value: Any, given: Mapping[str, Any]
) -> list[str] | None:
    flagged = {table: setting for table, setting in tables.items() if setting.flag}
    wide = next((setting for table, setting in flagged.items() if table != "columns"), None)
    setting = flagged.get("columns") if isinstance(value, Mapping) or wide is None else wide
    if setting is None:
        return None
    flag = str(setting.flag)
    if value is False and setting.takes:
        return None  # the flag can only ask for it
    if setting.role is not None:
        return [flag, given[setting.role][0]] if given.get(setting.role) else None
    if not setting.takes:
        on, _, off = flag.partition("/")
        return [on if value else off]
    if setting.takes.endswith("=FILE") and not isinstance(next(iter(value.values())), Path):
        return None  # values that stand in no file
    if isinstance(value, Mapping) and setting.takes != "NAMES":
        return _repeated(flag, [_pair(name, own) for name, own in value.items()])
    if setting is wide:
        texts = [value] if isinstance(value, (str, Path, int, float)) else value
        return _repeated(flag, [_text(text) for text in texts if text != ""])
    return _repeated(flag, [_listed(list(value))]) if all(value.values()) else None


def _repeated(flag: str, texts: Sequence[str | None]) -> list[str] | None:
    words: list[str] = []
    for text in texts:
        if text is None:
            return None
        words += [flag, text]
    return words


def _pair(column: str | None, value: Any) -> str | None:
    """Write a setting of a column, or of all of them; None where it would be read as another."""
    text = _listed(value) if isinstance(value, (list, tuple)) else _text(value)
    if column is None or text is None:
        return text
    return None if "=" in text else f"{column}={text}"


def _listed(names: Sequence[str]) -> str | None:
    """Write names with commas between them."""
    return join_texts(names) if all(names) else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def call_of(data: str, given: Mapping[str, Any], *more: str) -> str:
    """Return the call in Python by which a table and arguments are given; ``more``: as written."""
    said = [repr(data), *(f"{name}={value!r}" for name, value in given.items()), *more]
    line = f"shoal.anonymize({', '.join(said)})"
    return line if len(line) <= _WIDE else "shoal.anonymize(\n    " + ",\n    ".join(said) + ",\n)"
