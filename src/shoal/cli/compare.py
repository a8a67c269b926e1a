"""``shoal compare``: compare methods and settings side by side."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.catalog import LOSSES, METHODS
from shoal.cli import console, reporting
from shoal.cli import options as opt
from shoal.cli.settings import GivenOptions, with_settings

if TYPE_CHECKING:
    from shoal.tables.source import Place
    from shoal.verbs.compare import ComparedSetting, Comparison

_BASELINES = [entry.name for entry in METHODS.values() if entry.baseline]
STOPPING = (
    "Stopping after the setting that is running; what is done by then is shown. "
    "Press ctrl-C again to stop at once."
)


@opt.with_rule_values
@with_settings()
def command(
    data: opt.Data,
    methods: Annotated[
        list[str] | None,
        opt.flag(
            "--methods",
            "NAMES",
            "Methods, comma-separated, with options if needed (shoal:effort=max). "
            f"Default: the plan's method, {', '.join(_BASELINES)}.",
        ),
    ] = None,
    repeats: Annotated[
        int, opt.flag("--repeats", "INT", "Runs of each setting; means are shown.", min=1)
    ] = 1,
    queries: Annotated[
        bool,
        typer.Option("--queries/--no-queries", help="Measure errors of random counting queries."),
    ] = True,
    classifier: Annotated[
        bool | None,
        typer.Option(
            "--classifier/--no-classifier",
            help=(
                "Train a classifier on each release and test it on the original (needs shoal[ml])."
            ),
        ),
    ] = None,
    target: Annotated[
        str | None,
        opt.flag(
            "--target",
            "NAME",
            "Column that the classifier predicts (default: first sensitive column).",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        opt.flag(
            "--risk",
            "highest|mean|belief",
            "Risk to weigh; belief: in a sensitive value.",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        opt.flag(
            "--cost",
            "NAME",
            f"Cost to weigh against it: {', '.join(LOSSES)}, queries or classifier.",
        ),
    ] = None,
    threshold: Annotated[
        float, opt.flag("--threshold", "SHARE", "Largest risk of a recommended setting.")
    ] = 0.2,
    belief: Annotated[
        float | None,
        opt.flag(
            "--belief",
            "SHARE",
            "Largest belief of a recommended setting, with --risk belief (default: halfway between "
            "the share of the most frequent value and 1).",
        ),
    ] = None,
    recipient: Annotated[
        str | None,
        opt.flag(
            "--recipient",
            "WORD",
            "Who gets the release: internal, contract or public; sets the limits on risk and "
            "belief of a recommended setting.",
        ),
    ] = None,
    seed: opt.Seed = None,
    seed_file: opt.SeedFile = None,
    json: opt.JsonFile = None,
    csv: Annotated[Path | None, opt.flag("--csv", "FILE", "Write all figures as CSV.")] = None,
    plot: Annotated[
        Path | None, opt.flag("--plot", "FILE.svg|.html", "Draw risk against information loss.")
    ] = None,
    report: opt.ReportFile = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Compute for each setting how far it is from the best possible release at most; "
            "up to a minute for each k.",
        ),
    ] = False,
    force: opt.Force = False,
    *,
    given: GivenOptions,
    rule_values: dict[str, list[Any]],
) -> None:
    """Compare methods and settings side by side, and recommend one of them.

    Example: shoal compare patients.csv --plan plan.toml --methods shoal,mondrian --k 2,5,10,50

    Options of rules take several values; every combination is tried. Without one, k = 2, 5, 10, 50
    and the plan's rules are tried. Each release is checked; none is written. If a setting is not
    possible, the output says why. Exit code 2 if no setting is possible.
    """
    from shoal.cli.background import run_with_progress, stoppable
    from shoal.cli.output import check_named
    from shoal.show.charts.paper import check_picture

    inputs = [path for path in (data, given.plan_file) if path is not None]
    if plot is not None:
        check_picture(plot)
    outputs = {"--json": json, "--csv": csv, "--plot": plot, "--report": report}
    files = check_named(outputs, force, inputs)
    reporting.report_audience(report, None)

    from shoal.api.opening import read
    from shoal.tables.open_table import merge_plan
    from shoal.verbs.compare.choices import choices
    from shoal.verbs.compare.measuring import QUERIES

    full = merge_plan(given.plan(), seed=opt.chosen_seed(seed, seed_file))
    wanted = opt.split_names(methods, (), "methods")
    labels = [choice.label for choice in choices(full, wanted, rule_values)]

    asked: dict[str, Any] = {}

    def work(progress: Any) -> Comparison:
        progress("reading")
        table = read(given.located(data, full), full, given.late())
        asked.update(given.every(table.frame.columns))
        return table.compare(
            methods=wanted,
            rule_values=rule_values,
            repeats=repeats,
            queries=QUERIES if queries else 0,
            classifier=classifier,
            target=target,
            risk=risk,
            cost=cost,
            threshold=threshold,
            belief=belief,
            recipient=recipient,
            prove=prove,
            keep_releases=False,
            progress=progress,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the comparison carries them; shown below
        comparison = run_with_progress(work, ("reading", *labels), STOPPING)
    _show_or_leave(comparison, len(labels))
    if comparison.recommended is not None:
        named = {f"--{name.replace('_', '-')}": own for name, own in given.opening.items()}
        named |= {"--seed": seed, "--seed-file": seed_file, "--trust-plan": None}
        places = [str(getattr(data, "again", data))]  # never a password
        places += [str(w) for flag in named.items() if flag[1] is not None for w in flag]
        places += ["--trust-plan"] if given.trust else []
        console.print_line(_again(comparison.recommended, asked, places))
    with stoppable():
        _write(comparison, files, data, force, inputs)


def _show_or_leave(comparison: Comparison, settings: int) -> None:
    """Show it, and end without a file if it was stopped, or if no setting is possible."""
    console.show(comparison.pieces(detailed=True))
    if comparison.stopped:
        shown = f"{len(comparison.settings)} of {settings} settings are shown"
        console.print_note(f"Stopped: {shown}, no file was written.")
        raise typer.Exit(130)
    if not comparison.verified:
        raise typer.Exit(2)


def _write(
    comparison: Comparison, files: Mapping[str, Path], data: Place, force: bool, inputs: list[Place]
) -> None:
    from shoal.cli.output import write_text

    texts: dict[str, Callable[[], str]] = {
        "--json": comparison.to_json,
        "--csv": lambda: comparison.to_polars().write_csv(),
        "--report": lambda: reporting.of_comparison(comparison, data),
    }
    for flag, path in files.items():
        if flag == "--plot":
            comparison.plot().save(path, force=force)
            console.print_line(f"Wrote {path}.")
        else:
            write_text(path, texts[flag](), force, inputs)


def _again(setting: ComparedSetting, given: Mapping[str, Any], places: Sequence[str]) -> str:
    """Return the command that makes the release of a setting: with everything that was given."""
    from shoal.plan.command import words_of
    from shoal.verbs.compare.choices import read_method

    name, options = read_method(setting.method)
    words = words_of({**given, "method": name, "options": options, **setting.values})
    if words is None:
        return (
            "No command can say all of this: some name or value is empty or holds '='. Write it "
            "into a plan (shoal init), then run: shoal anonymize --plan"
        )
    command = shlex.join(["shoal", "anonymize", *places, *words, "-o", "release.csv"])
    return f"Make it with: {command}"
