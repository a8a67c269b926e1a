"""``shoal attack``: simulate attacks on a release."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from shoal.cli import console, streams
from shoal.cli import options as opt
from shoal.cli.settings import RELEASED, GivenOptions, with_settings
from shoal.tables.source import Place, parse_place


@with_settings(*(name for name in RELEASED if name != "quasi"))
def command(
    original: Annotated[
        Place,
        typer.Argument(metavar="ORIGINAL", help="The original table.", parser=streams.parse_input),
    ],
    released: opt.Released,
    known: Annotated[
        list[str] | None,
        opt.flag(
            "--known",
            "NAMES",
            "Columns that the attacker knows (default: quasi-identifiers of the plan).",
        ),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        opt.flag(
            "--attacks",
            "NAMES",
            "Attacks to run: linkage, homogeneity, inference, background (default: all of these, "
            "or "
            "linkage if no column is sensitive), readoff, downcoding, intersection. Readoff and "
            "downcoding deduce original records from the release alone; intersection needs "
            "--against.",
        ),
    ] = None,
    targets: Annotated[
        int | None,
        opt.flag(
            "--targets",
            "INT",
            "Number of people to attack, drawn at random (default 2000).",
        ),
    ] = None,
    noise: Annotated[
        float, opt.flag("--noise", "SHARE", "Share of the attacker's knowledge that is wrong.")
    ] = 0.0,
    gaps: Annotated[
        float, opt.flag("--gaps", "SHARE", "Share of the attacker's knowledge that is missing.")
    ] = 0.0,
    rule_out: Annotated[
        int,
        opt.flag(
            "--rule-out",
            "INT",
            "Number of wrong sensitive values that the background attack rules out.",
        ),
    ] = 1,
    control: Annotated[
        Place | None,
        opt.flag(
            "--control",
            "DATA",
            "Table of people who are not in the release, as a baseline.",
            parser=streams.parse_input,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        opt.flag(
            "--against",
            "DATA",
            "Earlier release of the same people, for the attack intersection; may be repeated. "
            "Needs "
            "--person.",
        ),
    ] = None,
    against_original: Annotated[
        list[str] | None,
        opt.flag(
            "--against-original",
            "DATA",
            "Original table of each earlier release, in the same order.",
        ),
    ] = None,
    seed: Annotated[
        int | None, opt.flag("--seed", "INT", "Make the random choices repeatable.")
    ] = None,
    json: opt.JsonFile = None,
    force: opt.Force = False,
    *,
    given: GivenOptions,
) -> None:
    """Simulate attacks on a release, and show how often they succeed.

    Example: shoal attack patients.csv release.csv --known age,sex,zip --sensitive disease

    The attacker knows some columns of a person, tries to find the person's row, and guesses
    sensitive values. The success rates are compared with guesses without the release and with a
    control. Give the hierarchies that the release was made with.
    """
    from shoal.api.arguments import check_named_once
    from shoal.api.opening import open_with_plan
    from shoal.cli.output import check_named, warned_last, write_text
    from shoal.tables.open_table import load_table

    plan, st = given.plan_file, given.opening["st"]
    before = [parse_place(name) for name in against or ()]
    tables = [parse_place(name) for name in against_original or ()]
    named = (original, released, plan, control, st, *before, *tables)
    inputs = [path for path in named if path is not None]
    check_named({"--json": json}, force, inputs)
    check_named_once([released, *before])
    full = given.plan()
    truth = load_table(original, full)
    declared: dict[str, Any] = {
        "declare": replace(given, values={**given.values, "quasi": known}).late(*truth.columns),
        **given.released,
    }
    with warned_last():
        release = open_with_plan(released, full, st=st, original=truth, **declared)
        found = release.attack(
            attacks=opt.split_names(attacks, (), "attacks"),
            targets=targets,
            noise=noise,
            gaps=gaps,
            rule_out=rule_out,
            control=control,
            against=[open_with_plan(where, full, **declared) for where in before],
            against_original=tables,
            seed=seed,
        )
        console.show(found.pieces())
    write_text(json, found.to_json(), force, inputs)
