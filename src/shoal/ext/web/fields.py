"""Make and read form fields for the settings of a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import NoneType
from typing import Any, get_args

from shoal.base.errors import ParameterError
from shoal.base.roles import Role
from shoal.plan.parts import LIMITS, TABLES
from shoal.plan.setting import declared_settings, join_texts, ordered_texts

LAID_OUT = ("kind", "hierarchy", "importance", "grid", *LIMITS)
"""Settings of a column that the page lays out by hand; all others are listed."""


def keys_of(role: str) -> list[str]:
    """Return the settings that a column of some role may have."""
    return [
        key for key, own in declared_settings(TABLES["columns"]).items() if Role(role) in own.of
    ]


def controls(
    table: str, values: Mapping[str, Any], keys: Collection[str], before: str = "", after: str = ""
) -> list[dict[str, Any]]:
    """Describe the control of every setting; ``before`` and ``after`` its key make its name."""
    return [
        {
            "id": f"{before}{key}{after}".replace(".", "-"),
            "name": f"{before}{key}{after}",
            "label": key.replace("_", " "),
            "meaning": own.meaning,
            "kind": "checkbox" if _is_switch(table, key) else "select" if words else "text",
            "value": field_value(table, key, values),
            "choices": ["", *words],
            "blank": "as usual",
            "step": "any",
        }
        for key, own in declared_settings(TABLES[table]).items()
        if key in keys
        for words in [_words(table, key)]
    ]


def read(
    table: str,
    old: Mapping[str, Any],
    keys: Collection[str],
    form: Mapping[str, str],
    before: str = "",
    after: str = "",
) -> dict[str, Any]:
    """Return settings with those that a form changes; empty: not set."""
    new = dict(old)
    for key in keys:
        if (text := form.get(f"{before}{key}{after}")) is not None:
            was = str(field_value(table, key, old)).splitlines()
            if "".join(text.splitlines()) == "".join(was):
                continue  # the plan may say more than a field shows: more digits, spaces, lines
            value = _value(table, key, text.strip())
            new[key] = value
            if value in ("", _default(table, key)):
                del new[key]
    return new


def _value(table: str, key: str, text: str) -> Any:
    """Return what a plan holds for a text; what cannot be read, the plan says what is wrong."""
    setting = declared_settings(TABLES[table])[key]
    if _is_switch(table, key):
        return bool(text) or (False if _default(table, key) else "")
    if not text:
        return ""
    if setting.read is not None:
        try:
            return setting.read(text)
        except ParameterError:
            return text
    kinds = _kinds(table, key)
    if "tuple" in str(kinds):
        return ordered_texts(text)
    try:
        return float(text) if kinds == (float,) else text
    except ValueError:
        return text


def _kinds(table: str, key: str) -> tuple[Any, ...]:
    annotation = TABLES[table].model_fields[key].annotation
    kinds = get_args(annotation) if "tuple" not in str(annotation) else ()
    return tuple(kind for kind in kinds or (annotation,) if kind is not NoneType)


def _is_switch(table: str, key: str) -> bool:
    return _kinds(table, key) == (bool,)


def _default(table: str, key: str) -> Any:
    return TABLES[table].model_fields[key].default


def _words(table: str, key: str) -> list[str]:
    """Return the words that a setting may be, or that are offered; empty if it is no choice."""
    kinds, offered = _kinds(table, key), declared_settings(TABLES[table])[key].offers
    words = [word for kind in kinds for word in (kind, *get_args(kind)) if isinstance(word, str)]
    return list(offered) or words


def field_value(table: str, key: str, values: Mapping[str, Any]) -> Any:
    """Return what the field of a setting shows."""
    value = values.get(key, _default(table, key))
    takes = declared_settings(TABLES[table])[key].takes
    if isinstance(value, (list, tuple)):
        return join_texts(value)
    if isinstance(value, float):
        return f"{100 * value:g}%" if takes == "SHARE" and value else f"{value:g}"
    return "" if value is None else value
