"""Which arguments a function takes: those that are declared, and those of settings and rules."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from shoal.api.setting_arguments import (
    ColumnArguments,
    PromiseArguments,
    ReadingArguments,
    ReleaseArguments,
)
from shoal.plan.changing import arguments, promise_arguments, unknown_argument
from shoal.plan.setting import Setting

Function = TypeVar("Function", bound=Callable[..., Any])

_TABLES: dict[Any, str] = {
    ReadingArguments: "data",
    ColumnArguments: "columns",
    ReleaseArguments: "release",
}


def names_of(*of: Any) -> dict[str, str]:
    """Return the arguments of some classes by name, each with its type as it is written.

    With all arguments of a table of the plan go those that the table has by now, and with those of
    the promise the flags of every rule.
    """
    found: dict[str, str] = {}
    for each in of:
        types = {n: getattr(own, "__forward_arg__", own) for n, own in each.__annotations__.items()}
        more = [
            name
            for part, table in _TABLES.items()
            if types.keys() >= part.__annotations__.keys()
            for name, tables in arguments().items()
            if next(iter(tables)) == table
        ]
        if types.keys() >= PromiseArguments.__annotations__.keys():
            more += promise_arguments()
        found |= dict.fromkeys(more, "Any") | types
    return found


def parted(given: Mapping[str, Any], of: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part arguments into those of opening and those of the verb."""
    opening = names_of(of)
    return (
        {key: value for key, value in given.items() if key in opening},
        {key: value for key, value in given.items() if key not in opening},
    )


def _described(text: str) -> str:
    """Put what the settings of a table mean where a docstring names it in braces."""

    def meant(match: re.Match[str]) -> str:
        margin, table = match.groups()
        return "".join(
            textwrap.indent(f"{name}\n{_filled(table, tables[table])}\n", margin)
            for name, tables in arguments().items()
            if table in tables and next(iter(tables)) == table
        )

    return re.sub(r"^( *)\{(\w+)\}\n", meant, text, flags=re.MULTILINE)


def _filled(table: str, setting: Setting) -> str:
    """Return what a setting means, as the text of a parameter."""
    text = setting.meaning
    if setting.takes == "NAMES":
        text = setting.help.replace(", comma-separated", "").rstrip(".")
    elif table == "columns":
        text = f"By column: {text}"
    if not re.match(r"\w+:", text):
        text = f"{text[0].upper()}{text[1:]}"
    return textwrap.fill(f"{text}.", 92, initial_indent="    ", subsequent_indent="    ")


def signed(
    *of: Any, like: Callable[..., Any] | None = None, **defaults: Any
) -> Callable[[Function], Function]:
    """Give a function a signature that writes out its ``**given``, for help() and editors.

    An argument that is not in it is refused by name, with the nearest that is.

    ``of``: the classes of its arguments. ``like``: a function that it hands them on to, whose own
    are written out, too. ``defaults``: of arguments whose default is not None.
    """

    def sign(function: Function) -> Function:
        own = inspect.signature(function).parameters
        handed = {} if like is None else inspect.signature(like).parameters
        known = [p for p in own.values() if p.kind is not p.VAR_KEYWORD]
        known += [p for n, p in handed.items() if p.kind is p.KEYWORD_ONLY and n not in own]
        names = {parameter.name for parameter in known}
        known += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=own
            )
            for name, own in names_of(*of).items()
            if name not in names
        ]
        returned = inspect.signature(function).return_annotation
        signature = inspect.Signature(known, return_annotation=returned)

        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            if unknown := sorted(given.keys() - signature.parameters.keys()):
                raise unknown_argument(function.__qualname__, unknown[0], signature.parameters)
            return function(*args, **given)

        checked.__doc__ = _described(function.__doc__ or "")
        checked.__signature__ = signature  # type: ignore[attr-defined]
        return cast(Function, checked)

    return sign
