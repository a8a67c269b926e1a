"""``shoal anonymize``: anonymize a table and write the checked release."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.base.errors import ShoalWarning
from shoal.catalog import RULES
from shoal.catalog.extensions import require
from shoal.cli import console, person_options, reporting, streams
from shoal.cli import options as opt
from shoal.cli.engine import wants_spark
from shoal.cli.settings import GivenOptions, with_settings
from shoal.tables.source import parse_place

if TYPE_CHECKING:
    from shoal.api.opening import Declare
    from shoal.api.release import Release
    from shoal.cli.output import Output
    from shoal.plan.plan import Plan
    from shoal.tables.source import Source
    from shoal.verbs.run import Run

BEFORE = "released before"
"""The note that names releases of the same columns beside the new one."""


@opt.with_rules
@with_settings()
def command(
    out: Annotated[
        str,
        opt.flag(
            "--out -o",
            "FILE",
            "The release: a .csv, .csv.gz, .tsv, .parquet, .arrow or .feather file, or a database "
            "address. - writes CSV to standard output. Anatomy's second table goes next to it "
            "(x.st.csv or x_st), and so do declared domains of dummies (x.domain.csv or x_domain).",
        ),
    ],
    data: opt.PlannedData = None,
    into: Annotated[
        str | None,
        opt.flag("--into", "NAME", "Table of the output database."),
    ] = None,
    pseudonym_key: person_options.PseudonymKey = None,
    history: person_options.History = None,
    history_key: person_options.HistoryKey = None,
    against: person_options.Against = None,
    method: Annotated[str | None, opt.flag("--method", "NAME", opt.methods_help())] = None,
    option: Annotated[
        list[str] | None,
        opt.flag("--option", "NAME=VALUE", "Option of the method; may be repeated."),
    ] = None,
    effort: Annotated[
        str | None,
        opt.flag(
            "--effort",
            "WORD",
            "How long the method shoal searches: fast, normal or max.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        opt.flag(
            "--time-limit",
            "SECONDS",
            "Stop after this many seconds, with the best release found so far (method shoal).",
        ),
    ] = None,
    seed: opt.Seed = None,
    seed_file: opt.SeedFile = None,
    json: opt.JsonFile = None,
    report: opt.ReportFile = None,
    audience: opt.Audience = None,
    dictionary: Annotated[
        bool,
        typer.Option(
            "--dictionary",
            help="Write a data dictionary of the release: CSVW (release.csv-metadata.json) and a "
            "page (release.csv.dictionary.html).",
        ),
    ] = False,
    threads: Annotated[
        int | None,
        opt.flag(
            "--threads",
            "N",
            "Number of threads (default: SHOAL_THREADS or all processors). The release does not "
            "depend on it.",
        ),
    ] = None,
    force: opt.Force = False,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Compute a lower bound of the information loss of any release with these rules "
            "and hierarchies. Takes up to a minute.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if there are warnings.")
    ] = False,
    engine: Annotated[
        str,
        opt.flag(
            "--engine",
            "NAME",
            "Engine: local or spark. With spark, DATA and --out may be folders of Parquet or CSV "
            "files (needs shoal[spark]).",
        ),
    ] = "local",
    master: Annotated[
        str | None,
        opt.flag("--master", "URL", "Spark master, such as 'local[2]' or yarn."),
    ] = None,
    driver_tuples: Annotated[
        int | None,
        opt.flag(
            "--driver-tuples",
            "INT",
            "Largest number of distinct rows that Spark's driver groups itself; more are split "
            "into shards.",
        ),
    ] = None,
    *,
    given: GivenOptions,
    rules: list[dict[str, Any]],
) -> None:
    """Anonymize a table and check the release before it is written.

    Example: shoal anonymize patients.csv --quasi age,sex,zip --k 5 -o release.csv

    Columns without a role are not published. If you name no columns and give no plan, roles are
    guessed and shown. The rows of the release are in random order.

    The default rule is k-anonymity with k = 10. Without a plan, only the rules that you give are
    checked: --l 3 alone means l-diversity without k. With a plan, a rule that you give replaces the
    plan's rule of that name, and the others stay. A rule on sensitive values applies to every
    sensitive column.
    """
    from shoal.base.threads import limit

    limit(threads)  # before anything reads how many threads there are

    from shoal.cli.output import Output

    plan = given.plan_file
    started = time.perf_counter()
    # Everything that can be refused is refused before the work starts.
    asked: dict[str, Any] = {"strict": strict, "prove": prove, "history": history or against}
    spark = wants_spark(engine, master, driver_tuples, **asked)
    streams.output_path(Path(out))
    goal = Output.from_options(out, into, json, force, report).with_dictionary(dictionary)
    if not spark:
        goal.check_files(
            [path for path in (data, plan) if path is not None],
            csv_safe=given.values.get("csv_safe"),
        )
    reader = reporting.report_audience(report, audience)

    from shoal.releases.history.store import history_of
    from shoal.tables.open_table import merge_plan

    base = merge_plan(plan, trust=given.trust)
    name = method or base.method.name
    words = [*(option or ()), *([f"effort={effort}"] if effort is not None else ())]
    full = merge_plan(
        base,
        **given.early,
        seed=opt.chosen_seed(seed, seed_file),
        promised=rules,
        method=name,
        options=opt.parse_options(words, name),
    )
    source = given.located(data, full)
    if spark:
        require("spark")
        from shoal.ext.spark import command as spark_command

        flags: dict[str, Any] = {"master": master, "driver_tuples": driver_tuples}
        late = merge_plan(full, **given.late()(()))
        spark_command.carry_out(source, goal, late, reader, started, **flags)
        return
    domains = given.values.get("domain", {})
    inputs = [
        source,
        *([plan] if plan else []),
        *domains.values(),
        *map(parse_place, against or ()),
    ]
    series = history_of(history, full, history_key)
    declares = bool(domains) or full.declares_domain
    (goal := goal.made_by(name, inputs, declared=declares, series=series)).check()
    asked = {"time_limit": time_limit, "strict": strict, "prove": prove}
    asked |= {"pseudonym_key": pseudonym_key, "history": series, "against": against or ()}
    _release(source, full, given.late(), asked, reader, goal, started)


def _told_again(run: Run, again: list[str], near: list[str]) -> Run:
    """Say in the figures and the warnings that a table seems to be released once more."""
    texts, notes = list(again), dict(run.notes)
    if near:
        notes[BEFORE] = near
        many = "are releases" if len(near) > 1 else "is a release"
        told = f"{' and '.join(near[:5])} beside it {many} of the same columns, and "
        if "series" in run.tied:
            told += (
                "the history is empty: this one begins another series. If the same people are in "
                "both, it undoes the promise of those. Give the history that was kept with them."
            )
        else:
            told += (
                "new dummies are drawn: somebody who has two releases of the same people keeps "
                "only the values that are in both sets. Use --history, with which a person keeps "
                "the set, or publish only one."
            )
        texts.insert(0, told)
    return replace(run, warnings=(*texts, *run.warnings), notes=notes)


def _release(
    source: Path | Source,
    plan: Plan,
    declare: Declare,
    settings: Mapping[str, Any],
    reader: str | None,
    goal: Output,
    started: float,
) -> None:
    """Carry the plan out in the background, then write the release and say what came out."""
    from shoal.api.opening import read
    from shoal.cli.background import compile_ahead, run_with_progress, stoppable
    from shoal.verbs.anonymize import STAGES, refuse_if

    again = goal.warn_if_repeated(plan.method.name)
    refuse_if(again if settings["strict"] else ())

    def work(progress: Any) -> tuple[Release[Any], str]:
        progress("read")
        table = read(source, plan, declare)
        release = table.anonymize(progress=progress, **settings)
        release = replace(
            release, run=_told_again(release.made, again, goal.releases_nearby(release.plan))
        )
        refuse_if(
            release.warnings[:1] if settings["strict"] and BEFORE in release.made.notes else ()
        )
        page = ""
        if reader is not None:
            progress("report")
            page = reporting.of_release(
                release.with_original(table), source, table.digest, reader, "Release"
            )
        return release, page

    diverse = any(RULES[rule.name].sensitive for rule in plan.rules)
    first = partial(compile_ahead, plan.method.name, diverse=diverse)
    with warnings.catch_warnings(record=True) as heard:  # the release carries most of them, too
        warnings.simplefilter("always", ShoalWarning)
        release, page = run_with_progress(work, (*STAGES, "prove", "report"), first=first)
    said = [str(each.message) for each in heard if isinstance(each.message, ShoalWarning)]
    for text in dict.fromkeys([*said, *release.warnings]):
        console.warning(text)
    with stoppable():
        goal.write(release, started, page)
    console.show(release.made.pieces())
    console.print_line(f"Wrote {goal}.")
    console.print_detail(
        "Seconds: "
        + ", ".join(f"{stage} {took:.2f}" for stage, took in release.made.seconds.items())
    )
