"""``shoal anonymize``: a table in, a verified release out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.catalog import DEFAULT_RULE
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
    from shoal.api.release import Release
    from shoal.engines.run import Run


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
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Take the best release found so far after so many seconds, with a method that "
            "refines (shoal).",
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

    from shoal.cli.options import located, named_roles, parse_options
    from shoal.cli.output import Output
    from shoal.cli.work import ahead, stoppable, watch

    started = time.perf_counter()
    # Everything that can be refused is refused before the work starts.
    on_spark = _on_spark(engine, master, driver_tuples)
    goal = Output.of(out, into, json, force, report)
    if on_spark:
        reporting.refuse_on_spark(report, audience)
    else:
        goal.check_files([path for path in (data, plan) if path is not None])
    reader = reporting.reader(report, audience)

    from shoal.api.opening import read
    from shoal.plan.plan import Plan
    from shoal.tables.prepare import merge
    from shoal.verbs.anonymize import STAGES

    base = None if plan is None else Plan.read(plan, trust=trust_plan)
    chosen = method or (base or Plan()).method.name
    words = [*(option or ()), *([f"effort={effort}"] if effort is not None else ())]
    full = merge(
        base,
        missing=missing,
        delimiter=delimiter,
        hierarchies=hierarchies,
        seed=seed,
        rules=rules,
        method=chosen,
        options=parse_options(words, chosen),
        typed=typed,
    )
    where = located(data, full, table, query, query_file)
    roles = named_roles(quasi, sensitive, identifier, other)
    if on_spark:
        from shoal.cli.on_spark import Order, carry_out

        source, to = _directory(where), _directory(goal.place)
        order = Order(source, to, json, force, master, driver_tuples)
        carry_out(order, full.with_roles(roles(())), started)
        return
    goal = goal.made_by(chosen, [where, *([plan] if plan else [])])
    goal.check()

    def work(progress: Any) -> tuple[Release[Any], str]:
        progress("read")
        table_ = read(where, full, roles=roles)
        release = table_.anonymize(progress=progress, time_limit=time_limit)
        page = ""
        if reader is not None:
            progress("report")
            page = reporting.of_release(release.beside(table_), where, reader, "Release")
        return release, page

    diverse = any(part.spec["name"] != DEFAULT_RULE for part in full.rules)
    first = partial(ahead, diverse=diverse) if chosen == "shoal" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them; shown below
        release, page = watch(work, (*STAGES, "report"), first=first)
    for text in release.warnings:
        say.warning(text)
    with stoppable():
        goal.write(release, started, page)
    tell(release.made)
    say.line(f"Wrote {goal}.")


def _on_spark(engine: str, master: str | None, driver_tuples: int | None) -> bool:
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


def tell(run: Run) -> None:
    """Say in a few lines what came out."""
    loss = run.loss
    left = run.rows_in - run.rows_out
    kept = "every row kept" if not left else f"{left:,} rows left out"
    say.line(
        f"{run.method}: {run.rows_in:,} rows in, {run.rows_out:,} out ({kept}), "
        f"{run.groups:,} groups"
    )
    parts = f"generalization {loss.generalization:.4f}, removal {loss.removal:.4f}"
    say.line(f"Loss     {loss.rate:.4f} of 1 ({parts})")
    if run.notes:
        found = (f"{name} {_figures(value)}" for name, value in run.notes.items())
        say.line(f"Found    {'; '.join(found)}")
    for result in run.verdict.rules:
        reached = ", ".join(f"{name} = {value}" for name, value in result.achieved.items())
        say.line(f"Verified {result.promise}; reached: {reached}")


def _figures(value: Any) -> str:
    """Write a note of a method in short: of many things how many there are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figures(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)
