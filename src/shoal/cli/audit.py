"""``shoal audit``: check whether a published table keeps its privacy rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.base.seeds import read_seed
from shoal.cli import console, person_options, reporting, streams
from shoal.cli import options as opt
from shoal.cli.settings import RELEASED, GivenOptions, with_settings
from shoal.plan.parts import LIMITS
from shoal.tables.source import Place, parse_place

if TYPE_CHECKING:
    from shoal.api.release import Release
    from shoal.plan.plan import Plan
    from shoal.releases.history.store import History
    from shoal.releases.verdict import Verdict


@opt.with_rules
@with_settings(*RELEASED, "identifier", *LIMITS, "suppress")
def command(
    released: Annotated[
        Place | None,
        typer.Argument(
            metavar="RELEASED",
            help="The published file or database table. Not needed with --manifest.",
            parser=streams.parse_input,
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str | None, opt.flag("--table", "NAME", "Table of the database that was published.")
    ] = None,
    original: Annotated[
        Place | None,
        opt.flag(
            "--original",
            "DATA",
            "The original table: each published cell must cover its original value.",
            parser=streams.parse_input,
        ),
    ] = None,
    original_table: Annotated[
        str | None,
        opt.flag("--original-table", "NAME", "Table of the database that --original names."),
    ] = None,
    read_off: Annotated[
        bool,
        typer.Option(
            "--read-off",
            help=(
                "Show what can be deduced from the cells with certainty: original values and "
                "records."
            ),
        ),
    ] = False,
    against: Annotated[
        list[str] | None,
        opt.flag(
            "--against",
            "DATA",
            "Earlier release of the same people; may be repeated. The rules must hold for someone "
            "who has all these releases.",
        ),
    ] = None,
    against_original: Annotated[
        list[str] | None,
        opt.flag(
            "--against-original",
            "DATA",
            "Original table of an earlier release, one for each --against; the steward's report "
            "then includes the attack intersection. Needs --original and --person.",
        ),
    ] = None,
    history: Annotated[
        Path | None,
        opt.flag(
            "--history",
            "FOLDER",
            "History of the series: every person must keep the same set of sensitive values.",
        ),
    ] = None,
    history_key: person_options.HistoryKey = None,
    manifest: Annotated[
        Path | None,
        opt.flag(
            "--manifest",
            "FILE",
            "Manifest of a release made by Shoal: check its digests, and compare its figures with "
            "those of this audit. Takes the place of --plan.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Also make the release again, from --manifest, --data and the seed of its run, "
            "and compare the bytes. Nothing is written.",
        ),
    ] = False,
    data: Annotated[
        Place | None,
        opt.flag("--data", "DATA", "With --again: the original table.", parser=parse_place),
    ] = None,
    seed: Annotated[
        int | None,
        opt.flag("--seed", "INT", "With --again: the seed of the run.", parser=read_seed),
    ] = None,
    seed_file: Annotated[
        Path | None,
        opt.flag("--seed-file", "FILE", "With --again: a file with the seed of the run."),
    ] = None,
    pseudonym_key: Annotated[
        Path | None,
        opt.flag("--pseudonym-key", "FILE", "With --again: the key of the pseudonyms."),
    ] = None,
    json: Annotated[
        Path | None,
        opt.flag(
            "--json",
            "FILE",
            "Write all figures as JSON, with the keys of pycanon's report and more; - for standard "
            "output.",
            callback=streams.output_path,
        ),
    ] = None,
    report: opt.ReportFile = None,
    audience: opt.Audience = None,
    force: opt.Force = False,
    *,
    given: GivenOptions,
    rules: list[dict[str, Any]],
) -> None:
    """Check whether a published table keeps its privacy rules.

    Example: shoal audit release.csv --quasi age,sex,zip --k 5

    Works on any table, also of other tools, and needs no original. The default rule is k-anonymity
    with k = 10; any rule that you give replaces it. All privacy models are measured for the
    sensitive columns.

    Exit codes: 0 all rules hold; 1 a rule is broken; 2 wrong use; 3 the table alone cannot show it
    (the rules count people but no column says which rows belong to one person, or the history of
    the series is needed).

    --again needs the seed, which no manifest holds. It also needs the plan of the run if the plan
    lists texts of the table (missing texts, orders, domains, hierarchies, values in rules), because
    the manifest withholds these.
    """
    from shoal.api.arguments import check_again, check_named_once
    from shoal.api.opening import open_with_plan
    from shoal.cli.output import check_named, warned_last, write_text
    from shoal.plan.plan import Plan
    from shoal.releases.history.store import history_of
    from shoal.tables.open_table import merge_plan
    from shoal.verbs.manifest_audit import AuditedRelease, beside_another, compare_with_manifest

    seed = opt.chosen_seed(seed, seed_file)
    check_again(again, manifest, data, seed, pseudonym_key)
    plan, trust, st = given.plan_file, given.trust, given.opening["st"]
    released, told, promised = _find(released, manifest, plan, trust=trust, others=bool(rules))
    released = parse_place(released, table)
    original = None if original is None else parse_place(original, original_table)
    before = [parse_place(name) for name in against or ()]
    tables = [parse_place(name) for name in against_original or ()]
    named = (released, plan, original, st, manifest, data, *before, *tables)
    inputs = [path for path in named if path is not None]
    extras = check_named({"--json": json, "--report": report}, force, inputs)
    to = reporting.report_audience(report, audience)
    _check_attacked(tables, original, to)
    check_named_once([released, *before])
    full = merge_plan(promised, trust=trust, **given.early, promised=rules)
    declared: dict[str, Any] = {
        "declare": given.late(),
        **given.released,
    }
    with warned_last():
        release = open_with_plan(released, full, st=st, original=original, **declared)
        earlier = [open_with_plan(where, full, **declared) for where in before]
    series, digest = history_of(history, key=history_key), release.local_tables.digest
    verdict = _judge(release, released, told, earlier, series)
    remade = None
    if told is not None and manifest is not None and isinstance(promised, Plan):
        if again:
            from shoal.api.remake import remake

            own = None if plan is None else merge_plan(plan, trust=trust)
            as_read = {name: v for name, v in given.early.items() if name != "suppress"}
            keys: dict[str, Any] = {"pseudonym_key": pseudonym_key, "history": series}
            remade = remake(manifest, data, seed=seed, plan=own, **keys, **as_read)
        file = released if isinstance(released, Path) else None
        found = AuditedRelease(file, release.local_tables, promised, verdict, series, bool(rules))
        verdict = compare_with_manifest(told, manifest.parent, found, remade)
    elif isinstance(released, Path):
        for fault in beside_another(released, digest):
            console.warning(fault)
    texts = {"--json": verdict.to_json()}
    if to is not None:
        tried = reporting.run_attacks(release, earlier, tables) if tables else True
        asked = (to, "Audit", verdict, tried)
        texts["--report"] = reporting.of_release(release, released, digest, *asked)
    console.show(verdict.pieces(detailed=read_off))
    if remade is not None and not remade.faults:
        console.print_line("Made again: the same bytes.")
    for flag, file in extras.items():
        write_text(file, texts.get(flag, ""), force, inputs)
    if not verdict.holds:
        raise typer.Exit(3 if verdict.unknown else 1)


def _find(
    released: Place | None,
    manifest: Path | None,
    plan: Path | None,
    *,
    trust: bool,
    others: bool,
) -> tuple[Place, dict[str, Any] | None, Plan | Path | None]:
    """Return the published table, what its manifest says, and the plan that the two give."""
    from shoal.base.errors import ParameterError
    from shoal.tables.open_table import merge_plan
    from shoal.verbs.manifest import plan_of, read_manifest, released_name

    if manifest is None:
        if released is None:
            raise ParameterError(
                "Nothing to audit was named. Give the published table, or its manifest with "
                "--manifest FILE."
            )
        return released, None, plan
    made = read_manifest(manifest)
    own = None if plan is None else merge_plan(plan, trust=trust)
    if released is None:
        released = manifest.parent / released_name(made, manifest)
    return released, made, plan_of(made, own, manifest.parent, others=others)


def _judge(
    release: Release[Any],
    released: Place,
    told: Mapping[str, Any] | None,
    earlier: Sequence[Release[Any]],
    history: History | None,
) -> Verdict:
    """Audit a release; its manifest, named or beside it, may say that it is one of a series."""
    from shoal.verbs.audit import audit
    from shoal.verbs.manifest_audit import claimed_m, manifest_beside

    if told is None and isinstance(released, Path):
        told = manifest_beside(released, release.local_tables.digest)
    return audit(
        release.local_tables,
        release.plan,
        original=release.original,
        against=[one.local_tables for one in earlier],
        history=history,
        claimed=None if told is None else claimed_m(told),
    )


def _check_attacked(tables: Sequence[Place], original: Place | None, to: str | None) -> None:
    """Refuse originals of earlier releases that nothing would look at."""
    from shoal.base.errors import ParameterError

    if tables and (to != "steward" or original is None):
        raise ParameterError(
            "--against-original is for the attack 'intersection' in the steward's report of a "
            "release with its original. Give --original and --report, or leave it out; 'shoal "
            "attack' "
            "tries it without a report."
        )
