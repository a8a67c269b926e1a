"""From a plan and a table to a verified release: encode, group, recode, verify."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.base.compiling import announce_compiling
from shoal.base.errors import (
    Cautioned,
    Infeasible,
    NotVerified,
    ShoalWarning,
    warn_each,
)
from shoal.base.params import Param, check_options
from shoal.base.partition import Ints, Partition
from shoal.base.pseudonyms import pseudonyms
from shoal.base.roles import Role
from shoal.catalog import Method, find_method
from shoal.catalog.extensions import require
from shoal.coding.encode import Encoded, encode
from shoal.groupers.group_people import check_constant, group_people
from shoal.groupers.m_invariant_groups import MInvariantGroups
from shoal.groupers.slack import widen_cells
from shoal.groupers.within_limits import Bounds, group_within_limits, is_limited
from shoal.measures.cautions import cautions
from shoal.measures.losses import measured
from shoal.measures.losses.grouped import Grouped
from shoal.measures.named_rare_values import check_labels, named_values
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import All, Rule
from shoal.releases.check_bytes import foreign_bytes
from shoal.releases.copy_cells import copy_cells
from shoal.releases.history.store import History, Pending
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict
from shoal.tables.compatibility import refuse
from shoal.tables.original import Original
from shoal.tables.request import Request
from shoal.tables.schema import Schema
from shoal.tables.spreadsheet import counted
from shoal.verbs.continuation import (
    SeriesRelease,
    continue_series,
    counted_people,
    shown_of,
    told_over_time,
)
from shoal.verbs.randomness import generators
from shoal.verbs.run import Run

if TYPE_CHECKING:
    from shoal.ext.proof.bound import Proof

QUOTED = "texts quoted for spreadsheets"
STAGES = ("read", "encode", "group", "recode", "verify", "write")
TIME_LIMIT = Param(
    "time_limit", "seconds after which the best release so far is taken", float, low=0
)

Progress = Callable[[str], object]
"""Told the name of a stage; during ``refine`` True means: enough, take the best so far.
While something is proved it is told ``prove``, a colon and how far that is; True ends it there."""


@dataclass
class StageTimer:
    """Measures stages and tells who watches which one is running.

    ``compiling``: how much of the grouping went into compiling kernels.
    """

    progress: Progress
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    compiling: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as this stage."""
        self.progress(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def with_time_limit(progress: Progress, plan: Plan, time_limit: float | None) -> Progress:
    """Return a progress that also says enough when the time is over."""
    if time_limit is None:
        return progress
    seconds = TIME_LIMIT.check(time_limit, "anonymize")
    refuse(Request(plan, find_method(plan.method.name), timed=True))
    end = time.perf_counter() + seconds

    def told(stage: str) -> bool:
        return progress(stage) is True or (stage == "refine" and time.perf_counter() >= end)

    return told


@dataclass(frozen=True, eq=False)
class Made:
    """A release fresh from its run; ``order`` and ``grouped`` must never leave it."""

    run: Run
    opened: Opened
    order: Ints
    grouped: Grouped
    pending: Pending | None = None


def execute(
    table: Original,
    plan: Plan,
    clock: StageTimer,
    extra: tuple[Rule, ...] = (),
    encoded: Encoded | None = None,
    key: bytes | None = None,
    *,
    prove: bool = False,
    history: History | None = None,
) -> Made:
    """Carry out one plan on a table taken in before, and check the release.

    ``encoded`` spares encoding the table once more for a method that takes the same form. ``key``:
    of the pseudonyms, if there are to be any. ``prove``: say how far it is from the best possible.
    ``history``: of the releases before this one; it is checked, and handed over as it becomes.
    """
    frame, schema, entry = table.frame, table.schema, find_method(plan.method.name)
    shape = entry.shape
    options = check_options(plan.method.options, entry.params, entry.name)
    specs = [promise.spec for promise in plan.rules]
    rules = (*build_rules(specs, schema.sensitive), *extra)
    asked = {"key": key is not None, "prove": prove, "history": history is not None}
    refuse(request := Request(plan, entry, rules, schema, **asked))
    series = continue_series(history, rules, entry, table)
    refuse(replace(request, lasting=series is not None))
    with collect_warnings() as said:
        grouping, shuffling = generators(plan, entry)
        with clock.stage("encode"):
            data = encoded or encode(frame, schema, table.taxonomies, flat_sets=entry.flat_sets)
            rule: Rule = rules[0] if len(rules) == 1 else All(rules)
            if obstacle := rule.obstacle(data.whole(domains=shape.domains)):
                raise Infeasible(obstacle)
            warn_each([] if shape.exact else check_labels(data, schema, plan))
            bare, bounds = data, None
            if is_limited(schema, plan.release.suppress):
                bounds = Bounds.create(data, schema, plan.release.suppress)
                data = bounds.data
        with clock.stage("group"):
            made = group(entry, data, rule, grouping, options, clock, plan, series, bounds)
        with clock.stage("recode"):
            parts = made.partition if isinstance(made, MInvariantGroups) else made
            told = Grouped.untouched(data) if shape.exact else Grouped(data, parts)
            loss = measured(told)
            frame, shown, parts = shown_of(series, frame, data, made, grouping)
            order = shuffling(frame.height) if plan.release.shuffle else None
            ends: dict[str, Any] = {"typed": plan.release.ends, "mid": plan.release.mid}
            named = _pseudonymized(frame, schema, plan, key)
            published, order = shape.make.publish(*named, shown, parts, **ends, order=order)
            beside = {} if series is None else series.side_tables(published["release"], order)
            tables = {name: copy_cells(own) for name, own in (published | beside).items()}
        with clock.stage("verify"):
            about = schema.columns, table.taxonomies
            opened = Opened(tables, *about, shape=shape, plan=plan.unseeded())
            source = replace(table, frame=frame, order=order)
            pending, more = told_over_time(series, data, made, opened, source)
            verdict = check(opened, rules, source, more)
            warn_each(named_values(opened, bare, plan))
        proof = _proof(bare, rules, loss.rate, clock) if prove else None
    opened, verdict = counted_people(opened, verdict, series, order)
    quoted = {QUOTED: counted(opened.tables)} if plan.release.csv_safe else {}
    run = Run(
        loss=loss,
        verdict=verdict,
        method=entry.name,
        plan=opened.plan,
        schema=schema,
        rows_in=table.frame.height,
        rows_out=opened.frame.height,
        notes={**getattr(parts, "notes", {}), **quoted},
        seconds=clock.seconds,
        warnings=tuple(dict.fromkeys(said)),
        proof=proof,
        tied={} if series is None else series.manifest_entry,
    )
    return Made(run, opened, order, told, pending)


def _proof(data: Encoded, rules: Sequence[Rule], loss: float, clock: StageTimer) -> Proof:
    """Work out what no release can lose less than, telling how near that has come."""
    require("proof")
    from shoal.ext.proof.bound import Proof, lower_bound, smallest_class

    def tell(rate: float) -> bool:
        far = f"at most {100 * (loss / rate - 1):.1f} % above the best" if rate > 0 else "at work"
        return clock.progress(f"prove: {far}") is True

    with clock.stage("prove"), announce_compiling(lambda: clock.progress("compile")) as compiled:
        proof = Proof(loss, lower_bound(data, smallest_class(rules), tell))
    clock.compiling += compiled.seconds
    return proof


def _pseudonymized(
    frame: pl.DataFrame, schema: Schema, plan: Plan, key: bytes | None
) -> tuple[pl.DataFrame, Schema]:
    """Return the table with pseudonyms for the persons, and a schema that publishes them."""
    if not plan.release.pseudonym or schema.person is None:
        return frame, schema
    whose = schema.persons(frame)
    people = whose.unique()
    named = whose.replace_strict(people, pl.Series(pseudonyms(people.to_list(), key)))
    columns = (
        replace(column, role=Role.KEEP) if column.role is Role.PERSON else column
        for column in schema.columns
    )
    return frame.with_columns(named.alias(schema.person)), Schema(tuple(columns))


def group(
    entry: Method,
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator | None,
    options: Mapping[str, Any],
    clock: StageTimer,
    plan: Plan,
    series: SeriesRelease | None = None,
    bounds: Bounds | None = None,
) -> Any:
    """Run a method, telling when its kernels have to be compiled first."""
    stop = {"stop": lambda: clock.progress("refine") is True} if entry.anytime else {}
    with announce_compiling(lambda: clock.progress("compile")) as compiled:
        method = entry.load()
        if series is not None:
            return series.group(
                data, lambda rows, own: method(rows, own, rng, **options, **stop), rng
            )

        def call(rows: Encoded, own: Rule, spare: int) -> Any:
            more = {"spare": spare} if entry.spares else {}
            return method(rows, own, rng, **options, **stop, **more)

        def one(rows: Encoded, own: Rule, spare: int = 0) -> Any:
            return _grouped(call, rows, own, spare, plan)

        if bounds is not None and plan.release.together:
            check_constant(data)
        made: Any = one(data, rule) if bounds is None else group_within_limits(bounds, rule, one)
    clock.compiling += compiled.seconds
    return made if entry.shape.exact else widen_cells(data, made, plan, rng)


def _grouped(
    call: Callable[[Encoded, Rule, int], Any], data: Encoded, rule: Rule, spare: int, plan: Plan
) -> Any:
    """Run a method on rows or on people, and let every class that a reader sees keep the rule."""
    if plan.release.together:
        return group_people(data, rule, spare, call)
    made = call(data, rule, spare)
    if data.people is not None and isinstance(made, Partition) and made.cover is None:
        from shoal.groupers.repair import repair_alike  # loads kernels

        made = repair_alike(data, made, rule)
    return made


def check(
    opened: Opened, rules: Sequence[Rule], source: Original, more: Sequence[str] = ()
) -> Verdict:
    """Verify a release, its memory too, against its rules and source, or do not hand it over.

    ``more``: faults that were found besides.
    """
    verdict: Verdict = opened.shape.check.check(opened, rules, source)
    if faults := [*foreign_bytes(opened.tables), *more]:
        verdict = replace(verdict, holds=False, faults=(*verdict.faults, *faults))
    if not verdict.holds:
        told = "\n".join(verdict.faults) or "a rule does not hold."
        raise NotVerified(
            f"The release was not handed over, because checking it found: {told}\n"
            "This is a fault in Shoal, not in your data: please report it with the method, its "
            "options and the shape of the table."
        )
    return verdict


def caution(table: Original, plan: Plan, extra: tuple[Rule, ...], *, strict: bool) -> None:
    """Warn of what is allowed and still a risk, before any work."""
    rules = build_rules([promise.spec for promise in plan.rules], table.schema.sensitive)
    texts = cautions(replace(table, plan=plan), (*rules, *extra))
    refuse_if(texts if strict else ())
    warn_each(texts)


def advice(plan: Plan, *, kept: bool = False) -> list[str]:
    """Return what holds for every release of this kind; no fault, so that strict runs pass.

    A run with a seed is told more: that it must not be published at all. ``kept``: a history keeps
    what must not be drawn again.
    """
    shape = find_method(plan.method.name).shape
    again = shape.words.again if plan.seed is None and not kept else ""
    domain = shape.words.domain if plan.declares_domain else ""
    return [text for text in (again, domain) if text]


def refuse_if(texts: Sequence[str]) -> None:
    """End a strict run that has something to warn about."""
    if texts:
        raise Cautioned(
            "Nothing was released, because warnings are errors here (--strict, strict=True):\n"
            + "\n".join(texts)
        )


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Gather the texts of our own warnings; all are given on to the caller at the end."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ShoalWarning)
        yield said
    for message in caught:
        if issubclass(message.category, ShoalWarning):
            said.append(str(message.message))
        warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
