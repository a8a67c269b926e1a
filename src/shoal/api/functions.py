"""The verbs as functions: a line or two each over the two nouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, get_type_hints, overload

import polars as pl

from shoal.api.release import Release, open_release, promised
from shoal.api.table import (
    anonymize_on_spark,
    grid_of,
    open,  # noqa: A004 -- shoal.open
    read,
    roles_of,
    wants_spark,
)
from shoal.base.roles import Kind
from shoal.engines.spark.settings import Spark, is_spark_frame
from shoal.measures.risks.results import Attacks
from shoal.plan.plan import Plan
from shoal.privacy import Rule
from shoal.releases.base import By
from shoal.releases.verdict import Verdict
from shoal.tables.prepare import Hierarchies, Names, extra_rules, locate, merge
from shoal.verbs.anonymize import Progress
from shoal.verbs.compare.choices import choices
from shoal.verbs.compare.comparison import Comparison
from shoal.verbs.compare.running import several
from shoal.verbs.estimate import Estimates, columns_asked
from shoal.verbs.inspect import Inspection
from shoal.verbs.risk import Risks

FrameT = TypeVar("FrameT")


class Roles(TypedDict, total=False):
    """Names of columns by role."""

    quasi: Names | None
    sensitive: Names | None
    identifier: Names | None
    other: Names | None


class Declared(Roles, total=False):
    """What :func:`shoal.open` takes besides the table."""

    hierarchies: Hierarchies | None
    plan: Plan | str | Path | None
    kinds: Mapping[str, Kind | str] | None
    importance: Mapping[str, float] | None
    missing: Names | None
    delimiter: str | None
    table: str | None
    query: str | None


class Promised(TypedDict, total=False):
    """The promise, as flags of the command line and as rules."""

    k: int | None
    l: float | None  # noqa: E741 -- the papers' letter
    l_kind: str | None
    alpha: float | None
    t: float | None
    beta: float | None
    rules: Sequence[Rule] | Rule | None


class Anonymized(Declared, Promised, total=False):
    """What :func:`anonymize` takes besides the table."""

    method: str | None
    options: Mapping[str, Any] | None
    effort: str | None
    threads: int | None
    seed: int | None
    typed: bool | None
    progress: Progress | None
    time_limit: float | None
    engine: Spark | None


class Compared(Declared, total=False):
    """What :func:`compare` takes besides the table."""

    methods: Sequence[str] | str | None
    k: Sequence[int] | int | None
    l: Sequence[int] | int | None  # noqa: E741 -- the papers' letter
    grid: Mapping[str, Sequence[Any]] | None
    rules: Sequence[Rule] | Rule | None
    seed: int | None
    threads: int | None
    repeats: int
    queries: int
    classifier: bool | None
    target: str | None
    risk: str | None
    cost: str | None
    threshold: float
    belief: float | None
    keep: bool
    progress: Progress | None


class Opening(TypedDict, total=False):
    """What :func:`shoal.open_release` takes besides the release."""

    quasi: Names | None
    sensitive: Names | None
    identifier: Names | None
    plan: Plan | str | Path | None
    original: Any
    st: Any
    hierarchies: Hierarchies | None
    kinds: Mapping[str, Kind | str] | None
    missing: Names | None
    delimiter: str | None


class Audited(Opening, Promised, total=False):
    """What :func:`audit` takes besides the release."""


class Risked(Opening, total=False):
    """What :func:`risk` takes besides the release."""

    population: Any
    threshold: float
    belief: float


class Attacked(TypedDict, total=False):
    """What :func:`attack` takes besides the release and the original."""

    known: Names | None
    sensitive: Names | None
    plan: Plan | str | Path | None
    st: Any
    hierarchies: Hierarchies | None
    missing: Names | None
    delimiter: str | None
    kinds: Sequence[str] | str | None
    targets: int | None
    noise: float
    gaps: float
    rule_out: int
    belief: float
    control: Any
    seed: int | None


def _parted(given: Mapping[str, Any], of: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part arguments into those of opening and those of the verb."""
    opening = get_type_hints(of)
    return (
        {key: value for key, value in given.items() if key in opening},
        {key: value for key, value in given.items() if key not in opening},
    )


def _released(released: Any, opening: Mapping[str, Any]) -> Release[Any]:
    """Open a release, unless it is open already."""
    if not isinstance(released, Release):
        found: Release[Any] = open_release(released, **opening)
        return found
    original = opening.get("original")
    return released if original is None else released.beside(original)


