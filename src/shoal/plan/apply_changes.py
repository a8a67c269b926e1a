"""Apply arguments and flags to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.base.errors import PlanError, suggest_nearest
from shoal.base.roles import Role
from shoal.catalog import DEFAULT_RULE
from shoal.plan.parts import TABLES
from shoal.plan.rule_specs import rule_flags, rule_spec, rules_asked, smallest_class
from shoal.plan.setting import Setting, declared_settings, listed_names
from shoal.privacy import flatten

Tree = dict[str, Any]
ROLES = tuple(role.value for role in Role if role is not Role.UNDECIDED)


def arguments() -> dict[str, dict[str, Setting]]:
    """Return by the name of an argument, which is its key, the tables that have it."""
    named: dict[str, dict[str, Setting]] = {}
    for table, part in TABLES.items():
        for key, own in declared_settings(part).items():
            if own.flag is not None:
                named.setdefault(key, {})[table] = own
    return named


def promise_arguments() -> list[str]:
    """Return the names that the flags of the rules have as arguments."""
    return [flag.replace("-", "_") for flag in rule_flags()]


def collect_changes(given: Mapping[str, Any]) -> Tree:
    """Return what the arguments of a call, or flags, change in a plan; None: not given.

    ``roles`` are all columns of a role, ``promised`` the rules that flags ask for, by the names of
    the flags (``l_kind``), and ``rules`` take the place of all that the plan has.
    """
    named = arguments()
    tree: Tree = {"roles": {}, "columns": {}, "method": {}}
    promise: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in ROLES:
            tree["roles"][name] = listed_names(value)
        elif name in named:
            _place(tree, name, named[name], value)
        elif name == "seed":
            tree["seed"] = value
        elif name == "rules":
            rules = value if isinstance(value, Sequence) else [value]
            tree["rules"] = [spec for rule in flatten(rules) if (spec := rule_spec(rule))]
        elif name in ("method", "effort"):
            tree["method"]["name" if name == "method" else name] = value
        elif name == "options":
            tree["method"] = {**value, **tree["method"]}
        elif name == "promised":
            tree[name] = [*value]
        elif name in promise_arguments():
            promise[name.replace("_", "-")] = value
        else:
            raise unknown_argument("changes", name, _known(named))
    tree["promised"] = [*tree.get("promised", ()), *rules_asked(promise)]
    return tree


def _known(settings: Iterable[str]) -> list[str]:
    return [*ROLES, *settings, *promise_arguments(), "seed", "rules", "method", "effort", "options"]


def unknown_argument(function: str, name: str, known: Iterable[str]) -> TypeError:
    """Return what Python says of an argument that nobody declared, and the nearest that is."""
    said = f"{function}() got an unexpected keyword argument {name!r}."
    return TypeError(said + suggest_nearest(name, known))


def _place(tree: Tree, key: str, tables: Mapping[str, Setting], value: Any) -> None:
    """Put a value where it belongs: under columns if it is a mapping, where None means all."""
    wide = next((table for table in tables if table != "columns"), None)
    if wide is not None and ("columns" not in tables or not isinstance(value, Mapping)):
        tree.setdefault(wide, {})[key] = tables[wide].value(value)
        return
    setting = tables["columns"]
    by_column = value if isinstance(value, Mapping) else dict.fromkeys(listed_names(value), True)
    for column, own in by_column.items():
        if column is None and wide is not None:
            _place(tree, key, {wide: tables[wide]}, own)
        else:
            tree["columns"].setdefault(column, {})[key] = setting.value(own)


def apply_changes(own: Tree, tree: Tree, *, default_rule: bool) -> Tree:
    """Return a plan's plain data with changes; ``default_rule``: its rule is nobody's choice.

    Another method starts with its own defaults.
    """
    new = {**own, "columns": _columns(own["columns"], tree)}
    for table in TABLES.keys() - {"columns"}:
        if tree.get(table):
            new[table] = {**own.get(table, {}), **tree[table]}
    if "seed" in tree:
        new["seed"] = tree["seed"]
    method = tree.get("method", {})
    same = method.get("name", own["method"]["name"]) == own["method"]["name"]
    new["method"] = {**own["method"], **method} if same else method
    if "rules" in tree:
        new["rules"], default_rule = tree["rules"], False
    if promised := tree.get("promised"):
        new["rules"] = _rules([] if default_rule else new["rules"], promised)
    return new


def _rules(rules: Sequence[Tree], promised: Sequence[Mapping[str, Any]]) -> list[Tree]:
    """Return rules with others in place of those of the same name and column."""
    new = [dict(rule) for rule in rules]
    for rule in promised:
        same = [
            old
            for old in new
            if old["name"] == rule["name"] and old.get("column") == rule.get("column")
        ]
        if same:
            same[0].update(rule)
        elif not _included(rule, promised):
            new.append(dict(rule))
    return new


def _included(rule: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether k-anonymity is part of another rule asked for with it, as of (alpha, k)."""
    own = smallest_class([rule])
    return rule["name"] == DEFAULT_RULE and any(
        0 < own <= smallest_class([other]) for other in rules if other is not rule
    )


def _columns(own: Mapping[str, Tree], tree: Tree) -> Tree:
    """Return the columns with other roles and settings.

    A column that is published as it is, with every promise kept inside its values, is a
    quasi-identifier unless another role is given. A word on sets for the whole release holds for
    every column.
    """
    columns = {name: dict(part) for name, part in own.items()}
    roles = tree.get("roles", {})
    _one_role_each(roles)
    for role, names in roles.items():
        columns = {k: part for k, part in columns.items() if part["role"] != role or k in names}
        for name in names:
            columns[name] = {**columns.get(name, {}), "role": role}
    if "sets" in tree.get("release", {}):
        for part in columns.values():
            part.pop("sets", None)
    some = bool(columns)
    for name, settings in tree.get("columns", {}).items():
        if name not in columns and (settings.get("role") or (some and settings.get("within"))):
            columns[name] = {"role": Role.QUASI.value}
        if name not in columns:
            raise PlanError(
                f"The {next(iter(settings))} of column {name!r} was given, and the column has no "
                "role. Give it one; columns with a role: "
                f"{', '.join(map(repr, columns)) or 'none'}.{suggest_nearest(name, columns)}"
            )
        columns[name] |= settings
    return columns


def _one_role_each(roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse a column named under two roles: guessing which is meant could publish it."""
    played: dict[str, list[str]] = {}
    for role, names in roles.items():
        for name in dict.fromkeys(names):
            played.setdefault(name, []).append(str(role))
    faults = [
        f"Column {name!r} has {len(both)} roles ({', '.join(both)}). Choose one."
        for name, both in played.items()
        if len(both) > 1
    ]
    if faults:
        raise PlanError(faults)
