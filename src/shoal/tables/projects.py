"""What is taken over from a project of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Project:
    """What was found: keys of a plan, the hierarchies by column, and what has no counterpart.

    ``tool``: whose project it is. ``table``: how its table is got at, as a sentence.
    """

    tool: str
    columns: dict[str, dict[str, Any]]
    rules: list[dict[str, Any]]
    data: dict[str, Any]
    hierarchies: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    table: str = "Then run, with your table:"
    release: Mapping[str, Any] = field(default_factory=dict)
