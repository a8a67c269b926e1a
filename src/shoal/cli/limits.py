"""Options that bound what cells may be published as, and how many rows may be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import ParameterError
from shoal.cli.options import named_pairs, split_names, with_flags

_FLAGS: dict[str, tuple[Any, str, str | None]] = {
    "within": (
        list[str],
        "Columns that are published as they are, comma-separated: every promise holds inside each "
        "of their values.",
        "NAMES",
    ),
    "coarsest": (
        list[str],
        "No cell of a column is coarser: a level of its hierarchy (0 is the values), or the width "
        "of an interval (10, month); may be repeated.",
        "COLUMN=LIMIT",
    ),
    "finest": (
        list[str],
        "No cell of a column is finer: a level, or a width, as of --coarsest; may be repeated.",
        "COLUMN=LIMIT",
    ),
    "top": (
        list[str],
        "Numbers from here on are published as one, 90+; may be repeated.",
        "COLUMN=NUMBER",
    ),
    "bottom": (
        list[str],
        "Numbers up to here are published as one, <=18; may be repeated.",
        "COLUMN=NUMBER",
    ),
    "suppress": (
        str,
        "The largest share of the rows that may be left out (1%), counted as loss: rows that no "
        "class can take within the limits.",
        "SHARE",
    ),
}


@dataclass(frozen=True)
class Restricted:
    """What was asked for: ``settings`` of columns, as a plan takes them, and a budget of rows."""

    settings: Mapping[str, Mapping[str, Any]]
    suppress: str | None = None


def with_limits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of limits, handed over as ``limits``."""
    return with_flags(command, _FLAGS, "limits", _read)


def _read(values: Mapping[str, Any]) -> Restricted:
    settings: dict[str, Mapping[str, Any]] = {}
    for flag in ("coarsest", "finest"):
        meant = "COLUMN=LIMIT, each column once: a level of its hierarchy, or a width"
        settings[flag] = named_pairs(values[flag], flag, meant)
    for flag in ("top", "bottom"):
        meant = "COLUMN=NUMBER, each column once"
        pairs = named_pairs(values[flag], flag, meant)
        settings[flag] = {name: _number(flag, name, text) for name, text in pairs.items()}
    named = split_names(values["within"], ()) or []
    return Restricted({**settings, "within": dict.fromkeys(named, True)}, values["suppress"])


def _number(flag: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"--{flag} takes COLUMN=NUMBER. Got {text!r} for {name!r} instead."
        ) from None
