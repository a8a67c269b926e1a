"""Declare the arguments of the public functions, each in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from shoal.api.setting_arguments import (
    ColumnArguments,
    DataArguments,
    LimitArguments,
    PromiseArguments,
    ReleaseArguments,
)
from shoal.base.errors import ParameterError
from shoal.base.roles import Kind
from shoal.plan.plan import Plan
from shoal.tables.find_hierarchies import is_path
from shoal.tables.source import parse_place

if TYPE_CHECKING:
    from shoal.ext.spark.settings import Spark
    from shoal.privacy import Rule
    from shoal.tables.open_table import Domains, Names
    from shoal.verbs.anonymize import Progress


class Roles(TypedDict, total=False):
    """Names of columns by role."""

    quasi: Names | None
    sensitive: Names | None
    identifier: Names | None
    keep: Names | None
    drop: Names | None
    person: str | None


class OpenArguments(Roles, DataArguments, ColumnArguments, total=False):
    """What :func:`shoal.open` takes after the table."""

    plan: Plan | str | Path | None
    table: str | None
    query: str | None


class RuleArguments(PromiseArguments, total=False):
    """The promise, as flags of the command line and as rules."""

    rules: Sequence[Rule] | Rule | None


class RunArguments(RuleArguments, ReleaseArguments, total=False):
    """What a run is to do, as a plan holds it."""

    method: str | None
    options: Mapping[str, Any] | None
    effort: str | None
    seed: int | None


class AnonymizeArguments(OpenArguments, RunArguments, total=False):
    """What :func:`anonymize` takes after the table."""

    pseudonym_key: str | Path | bytes | None
    history: str | Path | None
    against: Sequence[Any]
    threads: int | None
    progress: Progress | None
    time_limit: float | None
    strict: bool
    prove: bool
    engine: Spark | None


class ComparisonArguments(ReleaseArguments, total=False):
    """How settings are made and measured, and which of them is recommended."""

    repeats: int
    queries: int | None
    classifier: bool | None
    target: str | None
    risk: str | None
    cost: str | None
    threshold: float
    belief: float | None
    recipient: str | None
    prove: bool
    progress: Progress | None


class CompareArguments(OpenArguments, ComparisonArguments, total=False):
    """What :func:`compare` takes after the table."""

    methods: Sequence[str] | str | None
    k: Sequence[int] | int | None
    l: Sequence[int] | int | None  # noqa: E741 -- the papers' letter
    rule_values: Mapping[str, Sequence[Any]] | None
    rules: Sequence[Rule] | Rule | None
    seed: int | None
    threads: int | None
    keep_releases: bool


class _ReleasedArguments(DataArguments, total=False):
    """What is said of a release, whatever is asked of it."""

    sensitive: Names | None
    person: str | None
    plan: Plan | str | Path | None
    st: Any
    domain: Domains | None
    notations: Mapping[str, str] | None


class OpenReleaseArguments(_ReleasedArguments, LimitArguments, total=False):
    """What :func:`shoal.open_release` takes after the release."""

    quasi: Names | None
    identifier: Names | None
    original: Any
    kind: Mapping[str, Kind | str] | None
    suppress: float | str | None


class AuditArguments(OpenReleaseArguments, RuleArguments, total=False):
    """What :func:`audit` takes after the release."""

    against: Sequence[Any]
    history: str | Path | None
    manifest: str | Path | None
    again: bool
    data: Any
    seed: int | None
    pseudonym_key: str | Path | bytes | None


AGAIN = ("again", "data", "seed", "pseudonym_key")
"""Arguments of an audit that makes the release again."""


class RiskArguments(OpenReleaseArguments, total=False):
    """What :func:`risk` takes after the release."""

    population: Any
    threshold: float
    belief: float


class AttackChoice(TypedDict, total=False):
    """Which attacks are tried, on whom, by somebody who knows how much.

    Parameters
    ----------
    attacks
        Of ``linkage``, ``homogeneity``, ``inference``, ``background``, all by default (linkage
        alone without a sensitive column), of ``readoff`` and ``downcoding``, and, with earlier
        releases, of ``intersection``.
    targets
        How many people to attack, drawn at random; 2,000 by default, or all if there are fewer.
    noise, gaps
        Shares of what is known that are wrong (a random other row's value), and missing.
    rule_out, belief
        How many values the attacker can rule out, the likeliest false ones; counted are also people
        whose true value is then believed more.
    against, against_original
        Earlier releases of the same people, as :meth:`Release.audit` takes them, and in the same
        order the table that each was made from, unless it was put beside it. For ``intersection``,
        which needs a column of the originals declared as ``person``.
    seed
        Repeats the draw of targets, noise and gaps.
    """

    attacks: Sequence[str] | str | None
    targets: int | None
    noise: float
    gaps: float
    rule_out: int
    belief: float
    against: Sequence[Any]
    against_original: Sequence[Any]
    seed: int | None


TRIED: dict[str, Any] = {"noise": 0.0, "gaps": 0.0, "rule_out": 1, "belief": 0.9}
TRIED |= {"against": (), "against_original": ()}
"""The defaults of an attack."""


class AttackArguments(_ReleasedArguments, AttackChoice, total=False):
    """What :func:`attack` takes after the release and the original."""

    known: Names | None
    control: Any


def as_list(value: Any) -> list[Any]:
    """Take one value for a list of one."""
    return [value] if isinstance(value, (str, int, float)) else list(value)


def rule_values_of(
    k: Sequence[int] | int | None,
    l: Sequence[int] | int | None,  # noqa: E741 -- the papers' letter
    rule_values: Mapping[str, Sequence[Any]] | None,
) -> dict[str, Any]:
    """Return what is tried, with the usual flags written out."""
    short = {"k": k, "l": l}
    return {f: as_list(v) for f, v in short.items() if v is not None} | dict(rule_values or {})


def check_again(again: bool, manifest: Any, data: Any = None, *how: Any) -> None:
    """Refuse to make a release again without its manifest and its table, or these for nothing."""
    if again and (manifest is None or data is None):
        lacking = "manifest" if manifest is None else "table that it was made from"
        raise ParameterError(
            f"To repeat a release (--again) you need its manifest and its table, and the "
            f"{lacking} is missing. Give both: --manifest FILE --data DATA (manifest=..., "
            "data=...)."
        )
    if not again and any(each is not None for each in (data, *how)):
        raise ParameterError(
            "--data, --seed, --seed-file and --pseudonym-key (data, seed, pseudonym_key) are "
            "only for repeating a release. Ask for that with --again (again=True), or leave "
            "them out; "
            "to check cells against the original, use --original (original=...)."
        )


def check_named_once(releases: Sequence[Any]) -> None:
    """Refuse a release that is named twice: it narrows nothing down, and another is forgotten."""
    seen: set[object] = set()
    for name in filter(is_path, releases):
        where = parse_place(name)
        key = where.resolve() if isinstance(where, Path) else where
        if key in seen:
            raise ParameterError(
                f"The release {where} is named twice. Name the newest release once, and every "
                "earlier one once with --against (against=[...])."
            )
        seen.add(key)
