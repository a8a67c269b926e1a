"""The arguments that settings and flags of rules have in Python. Made by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from shoal.base.roles import Kind
    from shoal.tables.find_hierarchies import Hierarchies
    from shoal.tables.open_table import Names


class ReadingArguments(TypedDict, total=False):
    """How a table is read."""

    missing: Sequence[str] | str | None
    delimiter: str | None
    encoding: str | None
    dates: str | None
    decimal: str | None
    sheet: str | None
    hidden: str | None
    labels: str | None


class DataArguments(ReadingArguments, total=False):
    """How a table is read, and its hierarchies."""

    hierarchies: Hierarchies | None


class LimitArguments(TypedDict, total=False):
    """What bounds how cells of a column may be published."""

    within: Names | None
    coarsest: Mapping[str, float | str] | None
    finest: Mapping[str, float | str] | None
    top: Mapping[str, float] | None
    bottom: Mapping[str, float] | None


class ColumnArguments(LimitArguments, total=False):
    """What is declared of columns."""

    kind: Mapping[str, Kind | str] | None
    order: Mapping[str, Sequence[str] | str] | None
    domain: Mapping[str, Sequence[Any] | str | Path] | None
    importance: Mapping[str, float] | None
    grid: Mapping[str, float | str] | None
    sets: str | Mapping[str, str] | None
    allow_labels: Mapping[str, Sequence[str] | str] | None


class ReleaseArguments(TypedDict, total=False):
    """How the release is made and written."""

    typed: bool | None
    mid: bool | None
    csv_safe: bool | None
    same: Sequence[str] | str | None
    slack: float | None
    person_rows: str | None
    pseudonym: bool | None
    suppress: float | str | None
    as_in_paper: bool | None


class PromiseArguments(TypedDict, total=False):
    """The promise, by flags."""

    k: int | None
    l: float | None  # noqa: E741 -- the papers' letter
    l_kind: str | None
    c: float | None
    alpha: float | None
    alpha_value: Names | None
    t: float | None
    t_distance: str | None
    missing_sensitive: str | None
    beta: float | None
    beta_enhanced: bool | None
    m: int | None
