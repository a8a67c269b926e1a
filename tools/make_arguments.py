"""Write src/shoal/api/setting_arguments.py: the types of the arguments that settings have.

Run `make docs` after a change of a setting or of a rule's flag; a test fails while the file is out
of date.
"""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from shoal.plan.apply_changes import arguments
from shoal.plan.parts import LIMITS, TABLES
from shoal.plan.rule_specs import rule_flags
from shoal.plan.setting import Setting

TARGET = Path(__file__).parent.parent / "src" / "shoal" / "api" / "setting_arguments.py"
HEAD = '''\
"""The arguments that settings and flags of rules have in Python. Made by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from shoal.base.roles import Kind
    from shoal.tables.find_hierarchies import Hierarchies
    from shoal.tables.open_table import Names
'''
CLASSES = {
    "Input": ("ReadingArguments", "TypedDict", "How a table is read"),
    "data": ("DataArguments", "ReadingArguments", "How a table is read, and its hierarchies"),
    "limits": ("LimitArguments", "TypedDict", "What bounds how cells of a column may be published"),
    "columns": ("ColumnArguments", "LimitArguments", "What is declared of columns"),
    "release": ("ReleaseArguments", "TypedDict", "How the release is made and written"),
}


def module() -> str:
    """Return the text of the module."""
    lines: dict[str, list[str]] = {name: [] for name in CLASSES}
    for name, tables in arguments().items():
        table, setting = next(iter(tables.items()))
        kinds = [_type(t, name, s) for t, s in reversed(tables.items())]
        group = "Input" if setting.group == "Input" else "limits" if name in LIMITS else table
        lines[group].append(f"    {name}: {' | '.join(kinds)} | None")
    parts = [HEAD]
    for group, (title, base, meaning) in CLASSES.items():
        head = f'class {title}({base}, total=False):\n    """{meaning}."""\n'
        parts.append("\n".join([head, *lines[group]]) + "\n")
    words = {int: "int", float: "float", str: "str", bool: "bool", tuple: "Names"}
    flags = [
        f"    {flag.replace('-', '_')}: {words[param.type]} | None"
        + ("  # noqa: E741 -- the papers' letter" if flag == "l" else "")
        for flag, param in rule_flags().items()
    ]
    head = 'class PromiseArguments(TypedDict, total=False):\n    """The promise, by flags."""\n'
    parts.append("\n".join([head, *flags]) + "\n")
    return "\n\n".join(parts).rstrip() + "\n"


def _type(table: str, key: str, setting: Setting) -> str:
    """Return the type of an argument: what the plan holds, and what is read as it."""
    own = _plain(TABLES[table].model_fields[key].annotation)
    if setting.takes == "NAMES":
        return "Names"
    if setting.takes == "DIR":
        return "Hierarchies"
    if setting.takes.endswith("=FILE"):
        own = "Sequence[Any] | str | Path"
    if setting.read is not None and own == "float":
        own = "float | str"
    return f"Mapping[str, {own}]" if table == "columns" else own


def _plain(annotation: Any) -> str:
    """Write a type without None, and a type of texts as what is taken for one."""
    if get_origin(annotation) is tuple:
        return "Sequence[str] | str"
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    if all(isinstance(kind, str) or get_origin(kind) for kind in kinds):
        return _plain(kinds[0]) if get_origin(kinds[0]) is tuple else "str"
    names = [kind.__name__ for kind in kinds]
    if "float" in names:  # which takes whole numbers, too
        names = [name for name in ("float", "str") if name in names]
    return " | ".join(["Kind", "str"] if names == ["Kind"] else names)


if __name__ == "__main__":
    TARGET.write_text(module())
