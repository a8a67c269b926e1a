"""The class Setting: what is declared about a setting next to its type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from shoal.base.column_names import check_unicode
from shoal.base.errors import ParameterError, format_names
from shoal.base.roles import Role


class Part(BaseModel):
    """A table of a plan: no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Setting:
    """What command line, page, file and Python say of one field of a plan.

    ``takes``: the word for its value, empty for a switch. ``flag``: its name on the command line if
    that is not its key; a switch has two, ``--typed/--text``; None: only the plan says it, so that
    it has neither flag nor argument. In Python its name is its key.
    ``group``: where the help of a command lists it, among what few people need if it is ``rare``.
    ``read``: turns what a call gives into what the plan holds. ``role``: its flag takes the name of
    a column, which gets this role. ``in_file``: its help where the key stands in a plan, if that of
    the flag is about the flag. ``of``: of a column, the roles that it is about. ``files``: of how
    a table is read, the kinds of files that it is about. ``offers``: what the page offers where
    any text may stand.
    """

    help: str
    takes: str = ""
    flag: str | None = ""
    group: str = "Columns"
    rare: bool = False
    read: Callable[[Any], Any] | None = None
    role: Role | None = None
    in_file: str = ""
    of: tuple[Role, ...] = (Role.QUASI,)
    files: tuple[str, ...] = ()
    offers: Sequence[str] = ()

    @property
    def meaning(self) -> str:
        """What its key means in a plan and on the page."""
        text = self.in_file or re.sub(r"(; may be repeated| \[default: .*\])?\.?$", "", self.help)
        first = text[0] if text[1:2].isupper() else text[0].lower()
        return f"{first}{text[1:].rstrip('.')}"

    def named(self, key: str) -> Setting:
        """Return it with its flag written out."""
        flag = f"--{key.replace('_', '-')}" if self.flag == "" else self.flag
        return replace(self, flag=flag)

    def value(self, given: Any) -> Any:
        """Return what the plan holds for what a call gives."""
        return given if self.read is None else self.read(given)


def declared_settings(part: type[BaseModel]) -> dict[str, Setting]:
    """Return what is declared of the fields of one table of a plan, by key."""
    return {
        key: setting.named(key)
        for key, field in part.model_fields.items()
        for setting in field.metadata
        if isinstance(setting, Setting)
    }


def listed_names(names: Sequence[str] | str) -> list[str]:
    """Take a text for one name."""
    return [names] if isinstance(names, str) else list(names)


def missing_texts(texts: Sequence[str] | str) -> list[str]:
    """Return the texts that mean missing: those that were given, and the empty one."""
    check_unicode(listed_names(texts), "missing")
    return list(dict.fromkeys(["", *listed_names(texts)]))


def share_of(text: float | str) -> float:
    """Read a share of the rows: a number below 1, or a text such as ``1%``."""
    said = str(text).strip()
    try:
        share = float(said.removesuffix("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share < 1:
        raise ParameterError(
            "suppress is the share of the rows that may be left out: 1%, or 0.01; from 0 to less "
            f"than 1. Got {text!r} instead."
        )
    return share


def limit_of(text: Any) -> Any:
    """Read a limit that may have come as a text: a level, a width, or a span of time."""
    if not isinstance(text, str):
        return text
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return int(number) if number.is_integer() else number


def ordered_texts(texts: Sequence[str] | str) -> list[str]:
    """Read the values of an ordered column: a list, or one text with commas."""
    if not isinstance(texts, str):
        return list(texts)
    return split_texts(texts)


def split_texts(text: str, known: Collection[str] = ()) -> list[str]:
    """Split a text at its commas, without the spaces around.

    What stands in double quotes, or is ``known``, keeps its commas and spaces.
    """
    cells = re.findall(r'(\s*"(?:[^"]|"")*"\s*|[^,]*),', f"{text},") if text.strip() else []
    bare = [cell if cell in known else cell.strip() for cell in cells]
    return [
        cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
        for cell in bare
    ]


def join_texts(texts: Iterable[Any]) -> str:
    """Write texts with commas between them, so that :func:`split_texts` returns the same."""
    written = [str(text).replace('"', '""') for text in texts]
    plain = re.compile(r'[^\s",]([^",]*[^\s",])?')
    return ",".join(text if plain.fullmatch(text) else f'"{text}"' for text in written)


def same_groups(texts: Sequence[str] | str) -> list[str]:
    """Read groups of values that count as one: ``HIV=AIDS,HIV infection``, several with commas."""
    groups: list[str] = []
    for text in [texts] if isinstance(texts, str) else texts:
        for cell in split_texts(text):
            if "=" in cell:
                groups.append(cell.strip())
            elif groups and cell.strip():
                groups[-1] += f",{cell.strip()}"
    names = same_values(groups)
    if not names or any(not name or not value for value, name in names.items()):
        raise ParameterError(
            "same says which values count as one: a value, =, and the others with commas, as in "
            f"'HIV=AIDS,HIV infection'. Got {texts!r} instead."
        )
    known = [value.strip() for group in groups for value in group.partition("=")[2].split(",")]
    if twice := sorted({v for v in known if known.count(v) > 1 or v in set(names.values())}):
        raise ParameterError(
            f"same names {format_names(twice)} in two places. A value counts as one other "
            "value: name it "
            "once, behind the value that it counts as."
        )
    return groups


def same_values(groups: Sequence[str]) -> dict[str, str]:
    """Return for every value of some groups the value that it counts as."""
    names: dict[str, str] = {}
    for group in groups:
        name, _, others = group.partition("=")
        names |= {value.strip(): name.strip() for value in others.split(",")}
    return names
