"""``shoal anonymize``: a table in, a verified release out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import say
from shoal.cli.options import (
    Data,
    Delimiter,
    Force,
    Hierarchies,
    Identifier,
    Missing,
    Other,
    PlanFile,
    Quasi,
    Sensitive,
    methods_help,
    with_rules,
)

if TYPE_CHECKING:
    from shoal.outcome import Outcome


@with_rules
def command(
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The release: .csv, .csv.gz, .tsv, .parquet, .arrow or .feather. The second "
            "table of anatomy goes next to it, with .st before the ending.",
        ),
    ],
    plan: PlanFile = None,
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
    from shoal.cli.options import base_plan, parse_options, split_names
    from shoal.cli.work import stoppable, watch

    started = time.perf_counter()
    inputs = [path for path in (data, plan) if path is not None]
    # Everything that can be refused is refused before the work starts.
    on_spark = _on_spark(engine, master, driver_tuples)
    if not on_spark:
        _check_outputs(out, json, force, inputs)

    from shoal.atomic import check_output
    from shoal.prepare import load
    from shoal.run import STAGES, anonymize
    from shoal.schema import Role

    full = base_plan(
        plan, missing=missing, delimiter=delimiter, hierarchies=hierarchies, seed=seed
    ).override(rules=rules, release={} if typed is None else {"typed": typed})
    chosen = method or full.method.name
    words = [*(option or ()), *([f"effort={effort}"] if effort is not None else ())]
    full = full.override(method=chosen, options=parse_options(words, chosen))
    if on_spark:
        from shoal.cli.on_spark import Order, carry_out

        roles = {Role.QUASI: quasi, Role.SENSITIVE: sensitive}
        roles |= {Role.IDENTIFIER: identifier, Role.OTHER: other}
        full = full.override(
            roles={role: split_names(names, ()) or [] for role, names in roles.items() if names}
        )
        carry_out(Order(data, out, json, force, master, driver_tuples), full, started)
        return
    files = _files(out, chosen)
    for file in files.values():
        check_output(file, force=force, inputs=inputs)
    named = {
        Role.QUASI: quasi,
        Role.SENSITIVE: sensitive,
        Role.IDENTIFIER: identifier,
        Role.OTHER: other,
    }

    def work(progress: Any) -> Outcome:
        progress("read")
        begun = time.perf_counter()
        frame = load(data, full)
        reading = time.perf_counter() - begun
        roles = {
            role: names
            for role, given in named.items()
            if (names := split_names(given, frame.columns)) is not None
        }
        outcome = anonymize(frame, plan=full.override(roles=roles), progress=progress)
        outcome.seconds["read"] += reading
        return outcome

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the outcome carries them; shown below
        outcome = watch(work, STAGES)
    for text in outcome.warnings:
        say.warning(text)
    with stoppable():
        _write(outcome, files, json, force, inputs, started)
    report(outcome)
    written = [*files.values(), *([json] if json else [])]
    say.line(f"Wrote {' and '.join(map(str, written))}.")


def _on_spark(engine: str, master: str | None, driver_tuples: int | None) -> bool:
    """Tell whether Spark does the work, and refuse its flags without it."""
    from shoal.errors import ParameterError, nearest

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


def _check_outputs(out: Path, json: Path | None, force: bool, inputs: list[Path]) -> None:
    from shoal.atomic import check_output
    from shoal.errors import OutputError

    target = check_output(out, force=force, inputs=inputs)
    if json is not None and check_output(json, force=force, inputs=inputs) == target:
        raise OutputError(
            f"--out and --json both name {out}. Give the figures a file of their own."
        )
    from shoal.table import check_output_format

    check_output_format(out)


def _files(out: Path, method: str) -> dict[str, Path]:
    """Return the file of every table that the method publishes."""
    from shoal.catalog import find_method
    from shoal.table import second_path

    both = find_method(method).release == "anatomized"
    return {"release": out} | ({"st": second_path(out)} if both else {})


def _write(
    outcome: Outcome,
    files: Mapping[str, Path],
    json: Path | None,
    force: bool,
    inputs: list[Path],
    started: float,
) -> None:
    from shoal.atomic import atomic_file
    from shoal.table import write_tables

    begun = time.perf_counter()
    fresh = [file for file in files.values() if not file.exists()]
    tables = {file: outcome.tables[name] for name, file in files.items()}
    write_tables(tables, force=force, inputs=inputs)
    outcome.seconds["write"] = time.perf_counter() - begun
    outcome.seconds["total"] = time.perf_counter() - started
    if json is None:
        return
    try:
        with atomic_file(json, force=force, inputs=[*inputs, *files.values()]) as stream:
            stream.write(outcome.to_json().encode())
    except BaseException:
        # Both or neither; a file that was replaced with --force is gone already.
        for file in fresh:
            file.unlink(missing_ok=True)
        raise


def report(outcome: Outcome) -> None:
    """Say in a few lines what came out."""
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
        reached = ", ".join(f"{name} = {value}" for name, value in result.achieved.items())
        say.line(f"Verified {result.promise}; reached: {reached}")


def _figures(value: Any) -> str:
    """Write a note of a method in short: of many things how many there are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figures(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)
