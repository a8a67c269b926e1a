"""``shoal anonymize``: a table in, a verified release out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.catalog import RULES
from shoal.cli import reporting, say
from shoal.cli.options import (
    Audience,
    Delimiter,
    Force,
    Hierarchies,
    Identifier,
    Missing,
    Other,
    PlanFile,
    PlannedData,
    Quasi,
    Query,
    QueryFile,
    ReportFile,
    Sensitive,
    Table,
    TrustPlan,
    methods_help,
    with_rules,
)
from shoal.tables.sources.source import Source

if TYPE_CHECKING:
    from shoal.verbs.outcome import Outcome


@with_rules
def command(
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The release: .csv, .csv.gz, .tsv, .parquet, .arrow or .feather, or the address "
            "of a database. The second table of anatomy goes next to it: x.st.csv, or x_st.",
        ),
    ],
    data: PlannedData = None,
    plan: PlanFile = None,
    trust_plan: TrustPlan = False,
    table: Table = None,
    query: Query = None,
    query_file: QueryFile = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into",
            metavar="NAME",
            help="The table of the output database that the release becomes.",
        ),
    ] = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    identifier: Identifier = None,
    other: Other = None,
    hierarchies: Hierarchies = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help=methods_help())
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option of the method; may be repeated."
        ),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(
            "--effort",
            metavar="WORD",
            help="How long the method shoal looks for a lower loss: fast, normal or max.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="INT",
            help="Repeat a run byte for byte. It tells the row order: keep it secret.",
        ),
    ] = None,
    typed: Annotated[
        bool | None,
        typer.Option("--typed/--text", help="Ordered columns as two columns x_lo, x_hi."),
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the figures of the run to this file."),
    ] = None,
    report: ReportFile = None,
    audience: Audience = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            metavar="N",
            help="Share the work by so many threads (SHOAL_THREADS, else one per processor). "
            "The release is the same for every number.",
        ),
    ] = None,
    force: Force = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Write nothing when there is anything to warn about."),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Where the work is done: local, or spark for folders of Parquet or CSV too "
            "(DATA and --out may then be folders; needs shoal\\[spark]).",
        ),
    ] = "local",
    master: Annotated[
        str | None,
        typer.Option(
            "--master", metavar="URL", help="Spark's master, for instance 'local\\[2]' or yarn."
        ),
    ] = None,
    driver_tuples: Annotated[
        int | None,
        typer.Option(
            "--driver-tuples",
            metavar="INT",
            help="How many distinct tuples Spark's driver groups itself; more are cut into shards.",
        ),
    ] = None,
    *,
    rules: list[dict[str, Any]],
) -> None:
    """Anonymize a table and check the release before it is written.

    Example: shoal anonymize patients.csv --quasi age,sex,zip --k 5 -o release.csv

    Columns that are not named are not released. Without any name and without a plan, roles are
    guessed and the guess is shown. Rows come out in random order.

    Without a rule the promise is k-anonymity with k = 10; a rule named here takes its place (--l 3
    alone is l-diversity alone), several hold together, and those of a plan are kept. A rule on
    sensitive values holds for every sensitive column.
    """
    from shoal.base.threads import limit

    limit(threads)  # before anything reads how many threads there are

    from shoal.cli.options import base_plan, located, parse_options, split_names
    from shoal.cli.output import Output
    from shoal.cli.work import ahead, stoppable, watch

    started = time.perf_counter()
    # Everything that can be refused is refused before the work starts.
    on_spark = _on_spark(engine, master, driver_tuples, strict=strict)
    goal = Output.of(out, into, json, force, report)
    if on_spark:
        reporting.refuse_on_spark(report, audience)
    else:
        goal.check_files([path for path in (data, plan) if path is not None])
    reader = reporting.reader(report, audience)

    from shoal.base.roles import Role
    from shoal.tables.prepare import load
    from shoal.verbs.anonymize import STAGES, anonymize

    full = base_plan(
        plan,
        trust=trust_plan,
        missing=missing,
        delimiter=delimiter,
        hierarchies=hierarchies,
        seed=seed,
    ).override(rules=rules, release={} if typed is None else {"typed": typed})
    chosen = method or full.method.name
    words = [*(option or ()), *([f"effort={effort}"] if effort is not None else ())]
    full = full.override(method=chosen, options=parse_options(words, chosen))
    where = located(data, full, table, query, query_file)
    if on_spark:
        from shoal.cli.on_spark import Order, carry_out

        roles = {Role.QUASI: quasi, Role.SENSITIVE: sensitive}
        roles |= {Role.IDENTIFIER: identifier, Role.OTHER: other}
        full = full.override(
            roles={role: split_names(names, ()) or [] for role, names in roles.items() if names}
        )
        source, to = _directory(where), _directory(goal.place)
        carry_out(Order(source, to, json, force, master, driver_tuples), full, started)
        return
    goal = goal.made_by(chosen, [where, *([plan] if plan else [])])
    goal.check()
    named = {
        Role.QUASI: quasi,
        Role.SENSITIVE: sensitive,
        Role.IDENTIFIER: identifier,
        Role.OTHER: other,
    }

    def work(progress: Any) -> tuple[Outcome, str]:
        progress("read")
        begun = time.perf_counter()
        frame = load(where, full)
        reading = time.perf_counter() - begun
        roles = {
            role: names
            for role, given in named.items()
            if (names := split_names(given, frame.columns)) is not None
        }
        outcome = anonymize(
            frame, plan=full.override(roles=roles), progress=progress, strict=strict
        )
        outcome.seconds["read"] += reading
        page = ""
        if reader is not None:
            progress("report")
            page = reporting.of_run(outcome, where, reader)
        return outcome, page

    first = partial(ahead, chosen, diverse=any(RULES[part.name].sensitive for part in full.rules))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the outcome carries them; shown below
        outcome, page = watch(work, (*STAGES, "report"), first=first)
    for text in outcome.warnings:
        say.warning(text)
    with stoppable():
        goal.write(outcome, started, page)
    tell(outcome)
    say.line(f"Wrote {goal}.")


def _on_spark(engine: str, master: str | None, driver_tuples: int | None, *, strict: bool) -> bool:
    """Tell whether Spark does the work, and refuse its flags without it."""
    from shoal.base.errors import ParameterError, nearest

    engines = ("local", "spark")
    if engine not in engines:
        raise ParameterError(
            f"--engine must be one of {', '.join(map(repr, engines))}. Got {engine!r} instead."
            f"{nearest(engine, engines)}"
        )
    if engine == "local" and (master is not None or driver_tuples is not None):
        raise ParameterError(
            "--master and --driver-tuples are for Spark, and the engine is local. Add "
            "--engine spark, or leave them out."
        )
    if engine == "spark" and strict:
        raise ParameterError(
            "--strict looks at the whole table for what to warn about, which Spark does not. Leave "
            "it out, or leave out --engine spark."
        )
    return engine == "spark"


def _directory(given: Path | Source) -> Path:
    """Return where Spark reads or writes, which is never a database."""
    from shoal.base.errors import ParameterError

    if isinstance(given, Source):
        raise ParameterError(
            f"Spark reads and writes directories and files, and {given} is a table of a database. "
            "Leave out --engine spark, or export the table to Parquet first."
        )
    return given


def tell(outcome: Outcome) -> None:
    """Say in a few lines what came out."""
    from shoal.privacy.base import reached

    loss = outcome.loss
    left = outcome.rows_in - outcome.rows_out
    kept = "every row kept" if not left else f"{left:,} rows left out"
    say.line(
        f"{outcome.method}: {outcome.rows_in:,} rows in, {outcome.rows_out:,} out ({kept}), "
        f"{outcome.groups:,} groups"
    )
    parts = f"generalization {loss.generalization:.4f}, removal {loss.removal:.4f}"
    say.line(f"Loss     {loss.rate:.4f} of 1 ({parts})")
    if outcome.notes:
        found = (f"{name} {_figures(value)}" for name, value in outcome.notes.items())
        say.line(f"Found    {'; '.join(found)}")
    for result in outcome.verdict.rules:
        say.line(f"Verified {result.promise}; reached: {reached(result.achieved)}")


def _figures(value: Any) -> str:
    """Write a note of a method in short: of many things how many there are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figures(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)
