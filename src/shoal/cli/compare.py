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
from shoal.cli.settings import Given, with_settings

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
            "Risk to weigh: re-identification, or belief in a sensitive value.",
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
    given: Given,
    rule_values: dict[str, list[Any]],
) -> None:
    """Compare methods and settings side by side, and recommend one of them.

    Example: shoal compare patients.csv --plan plan.toml --methods shoal,mondrian --k 2,5,10,50

    Options of rules take several values; every combination is tried. Without one, k = 2, 5, 10, 50
    and the plan's rules are tried. Each release is checked; none is written. If a setting is not
    possible, the output says why. Exit code 2 if no setting is possible.
    """
    from shoal.cli.background import stoppable, watch
    from shoal.cli.output import check_named
    from shoal.show.charts.paper import check_picture

    inputs = [path for path in (data, given.plan_file) if path is not None]
    if plot is not None:
        check_picture(plot)
    outputs = {"--json": json, "--csv": csv, "--plot": plot, "--report": report}
    files = check_named(outputs, force, inputs)
    reporting.reader(report, None)

    from shoal.api.opening import read
    from shoal.tables.open_table import planned
    from shoal.verbs.compare.choices import choices
    from shoal.verbs.compare.measuring import QUERIES

    full = planned(given.plan(), seed=opt.chosen_seed(seed, seed_file))
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
            prove=prove,
            keep_releases=False,
            progress=progress,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the comparison carries them; shown below
        comparison = watch(work, ("reading", *labels), STOPPING)
    _show_or_leave(comparison, len(labels))
    if comparison.recommended is not None:
        named = {f"--{name.replace('_', '-')}": own for name, own in given.opening.items()}
        named |= {"--seed": seed, "--seed-file": seed_file, "--trust-plan": None}
        places = [str(getattr(data, "again", data))]  # never a password
        places += [str(w) for flag in named.items() if flag[1] is not None for w in flag]
        places += ["--trust-plan"] if given.trust else []
        console.line(f"Make it with: {_again(comparison.recommended, asked, places)}")
    with stoppable():
        _write(comparison, files, data, force, inputs)


def _show_or_leave(comparison: Comparison, settings: int) -> None:
    """Show it, and end without a file if it was stopped, or if no setting is possible."""
    show_comparison(comparison)
    if comparison.stopped:
        shown = f"{len(comparison.settings)} of {settings} settings are shown"
        console.note(f"Stopped: {shown}, no file was written.")
        raise typer.Exit(130)
    if not comparison.verified:
        raise typer.Exit(2)


def _write(
    comparison: Comparison, files: Mapping[str, Path], data: Place, force: bool, inputs: list[Place]
) -> None:
    from shoal.cli.output import keep

    texts: dict[str, Callable[[], str]] = {
        "--json": comparison.to_json,
        "--csv": lambda: comparison.to_polars().write_csv(),
        "--report": lambda: reporting.of_comparison(comparison, data),
    }
    for flag, path in files.items():
        if flag == "--plot":
            comparison.plot().save(path, force=force)
            console.line(f"Wrote {path}.")
        else:
            keep(path, texts[flag](), force, inputs)


# The figures of the table next to losses: name, heading, how it is written.
_SHOWN = (
    ("above_best", "above best", ".1%"),
    ("risk_highest", "risk", ".1%"),
    ("risk_mean", "mean risk", ".1%"),
    ("risk_above", "at risk", ".1%"),
    ("belief_worst", "belief", ".1%"),
    ("share_ratio", "max gain", ".2f"),
    ("read_off", "deduced", ".1%"),
    ("left_out", "removed", ",.0f"),
    ("classes", "classes", ",.0f"),
    ("query_median", "query error", ".1%"),
    ("accuracy", "accuracy", ".1%"),
    ("seconds", "seconds", ".2f"),
)
# Columns that a narrow terminal does without, the first one first.
_SPARE = (
    *("seconds", "mean risk", "at risk", "deduced", "classes", "removed", "above best"),
    *("max gain", "query error", "accuracy"),
)


