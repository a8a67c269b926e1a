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
from shoal.cli import on_spark, reporting, say
from shoal.cli.options import (
    Audience,
    Delimiter,
    Force,
    Hierarchies,
    Identifier,
    JsonFile,
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

if TYPE_CHECKING:
    from shoal.base.roles import Role
    from shoal.cli.output import Output
    from shoal.plan.plan import Plan
    from shoal.tables.sources.source import Source
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
    json: JsonFile = None,
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

    from shoal.cli.options import base_plan, located, parse_options, split_names
    from shoal.cli.output import Output

    started = time.perf_counter()
    # Everything that can be refused is refused before the work starts.
    spark = on_spark.chosen(engine, master, driver_tuples)
    goal = Output.of(out, into, json, force, report)
    if spark:
        reporting.refuse_on_spark(report, audience)
    else:
        goal.check_files([path for path in (data, plan) if path is not None])
    reader = reporting.reader(report, audience)

    from shoal.base.roles import Role

    full = base_plan(
        plan,
        trust=trust_plan,
        missing=missing,
        delimiter=delimiter,
        hierarchies=hierarchies,
        seed=seed,
    ).override(rules=rules, release={} if typed is None else {"typed": typed})
    name = method or full.method.name
    words = [*(option or ()), *([f"effort={effort}"] if effort is not None else ())]
    full = full.override(method=name, options=parse_options(words, name))
    source = located(data, full, table, query, query_file)
    roles = {
        Role.QUASI: quasi,
        Role.SENSITIVE: sensitive,
        Role.IDENTIFIER: identifier,
        Role.OTHER: other,
    }
    if spark:
        order = on_spark.Order.of(source, goal.place, json, force, master, driver_tuples)
        names = {role: split_names(words, ()) or [] for role, words in roles.items() if words}
        on_spark.carry_out(order, full.override(roles=names), started)
        return
    goal = goal.made_by(name, [source, *([plan] if plan else [])])
    goal.check()
    _release(source, full, roles, reader, goal, started)


def _release(
    source: Path | Source,
    plan: Plan,
    roles: Mapping[Role, list[str] | None],
    reader: str | None,
    goal: Output,
    started: float,
) -> None:
    """Carry the plan out in the background, then write the release and say what came out."""
    from shoal.cli.options import split_names
    from shoal.cli.output import tell
    from shoal.cli.work import ahead, stoppable, watch
    from shoal.tables.prepare import load
    from shoal.verbs.anonymize import STAGES, anonymize

    def work(progress: Any) -> tuple[Outcome, str]:
        progress("read")
        begun = time.perf_counter()
        frame = load(source, plan)
        reading = time.perf_counter() - begun
        declared = {
            role: names
            for role, words in roles.items()
            if (names := split_names(words, frame.columns)) is not None
        }
        outcome = anonymize(frame, plan=plan.override(roles=declared), progress=progress)
        outcome.seconds["read"] += reading
        page = ""
        if reader is not None:
            progress("report")
            page = reporting.of_run(outcome, source, reader)
        return outcome, page

    diverse = any(RULES[rule.name].sensitive for rule in plan.rules)
    first = partial(ahead, plan.method.name, diverse=diverse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the outcome carries them; shown below
        outcome, page = watch(work, (*STAGES, "report"), first=first)
    for text in outcome.warnings:
        say.warning(text)
    with stoppable():
        goal.write(outcome, started, page)
    tell(outcome)
    say.line(f"Wrote {goal}.")