@overload
def anonymize(
    data: str | PathLike[str] | None = ..., **given: Unpack[Anonymized]
) -> Release[pl.DataFrame]: ...
@overload
def anonymize(data: FrameT, **given: Unpack[Anonymized]) -> Release[FrameT]: ...
def anonymize(data: Any = None, **given: Any) -> Release[Any]:
    """Anonymize a table and check the release before handing it over.

    The arguments are those of :func:`shoal.open`, which opens the table, and of
    :meth:`shoal.Table.anonymize`. A Spark frame is anonymized on Spark, and so is a folder or file
    of Parquet or CSV with ``engine=Spark()``.

    Raises
    ------
    Infeasible
        When no release of this table can keep the promise.
    NotVerified
        When the release does not keep it; nothing is handed over.
    """
    if wants_spark(data, given.get("engine"), given.get("table"), given.get("query")):
        return _on_spark(data, **given)
    declared, asked = _parted(given, Declared)
    if (progress := asked.get("progress")) is not None:
        progress("read")
    made: Release[Any] = open(data, **declared).anonymize(**asked)
    return made


def _on_spark(
    data: Any,
    *,
    engine: Spark | None = None,
    progress: Progress | None = None,
    hierarchies: Hierarchies | None = None,
    rules: Sequence[Rule] | Rule | None = None,
    options: Mapping[str, Any] | None = None,
    effort: str | None = None,
    **given: Any,
) -> Release[Any]:
    roles, rest = _parted(given, Roles)
    promise, rest = _parted(rest, Promised)
    plan = merge(
        rest.pop("plan", None),
        roles=roles_of(**roles),
        instead=rules,
        rules=promised(**promise),
        hierarchies=hierarchies,
        options={**(options or {}), **({} if effort is None else {"effort": effort})},
        **rest,
    )
    return anonymize_on_spark(data, plan, hierarchies, extra_rules(rules), engine, progress)


def inspect(data: Any = None, **declared: Unpack[Declared]) -> Inspection:
    """Look at a table and suggest roles, with reasons; takes what :func:`shoal.open` does."""
    given: dict[str, Any] = dict(declared)
    table, query = given.pop("table", None), given.pop("query", None)
    roles, rest = _parted(given, Roles)
    plan = merge(rest.pop("plan", None), roles=roles_of(**roles), **rest)
    named = roles.get("quasi") is not None
    trees = rest.get("hierarchies")
    return read(locate(data, plan, table, query), plan, hierarchies=trees, only=named).inspect()


def compare(data: Any = None, **given: Unpack[Compared]) -> Comparison:
    """Run methods and settings side by side on one table and recommend one of them.

    The arguments are those of :func:`shoal.open`, which opens the table once, and of
    :meth:`shoal.Table.compare`.
    """
    declared, asked = _parted(given, Declared)
    # Whatever is wrong with the settings is said before the table is read.
    methods, grid = asked.get("methods"), grid_of(asked.get("k"), asked.get("l"), asked.get("grid"))
    choices(merge(declared.get("plan")), None if methods is None else several(methods), grid)
    return open(data, **declared).compare(**asked)


def audit(released: Any, **given: Unpack[Audited]) -> Verdict:
    """Say what a release achieves, from its published cells alone.

    The arguments are those of :func:`shoal.open_release` and of :meth:`shoal.Release.audit`.
    """
    opening, promise = _parted(given, Opening)
    return _released(released, opening).audit(**promise)


def risk(released: Any, **given: Unpack[Risked]) -> Risks:
    """Measure how likely people are found in a table, and what is then believed of them.

    The arguments are those of :func:`shoal.open_release` and of :meth:`shoal.Release.risk`.
    """
    opening, asked = _parted(given, Opening)
    return _released(released, opening).risk(**asked)


def attack(released: Any, *, original: Any, **given: Unpack[Attacked]) -> Attacks:
    """Attack some people of the original through the release, and say how often that succeeds.

    ``known``: the columns that the attacker knows; the quasi-identifiers of the plan by default.
    The other arguments are those of :func:`shoal.open_release` and of
    :meth:`shoal.Release.attack`.
    """
    asked: dict[str, Any] = dict(given)
    kinds, known = asked.pop("kinds", None), asked.pop("known", None)
    opening, asked = _parted(asked, Opening)
    opening |= {"quasi": known, "original": original}
    return _released(released, opening).attack(known=known, kinds=kinds, **asked)


def estimate(
    released: Any,
    of: str,
    by: Sequence[str | By] | str = (),
    *,
    method: str = "iterative",
    level: float = 0.95,
    **opening: Unpack[Opening],
) -> Estimates:
    """Estimate how many rows have each sensitive value, by categories of quasi-identifiers.

    The arguments are those of :func:`shoal.open_release` and of :meth:`shoal.Release.estimate`.
    """
    split = [by] if isinstance(by, str) else by
    if is_spark_frame(released):
        from shoal.engines.spark.counting import rows_of

        released = rows_of(released, *columns_asked(of, split, released.columns))
    return _released(released, opening).estimate(of, split, method=method, level=level)