def show_comparison(comparison: Comparison) -> None:
    """Show the table, what is not possible, and what is recommended."""
    for text in comparison.warnings:
        console.warning(text)
    console.line(
        f"{comparison.rows:,} rows, {len(comparison.quasi)} quasi-identifiers, "
        f"{len(comparison.settings)} settings"
        f"{f', {comparison.repeats} runs each' if comparison.repeats > 1 else ''}"
    )
    if comparison.verified:
        _table(comparison)
    impossible: dict[str, list[str]] = {}
    for setting in comparison.settings:
        if not setting.verified:
            impossible.setdefault(setting.detail, []).append(setting.label)
    for detail, labels in impossible.items():
        console.line(f"Not possible: {', '.join(labels)}. {detail}")
    for note in comparison.notes:
        console.note(note)
    chosen = comparison.recommended
    console.line(f"\nRecommended: {chosen.label if chosen else 'none'}")
    console.line(comparison.why)


def _table(comparison: Comparison) -> None:
    from shoal.verbs.compare.measuring import figures_of_settings

    better = figures_of_settings()
    measured = {name for setting in comparison.verified for name in setting.figures}
    some_left = any(setting.figures.get("left_out") for setting in comparison.verified)
    losses = [(n, n.replace("_", " "), entry.form) for n, entry in LOSSES.items() if entry.shown]
    shown = [
        (name, head, form)
        for name, head, form in (*losses, *_SHOWN)
        if name in measured and (name != "left_out" or some_left)
    ]
    rows, strong = [], set()
    best = {}
    for name, _, form in shown:
        values = [
            setting.figures[name] for setting in comparison.verified if name in setting.figures
        ]
        # What looks alike in the table is marked alike, and not at all when all are alike.
        if len(values) < 2 or len({_written(value, form) for value in values}) > 1:
            best[name] = _written((max if better[name] else min)(values), form)
    for at, setting in enumerate(comparison.verified):
        mark = "+" if setting in comparison.frontier else ""
        mark = ">" if setting is comparison.recommended else mark
        row = [mark, setting.method, *(_flag(setting, flag) for flag in comparison.flags)]
        for name, _, form in shown:
            value = setting.figures.get(name)
            text = "-" if value is None else _written(value, form)
            if text == best.get(name):
                strong.add((at, len(row)))
                text += "*"
            row.append(text)
        rows.append(row)
    heads = ["", "method", *comparison.flags, *(head for _, head, _ in shown)]
    left = console.table(heads, rows, strong=strong, spare=_SPARE)
    console.line("> recommended   + also on the frontier   * best of its column")
    for head, meaning in _legend(comparison).items():
        if head in heads and head not in left:
            console.line(f"{head}: {meaning}")
    if left:
        console.line(f"Not shown here: {', '.join(reversed(left))} (see --json, --csv, --report).")


def _written(value: float, form: str) -> str:
    return f"{value:{form}}".replace("%", " %")


def _legend(comparison: Comparison) -> dict[str, str]:
    """Return what each heading means."""
    limit = console.percent(comparison.threshold, 0)
    scores = {n: console.percent(score["accuracy"]) for n, score in comparison.baselines.items()}
    return {
        "loss": "information loss",
        "above best": "how much more than the best possible release it loses at most",
        "risk": "highest re-identification risk of a row",
        "mean risk": "mean re-identification risk",
        "at risk": f"rows with a risk above {limit}",
        "belief": "highest probability of a person's most likely sensitive value",
        "max gain": "largest increase of a sensitive value's share within a class; limited by "
        "alpha, beta and t",
        "deduced": "original records that can be deduced from the release",
        "query error": "median error of counts estimated from the release",
        "accuracy": f"of a classifier for {comparison.target} trained on the release; trained on "
        f"the original {scores.get('original', '-')}, always guessing the most frequent value "
        f"{scores.get('majority', '-')}",
    }


def _flag(setting: ComparedSetting, flag: str) -> str:
    from shoal.verbs.compare.choices import say as written

    return written(setting.values[flag]) if flag in setting.values else ""


def _again(setting: ComparedSetting, given: Mapping[str, Any], places: Sequence[str]) -> str:
    """Return the command that makes the release of a setting: with everything that was given."""
    from shoal.plan.command import words_of
    from shoal.verbs.compare.choices import read_method

    name, options = read_method(setting.method)
    words = words_of({**given, "method": name, "options": options, **setting.values})
    command = shlex.join(["shoal", "anonymize", *places, *(words or []), "-o", "release.csv"])
    # A name with a space at its end, say, cannot be written among others.
    return command if words is not None else f"{command} (with the same options as here)"
