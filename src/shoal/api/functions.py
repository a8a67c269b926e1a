"""The public functions; each calls a method of Table or Release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

import polars as pl

from shoal.api.arguments import (
    AGAIN,
    AnonymizeArguments,
    AttackArguments,
    AuditArguments,
    CompareArguments,
    OpenArguments,
    OpenReleaseArguments,
    RiskArguments,
    RunArguments,
    as_list,
    check_again,
    check_named_once,
    rule_values_of,
)
from shoal.api.opening import (
    open,  # noqa: A004 -- shoal.open
    open_for_inspection,
    open_release,
)
from shoal.api.release import Release
from shoal.api.setting_arguments import DataArguments
from shoal.api.signatures import names_of, split_arguments, with_signature
from shoal.api.table import Table
from shoal.base.errors import ParameterError
from shoal.catalog.extensions import require
from shoal.tables.compatibility import refuse_on_spark
from shoal.tables.find_hierarchies import Hierarchies, is_path
from shoal.tables.native import is_spark_frame
from shoal.tables.open_table import check_no_database, extra_rules, merge_plan

if TYPE_CHECKING:
    from shoal.ext.spark.settings import Spark
    from shoal.measures.risks.results import Attacks
    from shoal.plan.plan import Plan
    from shoal.privacy import Rule
    from shoal.releases.base import By
    from shoal.releases.verdict import Verdict
    from shoal.verbs.anonymize import Progress
    from shoal.verbs.compare.comparison import Comparison
    from shoal.verbs.estimate import Estimates
    from shoal.verbs.inspect import Inspection
    from shoal.verbs.risk import Risks

FrameT = TypeVar("FrameT")


def _released(released: Any, opening: Mapping[str, Any]) -> Release[Any]:
    """Open a release, unless it is open already."""
    if not isinstance(released, Release):
        release: Release[Any] = open_release(released, **opening)
        return release
    original = opening.get("original")
    return released if original is None else released.with_original(original)


@overload
def anonymize(
    data: str | PathLike[str] | None = ..., **given: Unpack[AnonymizeArguments]
) -> Release[pl.DataFrame]: ...
@overload
def anonymize(data: FrameT, **given: Unpack[AnonymizeArguments]) -> Release[FrameT]: ...
@with_signature(AnonymizeArguments, opens=open, like=Table.anonymize)
def anonymize(data: Any = None, **given: Any) -> Release[Any]:
    """Anonymize a table and check the release before handing it over.

    A Spark frame is anonymized on Spark, and so is a folder or file of Parquet or CSV with
    ``engine=Spark()``.

    Raises
    ------
    Infeasible
        When no release of this table can keep the promise.
    NotVerified
        When the release does not keep it; nothing is handed over.
    """
    if given.get("engine") is not None or is_spark_frame(data):
        check_no_database(data, given.get("table"), given.get("query"))
        return _on_spark(data, **given)
    declared, asked = split_arguments(given, OpenArguments)
    # Whatever is wrong with what is asked for is said before the table is read.
    declared["plan"] = merge_plan(declared.get("plan"))
    merge_plan(declared["plan"], **split_arguments(asked, RunArguments)[0])
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
    strict: bool = False,
    prove: bool = False,
    plan: Plan | str | Path | None = None,
    history: object = None,
    against: Sequence[Any] = (),
    **given: Any,
) -> Release[Any]:
    refuse_on_spark(strict=strict, prove=prove, history=history or against)
    full = merge_plan(plan, hierarchies=hierarchies, rules=rules, **given)
    extra = extra_rules(rules)
    require("spark")
    from shoal.ext.spark.anonymize import anonymize_on_spark

    return anonymize_on_spark(data, full, hierarchies, extra, engine, progress)[0]


@with_signature(AnonymizeArguments, like=Table.anonymize, opens=open)
def start(data: Any = None, *, k: int | None = None, **given: Any) -> Release[Any]:
    """Make a first release of a raw table, as ``shoal start --yes`` does.

    Roles that are not given are guessed; columns without a clear role are not released. Every class
    has k rows, and each sensitive column is protected: by l-diversity with l = 2, or by t-closeness
    where one value is too frequent for that. Names get a guessed hierarchy. Read the warnings and
    ``release.plan`` before you use it. The other arguments are those of :func:`anonymize`, which
    guesses roles only where none is given, promises k = 10 alone, and guesses no hierarchy.
    """
    from shoal.verbs.first_plan import first_plan

    declared, asked = split_arguments(given, OpenArguments)
    opened = open_for_inspection(data, **declared)
    first = first_plan(opened.inspect(), opened.plan, k=k)
    trees = {**opened.taxonomies, **first.taxonomies}
    release: Release[Any] = replace(opened, plan=first.plan, taxonomies=trees).anonymize(**asked)
    return release


@with_signature(OpenArguments, opens=open)
def inspect(data: Any = None, **declared: Unpack[OpenArguments]) -> Inspection:
    """Look at a table and suggest roles, with reasons."""
    return open_for_inspection(data, **declared).inspect()


@with_signature(OpenArguments, CompareArguments, opens=open, like=Table.compare)
def compare(data: Any = None, **given: Unpack[CompareArguments]) -> Comparison:
    """Run methods and settings side by side on one table and recommend one of them."""
    from shoal.verbs.compare.choices import choices

    declared, asked = split_arguments(given, OpenArguments)
    # Whatever is wrong with the settings is said before the table is read.
    methods = asked.get("methods")
    values = rule_values_of(asked.get("k"), asked.get("l"), asked.get("rule_values"))
    choices(merge_plan(declared.get("plan")), None if methods is None else as_list(methods), values)
    return open(data, **declared).compare(**asked)


@with_signature(AuditArguments, opens=open_release, like=Release.audit, again=False)
def audit(released: Any = None, **given: Unpack[AuditArguments]) -> Verdict:
    """Say what a release achieves, from its published cells alone.

    Parameters
    ----------
    manifest
        The file beside a release; its digests are checked, and what the audit finds is compared
        with what it says was reached. ``released`` may be left out then.
    again, data, seed, pseudonym_key
        With ``again=True`` the release is also made again from ``data`` with the seed (and the
        key) of its run, and its bytes are compared; nothing is written.
    """
    opening, promise = split_arguments(given, OpenReleaseArguments)
    manifest = promise.pop("manifest", None)
    asked: dict[str, Any] = dict(promise)
    remade = {key: asked.pop(key) for key in AGAIN if key in asked}
    if manifest is not None:
        return _beside_manifest(released, Path(manifest), opening, asked, **remade)
    check_again(remade.pop("again", False), None, *remade.values())
    if released is None:
        raise ParameterError("Nothing to audit was named. Give a release, or manifest=....")
    promise = asked
    before = _before(released, promise.pop("against", ()), opening)
    return _released(released, opening).audit(**promise, against=before)


def _before(released: Any, against: Any, opening: Mapping[str, Any]) -> list[Release[Any]]:
    """Open earlier releases; what is declared of a release is declared of them."""
    alike = {key: value for key, value in opening.items() if key not in ("original", "st")}
    before = as_list(against)
    check_named_once([released, *before])
    return [_released(release, alike) for release in before]


def _beside_manifest(
    released: Any,
    manifest: Path,
    opening: dict[str, Any],
    promise: dict[str, Any],
    *,
    again: bool = False,
    data: Any = None,
    **how: Any,
) -> Verdict:
    """Audit a release by the plan in its manifest, and compare the two."""
    from shoal.releases.history.store import history_of
    from shoal.verbs.manifest import plan_of, read_manifest, released_name
    from shoal.verbs.manifest_audit import AuditedRelease, compare_with_manifest

    made = read_manifest(manifest)
    own = opening.get("plan")
    others = bool(promise.keys() - {"against", "history"})  # promises that are not the run's
    check_again(again, manifest, data, *how.values())
    remade = None
    if again:
        from shoal.api.remake import remake

        as_then = {k: opening[k] for k in names_of(DataArguments) if k in opening}
        how |= as_then | {"seed": how.get("seed"), "history": promise.get("history")}
        remade = remake(manifest, data, plan=own, **how)
    if released is None:
        released = manifest.parent / released_name(made, manifest)
    plan = None if own is None else merge_plan(own)
    opening["plan"] = plan_of(made, plan, manifest.parent, others=others)
    before = _before(released, promise.pop("against", ()), opening)
    release = _released(released, opening)
    verdict = release.audit(**promise, against=before)
    where = Path(released) if is_path(released) and Path(released).exists() else None
    series = history_of(promise.get("history"))
    found = AuditedRelease(where, release.local_tables, opening["plan"], verdict, series, others)
    return compare_with_manifest(made, manifest.parent, found, remade)


@with_signature(RiskArguments, opens=open_release, like=Release.risk)
def risk(released: Any, **given: Unpack[RiskArguments]) -> Risks:
    """Measure how likely people are found in a table, and what is then believed of them."""
    opening, asked = split_arguments(given, OpenReleaseArguments)
    return _released(released, opening).risk(**asked)


@with_signature(AttackArguments, opens=open_release, like=Release.attack)
def attack(released: Any, *, original: Any, **given: Unpack[AttackArguments]) -> Attacks:
    """Attack some people of the original through the release, and say how often that succeeds."""
    asked: dict[str, Any] = dict(given)
    known = asked.pop("known", None)
    opening, asked = split_arguments(asked, OpenReleaseArguments)
    opening["quasi"] = known
    before = _before(released, asked.pop("against", ()), opening)
    opening["original"] = original
    return _released(released, opening).attack(known=known, against=before, **asked)


@with_signature(OpenReleaseArguments, opens=open_release, like=Release.estimate)
def estimate(
    released: Any,
    of: str,
    by: Sequence[str | By] | str = (),
    *,
    estimator: str = "iterative",
    eps: float | None = None,
    level: float = 0.95,
    as_in_paper: bool = False,
    **opening: Unpack[OpenReleaseArguments],
) -> Estimates:
    """Estimate how many rows have each sensitive value, by categories of quasi-identifiers."""
    split = [by] if isinstance(by, str) else by
    if is_spark_frame(released):
        require("spark")
        from shoal.ext.spark.find_uncovered import rows_of
        from shoal.verbs.estimate import columns_asked

        released = rows_of(released, *columns_asked(of, split, released.columns))
    asked = _released(released, opening)
    how: dict[str, Any] = {"eps": eps, "level": level, "as_in_paper": as_in_paper}
    return asked.estimate(of, split, estimator=estimator, **how)
