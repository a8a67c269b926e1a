"""From a plan and a table to a verified release: read, encode, group, recode, verify."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.compiling import announced
from shoal.base.errors import Infeasible, NotVerified, ParameterError, Refused, ShoalWarning
from shoal.base.params import check_options
from shoal.base.roles import Role
from shoal.catalog import Method, find_method
from shoal.coding.encode import Encoded, encode
from shoal.engines.spark.settings import Spark, is_spark_frame
from shoal.measures.cautions import Matter, cautions
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules, check_fit, rule_spec
from shoal.privacy import All, Rule, flatten
from shoal.releases.generalized.check import Verdict
from shoal.tables.domain import Taxonomy
from shoal.tables.files import to_native
from shoal.tables.prepare import (
    Hierarchies,
    Taken,
    check_no_database,
    is_path,
    locate,
    merge,
    take_in,
    warn_undecided,
)
from shoal.tables.schema import Schema
from shoal.verbs.outcome import Outcome
from shoal.verbs.shaping import Shape, publish, verify_shape

__all__ = [
    "STAGES",
    "Clock",
    "Outcome",
    "Progress",
    "anonymize",
    "check",
    "execute",
    "group",
    "heard",
]

STAGES = ("read", "encode", "group", "recode", "verify", "write")

Progress = Callable[[str], object]
"""Told the name of a stage; during ``refine`` True means: enough, take the best so far."""


@dataclass
class Clock:
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
            self.seconds[name] += time.perf_counter() - start


def anonymize(
    data: Any = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    identifier: Sequence[str] | str | None = None,
    other: Sequence[str] | str | None = None,
    hierarchies: Hierarchies | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    k: int | None = None,
    rules: Sequence[Rule] | None = None,
    seed: int | None = None,
    missing: Sequence[str] | None = None,
    typed: bool | None = None,
    plan: Plan | str | Path | None = None,
    table: str | None = None,
    query: str | None = None,
    progress: Progress | None = None,
    engine: Spark | None = None,
    strict: bool = False,
) -> Outcome:
    """Anonymize a table and check the release before handing it over.

    Parameters
    ----------
    data
        A file (CSV, Parquet, Arrow, Feather), the address of a database, or a pandas, polars,
        pyarrow or Spark frame. It is never changed, and a frame comes back as the kind it was.
        Without it, the source that the plan names.
    quasi, sensitive, identifier, other
        Names of columns by role; columns that are not named are not released. Without any name,
        and without a plan, roles are guessed with a warning.
    hierarchies
        A folder of ``COLUMN.csv`` files, or taxonomies (or their files) by column.
    method, options
        A name of ``shoal.catalog.METHODS`` and its options.
    k
        Least number of rows that must look alike (10 unless a plan says otherwise).
    rules
        Rules instead of the plan's, for instance ``[KAnonymity(5)]``.
    seed
        Repeats the run byte for byte. Keep it secret: it also tells the order of the rows.
    missing
        Texts that mean missing besides the empty one, for instance ``["?", "NA"]``.
    typed
        Publish ordered columns as two columns ``x_lo`` and ``x_hi``.
    plan
        A plan or its file; the other arguments override it.
    table, query
        What to read from a database: ``table="schema.table"``, or the text of a query.
    progress
        Called with the name of each stage as it starts, and ``"compile"`` once if kernels have to
        be compiled.
    engine
        Carry the plan out on Spark, which takes folders of Parquet or CSV too. A Spark frame
        needs this only to be told more than the defaults.
    strict
        Refuse instead of warning: whatever would be warned about ends the run.

    Raises
    ------
    Infeasible
        When no release of this table can keep the promise.
    NotVerified
        When the release does not keep it; nothing is handed over.
    Refused
        When there is something to warn about and ``strict`` was asked for.
    """
    clock = Clock(progress or (lambda stage: None))
    start = time.perf_counter()
    full = merge(
        plan,
        roles={
            Role.QUASI: quasi,
            Role.SENSITIVE: sensitive,
            Role.IDENTIFIER: identifier,
            Role.OTHER: other,
        },
        rules=() if k is None else [{"name": "k-anonymity", "k": k}],
        instead=rules,
        method=method,
        options=options,
        seed=seed,
        missing=missing,
        hierarchies=hierarchies,
        release={} if typed is None else {"typed": typed},
    )
    # Rules that no plan can hold, because they are not in the catalog.
    extra = tuple(rule for rule in flatten(rules or ()) if not rule_spec(rule))
    if engine is not None or is_spark_frame(data):
        check_no_database(data, table, query)
        if strict:
            raise ParameterError(
                "strict (--strict) looks at the whole table for what to warn about, which Spark "
                "does not. Leave it out, or leave out the engine."
            )
        return _on_spark(data, full.filled(), hierarchies, extra, engine or Spark(), clock, start)
    data = locate(data, full, table, query)
    with heard() as said:
        with clock.stage("read"):
            taken = take_in(data, full.filled(), hierarchies)
        _caution(taken, extra, strict=strict)
        outcome, release = execute(taken, taken.plan, clock, extra)
    outcome.seconds["total"] = time.perf_counter() - start
    published = {
        name: table if is_path(data) else to_native(table, data)
        for name, table in release.tables().items()
    }
    texts = tuple(dict.fromkeys(said))
    refuse_if(texts if strict else ())
    return replace(outcome, release=published["release"], tables=published, warnings=texts)


def _caution(taken: Taken, extra: tuple[Rule, ...], *, strict: bool) -> None:
    """Warn of what is allowed and still a risk, before any work."""
    specs = [part.spec for part in taken.plan.rules]
    rules = (*build_rules(specs, taken.schema.sensitive), *extra)
    texts = cautions(Matter(taken.frame, taken.schema, taken.plan, taken.taxonomies, rules))
    refuse_if(texts if strict else ())
    for text in texts:
        warnings.warn(text, ShoalWarning, stacklevel=3)


def refuse_if(texts: Sequence[str]) -> None:
    """End a strict run that has something to warn about."""
    if texts:
        raise Refused(
            "Nothing was released, because warnings are errors here (--strict, strict=True):\n"
            + "\n".join(texts)
        )


def _on_spark(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: tuple[Rule, ...],
    engine: Spark,
    clock: Clock,
    start: float,
) -> Outcome:
    """Carry out the plan where the rows are."""
    from shoal.engines.spark.engine import carry_out

    def run(entry: Method, rows: Encoded, rule: Rule, rng: Any, options: Mapping[str, Any]) -> Any:
        return group(entry, rows, rule, rng, options, clock)

    with heard() as said:
        made = carry_out(data, plan, hierarchies, extra, engine, run, clock)
        warn_undecided(made.schema)
    clock.seconds["total"] = time.perf_counter() - start
    said_once = tuple(dict.fromkeys(said))
    tables = {"release": made.release}
    return Outcome(**vars(made), seconds=clock.seconds, warnings=said_once, tables=tables)


def execute(
    taken: Taken,
    plan: Plan,
    clock: Clock,
    extra: tuple[Rule, ...] = (),
    encoded: Encoded | None = None,
) -> tuple[Outcome, Shape]:
    """Carry out one plan on a table taken in before, and check the release.

    ``encoded`` spares encoding the table once more for a method that takes the same form.
    """
    frame, schema, taxonomies = taken.frame, taken.schema, taken.taxonomies
    entry = find_method(plan.method.name)
    options = check_options(plan.method.options, entry.params, entry.name)
    specs = [part.spec for part in plan.rules]
    rules = (*build_rules(specs, schema.sensitive), *extra)
    check_fit(entry, rules)
    grouping, shuffling = _generators(plan, entry)
    with clock.stage("encode"):
        data = encoded or encode(frame, schema, taxonomies, flat_sets=entry.flat_sets)
        rule: Rule = rules[0] if len(rules) == 1 else All(rules)
        if obstacle := rule.obstacle(data.whole()):
            raise Infeasible(obstacle)
    with clock.stage("group"):
        made = group(entry, data, rule, grouping, options, clock)
    with clock.stage("recode"):
        order = shuffling(frame.height) if plan.release.shuffle else None
        release, loss = publish(
            entry, frame, schema, data, made, typed=plan.release.typed, order=order
        )
    with clock.stage("verify"):
        verdict = check(release, frame, schema, taxonomies, rules)
    outcome = Outcome(
        release=None,
        loss=loss,
        achieved=verdict.achieved,
        verdict=verdict,
        method=entry.name,
        plan=plan,
        schema=schema,
        rows_in=frame.height,
        rows_out=release.frame.height,
        groups=getattr(made, "groups", frame.height),
        seconds=clock.seconds,
        notes=getattr(made, "notes", {}),
        source=frame,
        published=release.tables(),
        taxonomies=taxonomies,
    )
    return outcome, release


def group(
    entry: Method,
    data: Encoded,
    rule: Rule,
    rng: np.random.Generator | None,
    options: Mapping[str, Any],
    clock: Clock,
) -> Any:
    """Run a method, telling when its kernels have to be compiled first."""
    stop = {"stop": lambda: clock.progress("refine") is True} if entry.anytime else {}
    with announced(lambda: clock.progress("compile")) as compiled:
        made: Any = entry.load()(data, rule, rng, **options, **stop)
    clock.compiling += compiled.seconds
    return made


def check(
    release: Shape,
    frame: pl.DataFrame,
    schema: Schema,
    taxonomies: Mapping[str, Taxonomy],
    rules: Sequence[Rule],
) -> Verdict:
    """Verify a release against its rules and its source, or refuse to hand it over."""
    verdict = verify_shape(release, frame, schema, taxonomies, rules)
    if not verdict.holds:
        faults = "\n".join(verdict.faults) or "a rule does not hold."
        raise NotVerified(
            f"The release was not handed over, because checking it found: {faults}\n"
            "This is a fault in Shoal, not in your data: please report it with the method, its "
            "options and the shape of the table."
        )
    return verdict


def _generators(
    plan: Plan, entry: Method
) -> tuple[np.random.Generator | None, Callable[[int], npt.NDArray[np.int64]]]:
    """Return the randomness for grouping, and what shuffles the rows.

    Without a seed the order comes from the operating system's secure source: nobody who knows the
    program can undo it. A method whose draws are themselves the protection gets no generator at
    all, which makes it use that source too.
    """
    drawn = entry.release != "generalized"
    if plan.seed is None:
        return None if drawn else np.random.default_rng(), _secure_order
    if drawn:
        warnings.warn(
            f"The method {entry.name!r} was run with a seed: whoever knows the seed can undo it. "
            "A seed is for tests only; publish a run without one.",
            ShoalWarning,
            stacklevel=2,
        )
    grouping, shuffling = np.random.SeedSequence(plan.seed).spawn(2)
    return np.random.default_rng(grouping), np.random.default_rng(shuffling).permutation


def _secure_order(rows: int) -> npt.NDArray[np.int64]:
    keys = np.frombuffer(os.urandom(8 * rows), np.uint64)
    return np.argsort(keys, kind="stable").astype(np.int64)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Gather the texts of our own warnings; all are given on to the caller at the end."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ShoalWarning)
        yield said
    for message in caught:
        if issubclass(message.category, ShoalWarning):
            said.append(str(message.message))
        warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
