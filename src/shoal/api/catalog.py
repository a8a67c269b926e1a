"""Show methods and rules by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from shoal.base.to_json import table_html
from shoal.catalog import METHODS, RULES, Method, RuleEntry

Entry = TypeVar("Entry", Method, RuleEntry)


class Listing(Mapping[str, Entry], Generic[Entry]):
    """Entries of the catalog by name, which show themselves as a table."""

    def __init__(
        self, title: str, entries: Mapping[str, Entry], asked: Callable[[Entry], str]
    ) -> None:
        self._title = title
        self._entries: Mapping[str, Entry] = entries
        self._asked: Callable[[Entry], str] = asked

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {entry.story}" for name, entry in self._entries.items())

    def _repr_html_(self) -> str:
        rows = [(e.name, self._asked(e), e.story, e.citation) for e in self._entries.values()]
        return table_html(self._title, ("name", "asked for with", "what it does", "from"), rows)


def methods() -> Listing[Method]:
    """Return every method by name: what it does, its options, the rules it can keep."""
    return Listing("Methods", METHODS, lambda entry: f'method="{entry.name}"')


def rules() -> Listing[RuleEntry]:
    """Return every privacy model by name: what it promises and its parameters."""

    def flags(entry: RuleEntry) -> str:
        words = [flag.replace("-", "_") + "=" for flag, _ in entry.flags]
        family = (
            [f'{entry.family[0].replace("-", "_")}="{entry.family[1]}"'] if entry.family else []
        )
        return ", ".join([*words, *family])

    return Listing("Rules", RULES, flags)
