"""``shoal replay``: the same release once more, from its manifest, its table and its seed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import persons, say
from shoal.cli.readers import with_reading
from shoal.tables.sources.source import Place, place


@with_reading
def command(
    manifest: Annotated[
        Path,
        typer.Argument(
            metavar="MANIFEST",
            help="The manifest beside the release (x.csv.manifest.json), or the figures of its "
            "run (--json).",
        ),
    ],
    data: Annotated[
        Place, opt.flag("--data", "DATA", "The table that it was made from.", parser=place)
    ],
    seed: opt.Seed = None,
    seed_file: opt.SeedFile = None,
    plan: opt.PlanFile = None,
    trust_plan: opt.TrustPlan = False,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    delimiter: opt.Delimiter = None,
    pseudonym_key: Annotated[
        Path | None, opt.flag("--pseudonym-key", "FILE", "The key of the release's pseudonyms.")
    ] = None,
    history: Annotated[
        Path | None,
        opt.flag(
            "--history",
            "FOLDER",
            "The history of its series, as it was before the release or as it is now; nothing is "
            "recorded.",
        ),
    ] = None,
    history_key: persons.HistoryKey = None,
    out: Annotated[
        Path | None,
        opt.flag(
            "--out -o", "DIR", "A folder in which to leave the release; by default it is deleted."
        ),
    ] = None,
    force: opt.Force = False,
    *,
    reading: dict[str, str],
) -> None:
    """Make a release again from its manifest, its table and its seed, and compare the bytes.

    Example: shoal replay release.csv.manifest.json --data patients.csv --seed 7

    Exit code 0 if every byte is the same, 1 if not; 2 on bad use. The seed is in no manifest. What
    a plan lists (missing texts, orders, domains, hierarchies) is withheld from the one beside the
    release; then give the plan of the run too.
    """
    from shoal.api.replay import replay
    from shoal.base.errors import ParameterError
    from shoal.releases.history.store import history_of
    from shoal.tables.prepare import merge

    secret = opt.chosen_seed(seed, seed_file)
    if secret is None:
        raise ParameterError(
            "A replay needs the seed of the run, which no manifest holds. Give it with --seed-file "
            "FILE or --seed."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run of then has told them
        outcome = replay(
            manifest,
            data,
            seed=secret,
            plan=None if plan is None else merge(plan, trust=trust_plan),
            hierarchies=hierarchies,
            missing=missing,
            delimiter=delimiter,
            reading=reading,
            pseudonym_key=pseudonym_key,
            history=history_of(history, key=history_key),
            out=out,
            force=force,
        )
    for fault in outcome.faults:
        say.line(f"Differs  {fault}")
    for part in outcome.others:
        say.line(f"Other    {part} is not the one that the release was made from.")
    if outcome.versions:
        say.line(f"Versions {'; '.join(outcome.versions)}")
    if not outcome.same:
        say.line("The release could not be repeated: the bytes differ.")
        raise typer.Exit(1)
    say.line(f"The same bytes: {', '.join(outcome.files)}.")
