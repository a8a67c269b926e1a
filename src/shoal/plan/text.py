"""Write a plan as commented TOML, and find the lines of its keys."""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.base.roles import Role
from shoal.plan.parts import TABLES
from shoal.plan.setting import declared_settings

_HEAD = """\
# A Shoal plan: everything that repeats a run.
#   shoal anonymize DATA --plan THIS_FILE -o OUT
"""
_SEED = """
# With a seed the same input gives the same bytes. It also tells the order of the rows, so keep it
# to yourself, and take a long one: short ones can be found by trying. Better than here it stands in
# a file of yours (--seed-file). Without a seed, randomness comes from the operating system.
"""
_DATA = "\n# How the table is read:\n"
_COLUMNS = """
# Columns that are not listed are not published. Roles:
{roles}\
# Kinds of a quasi-identifier: taxonomy (has a hierarchy), ordered (numbers, dates), set (names).
# Other keys of a column:
""".format(roles="".join(f"#   {r.value:<12}{r.meaning}: {r.outcome}\n" for r in Role))
_METHOD = "\n# How classes are formed; its options stand next to the name (see: shoal methods).\n"
_RULES = "\n# What every class has to promise; repeat the table for more rules.\n"
_RELEASE = "\n# How the release is made:\n"
_EVIDENCE = "\n# For the report that is signed; no run depends on it ([evidence]):\n"


def _keys(table: str) -> str:
    """Say in comments what the keys of a table mean."""
    return "".join(
        textwrap.fill(
            f"{key}: {setting.meaning}",
            100,
            initial_indent="#   ",
            subsequent_indent="#     ",
        )
        + "\n"
        for key, setting in declared_settings(TABLES[table]).items()
    )


def write(tree: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    """Write a plan's plain data as TOML with comments."""
    seed = f"seed = {tree['seed']}\n" if "seed" in tree else "# seed = 1\n"
    parts = [_HEAD, _SEED, seed, _DATA, _keys("data"), _table("data", tree["data"])]
    parts += [_COLUMNS, _keys("columns"), "\n"]
    for name, column in tree["columns"].items():
        reason = reasons.get(name)
        comment = f"# {_one_line(reason)}\n" if reason else ""
        parts += [comment, _table(f"columns.{_key(name)}", column)]
    parts += [_METHOD, _table("method", tree["method"]), _RULES]
    parts += [_table("rules", rule, array=True) for rule in tree["rules"]]
    parts += [_RELEASE, _keys("release"), _table("release", tree["release"])]
    parts += [_EVIDENCE, _keys("evidence")]
    parts += [_table("evidence", tree["evidence"]) if "evidence" in tree else ""]
    return "".join(parts).replace("\n\n\n", "\n\n").rstrip() + "\n"


def find_line(text: str, loc: Sequence[Any]) -> int | None:
    """Return the line on which the key ``loc`` stands, or that of its nearest table.

    A plan is read by ``tomllib``, which keeps no positions; headers and keys of single lines are
    found again here, which is enough for a file that people write.
    """
    wanted = tuple(str(part) for part in loc)
    table: tuple[str, ...] = ()
    seen: dict[tuple[str, ...], int] = {}
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = _path(bare)
            if bare.startswith("[["):
                count = seen.get(table, -1) + 1
                seen[table] = count
                table = (*table, str(count))
            named = table
        elif "=" in bare and not bare.startswith("#"):
            named = (*table, *_path(bare.partition("=")[0] + "= 0"))
        else:
            continue
        depth = len(named)
        if depth and named == wanted[:depth] and (best is None or depth > best[0]):
            best = (depth, number)
    return best[1] if best else None


def _path(line: str) -> tuple[str, ...]:
    """Return the keys that a header or ``key = 0`` names, by asking the TOML reader."""
    try:
        tree: Any = tomllib.loads(line)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()
    keys: list[str] = []
    while True:
        if isinstance(tree, list):
            tree = tree[0]
        if not isinstance(tree, dict) or not tree:
            return tuple(keys)
        key, tree = next(iter(tree.items()))
        keys.append(key)


def _one_line(text: str) -> str:
    """Return text that can stand in a comment: no line ends, no control characters."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


def _table(name: str, values: Mapping[str, Any], *, array: bool = False) -> str:
    header = f"[[{name}]]" if array else f"[{name}]"
    first = [key for key in ("name", "role") if key in values]  # what the table is about
    rest = [key for key in values if key not in first]
    lines = [f"{_key(key)} = {_value(values[key])}" for key in (*first, *rest)]
    return "\n".join([header, *lines]) + "\n\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "a").replace("_", "a").isalnum()
    return name if bare else _text(name)


def _text(value: str) -> str:
    # A TOML basic string is a JSON string but for DEL, which JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_value(own)}' for key, own in value.items())}}}"
    return repr(value)
