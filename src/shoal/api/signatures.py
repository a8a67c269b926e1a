"""Build the signatures and docstrings of public functions from the declared arguments."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, TypeVar, cast

from shoal.api.setting_arguments import (
    ColumnArguments,
    DataArguments,
    PromiseArguments,
    ReadingArguments,
    ReleaseArguments,
)
from shoal.plan.apply_changes import arguments, promise_arguments, unknown_argument
from shoal.plan.rule_specs import rule_flags
from shoal.plan.setting import Setting

Function = TypeVar("Function", bound=Callable[..., Any])

_HEAD = "Parameters\n----------\n"
_TABLES: dict[Any, str] = {
    ReadingArguments: "Input",
    DataArguments: "data",
    ColumnArguments: "columns",
    ReleaseArguments: "release",
}


def _is_of(tables: Mapping[str, Setting], part: str) -> bool:
    """Tell whether an argument is of a table of the plan, or of a group of settings."""
    table, setting = next(iter(tables.items()))
    return part in (table, setting.group)


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
            if _is_of(tables, table)
        ]
        if types.keys() >= PromiseArguments.__annotations__.keys():
            more += promise_arguments()
        found |= dict.fromkeys(more, "Any") | types
    return found


def split_arguments(given: Mapping[str, Any], of: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part arguments into those of opening and those of the verb."""
    opening = names_of(of)
    return (
        {key: value for key, value in given.items() if key in opening},
        {key: value for key, value in given.items() if key not in opening},
    )


def _described(
    function: Callable[..., Any], taken: Container[str], before: Iterable[Any], after: Iterable[Any]
) -> str:
    """Return a docstring that says what every argument means, each where it is declared.

    A name in braces stands for the settings of that table of the plan, or of that group,
    ``{promise}`` for the flags of the rules. What others say of arguments that are ``taken`` goes
    before or after the own ones.
    """
    text = re.sub(r"^\{(\w+)\}$", _settings, inspect.cleandoc(function.__doc__ or ""), flags=re.M)
    own = _entries(text)
    known = {name for names in own for name in names}
    found: list[dict[tuple[str, ...], str]] = [{}, own, {}]
    for place, others in ((0, before), (2, after)):
        for other in others:
            for names, meaning in _entries(inspect.cleandoc(other.__doc__)).items():
                if left := tuple(name for name in names if name in taken and name not in known):
                    found[place][left] = meaning
                    known |= {*left}
    first, *sections = re.split(r"^(?=\w+\n-+$)", text, flags=re.M)
    entries = [f"{', '.join(n)}\n{what}" for each in found for n, what in each.items()]
    rest = [section for section in sections if not section.startswith(_HEAD)]
    return "\n".join([f"{first.rstrip()}\n", _HEAD + "".join(entries), *rest]).rstrip()


def _entries(text: str) -> dict[tuple[str, ...], str]:
    """Return what a docstring says of arguments, by their names."""
    body = f"{text}\n".partition(_HEAD)[2]
    body = re.split(r"^\w+\n-+$", body, maxsplit=1, flags=re.M)[0]
    found = re.findall(r"^(\w[\w, ]*)\n((?: {4}.*\n)+)", body, flags=re.M)
    return {tuple(names.split(", ")): meaning for names, meaning in found}


def _settings(table: re.Match[str]) -> str:
    if table[1] == "promise":
        meant = {
            flag.replace("-", "_"): _wrapped(re.sub(r"--(\w+)", r"``\1``", param.meaning))
            for flag, param in rule_flags().items()
        }
    else:
        meant = {
            name: _filled(*next(iter(tables.items())))
            for name, tables in arguments().items()
            if _is_of(tables, table[1])
        }
    return "\n".join(f"{name}\n{text}" for name, text in meant.items())


def _filled(table: str, setting: Setting) -> str:
    """Return what a setting means, as the text of a parameter."""
    text = setting.meaning
    if setting.takes == "NAMES":
        text = setting.help.replace(", comma-separated", "").rstrip(".")
    elif table == "columns":
        text = f"By column: {text}"
    return _wrapped(text)


def _wrapped(text: str) -> str:
    if not re.match(r"[\w-]+:", text):
        text = f"{text[0].upper()}{text[1:]}"
    return textwrap.fill(f"{text}.", 92, initial_indent="    ", subsequent_indent="    ")


def with_signature(
    *of: Any,
    opens: Callable[..., Any] | None = None,
    like: Callable[..., Any] | None = None,
    **defaults: Any,
) -> Callable[[Function], Function]:
    """Give a function a signature that writes out its ``**given``, for help() and editors.

    An argument that is not in it is refused by name, with the nearest that is. Their order is that
    in which the docstring explains them.

    ``of``: the classes of its arguments. ``like``: a function that it hands them on to, whose own
    are written out, too. ``opens``: the function that opens what it works on; both say what the
    arguments mean. ``defaults``: of arguments whose default is not None.
    """

    def sign(function: Function) -> Function:
        own = inspect.signature(function).parameters
        handed = {} if like is None else inspect.signature(like).parameters
        keyword = inspect.Parameter.KEYWORD_ONLY
        taken = {
            name: inspect.Parameter(name, keyword, default=defaults.get(name), annotation=kind)
            for name, kind in names_of(*of).items()
        }
        taken |= {name: each for name, each in handed.items() if each.kind is keyword}
        taken |= {name: each for name, each in own.items() if each.kind is not each.VAR_KEYWORD}
        text = _described(function, taken, filter(None, (opens, like)), of)
        said = [name for each in _entries(text) for name in each]
        place = {name: at for at, name in enumerate(said)}  # a new rule's may not be said yet
        known = sorted(
            taken.values(),
            key=lambda p: (p.kind, p.kind is keyword and place.get(p.name, len(place))),
        )
        returned = inspect.signature(function).return_annotation
        signature = inspect.Signature(known, return_annotation=returned)

        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            if unknown := sorted(given.keys() - signature.parameters.keys()):
                raise unknown_argument(function.__qualname__, unknown[0], signature.parameters)
            return function(*args, **given)

        checked.__doc__ = text
        checked.__signature__ = signature  # type: ignore[attr-defined]
        return cast(Function, checked)

    return sign
