"""``python -m experiments``: the experiments of the papers, run again."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import OVER_TIME
from experiments.caching import Store, default_folder
from experiments.fetching import fetch_adult
from experiments.overtime import reproduce_series, series_digests
from experiments.pages import check_folder, write_paper, write_summary
from experiments.plans import HERE, check_papers, figures_called, read_study
from experiments.published import MARK, measured_by, read_record
from experiments.running import Reproduction, digests, reproduce
from experiments.sources import find_sources, shared_folder
from experiments.working import Crew
from shoal.base.errors import InputError, ParameterError, ShoalError
from shoal.cli import console


def command(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="kaim, l_clustering, alpha_k, dummies, all of these; or releases."
        ),
    ] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer rows, points and repeats: a first look.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="PATH",
            help="Adult as a file, or a folder with adult.csv and acs_occ_300k.parquet; "
            "../shared/data by default.",
        ),
    ] = None,
    hierarchies: Annotated[
        Path | None,
        typer.Option(
            "--hierarchies",
            metavar="DIR",
            help="Folder of Adult's hierarchies; by default hierarchies/adult beside the table, "
            "else those that come with the experiments.",
        ),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Get Adult from the UCI archive, checked by SHA-256.")
    ] = False,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="Measure this figure only (7b, loss-by-k); may be repeated. The others stay as "
            "they are published.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Measure nothing: name the figures that other code measured."),
    ] = False,
    claims: Annotated[
        bool,
        typer.Option(
            "--claims", help="Measure nothing: judge the claims again by what is published."
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for pages, figures and numbers.")
    ] = HERE,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes that measure.")] = 2,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="DIR", help="Folder where measurements are kept."),
    ] = None,
) -> None:
    """Run the experiments of the papers again, and say which of their claims hold.

    Example: python -m experiments kaim --quick --out out

    What was measured once on the same data by the same code is kept and not measured again.
    """
    papers = check_papers(paper)
    if check:
        _check((*papers, OVER_TIME) if paper == "all" else papers)
        return
    if (figure or claims) and (len(papers) > 1 or paper == OVER_TIME):
        raise ParameterError(
            "--figure and --claims need the name of one paper: kaim, l_clustering, alpha_k or "
            f"dummies. Got {paper!r}."
        )
    if fetch and data is not None:
        raise ParameterError(
            "--fetch gets Adult from the UCI archive and --data names a table that is here. Give "
            "only one of them."
        )
    check_folder(out, papers)
    kept = cache or default_folder()
    if fetch:
        data = fetch_adult(kept, console.print_note)
    sources = find_sources(data, hierarchies, shared_folder() if data is None else None)
    sources.frame("adult")  # refused before anything is measured
    try:
        with Crew(jobs) as crew:
            for name in papers:
                study = read_study(name, quick=quick)
                only = figures_called(study, figure or ()) if figure or claims else None
                show = _Progress(name)
                if name == OVER_TIME:
                    found = reproduce_series(study, sources, Store(kept), progress=show)
                else:
                    found = reproduce(study, sources, Store(kept), crew, only=only, progress=show)
                page = write_paper(found, out)
                _report(found)
                now = f"{found.seconds / 60:.1f} minutes ({found.measured_now} measured now)"
                console.print_line(f"Wrote {page} in {now}.\n")
    except (KeyboardInterrupt, SystemExit):
        console.print_note("Stopped. What is measured is kept: run the command again to go on.")
        raise
    console.print_line(f"All claims: {write_summary(out)}")


class _Progress:
    """Say how far a paper is: a line that moves on a terminal, else a line for every tenth."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = time.monotonic()
        self.kept = -1
        self.tenth = 0

    def __call__(self, done: int, every: int) -> None:
        if self.kept < 0:
            self.kept = done
        text = f"{self.name}: {done} of {every} points{self._left(done, every)}"
        if sys.stderr.isatty():
            end = "\n" if done == every else ""
            typer.echo(f"\r{text:<60}{end}", err=True, nl=False)
        elif 10 * done // max(every, 1) > self.tenth:
            self.tenth = 10 * done // max(every, 1)
            console.print_note(text)

    def _left(self, done: int, every: int) -> str:
        """Return the minutes that are left if the others take as long as those so far."""
        if done in (self.kept, every):
            return ""
        gone = time.monotonic() - self.start
        return f", about {gone / (done - self.kept) * (every - done) / 60:.0f} minutes left"


def _check(papers: Sequence[str]) -> None:
    """Name the figures that other code than the present measured; fail if there are any."""
    stale = 0
    for name in papers:
        study = read_study(name)
        old = measured_by(read_record(HERE / name / MARK), study)
        now = series_digests(study) if name == OVER_TIME else digests(study)
        names = [figure.id for figure in study.figures if old[figure.id] != now[figure.id]]
        stale += len(names)
        if names:
            console.print_line(
                f"{name}: {len(names)} of {len(study.figures)} figures: {', '.join(names)}"
            )
    if stale:
        raise InputError(
            f"{stale} figures were measured by other code than the present. Measure them again: "
            "make reproduce, or python -m experiments PAPER --figure NAME."
        )
    console.print_line("Every figure was measured by the present code.")


def _report(found: Reproduction) -> None:
    console.table(
        ("claim", "verdict", "measured"),
        [(each.claim.text, each.verdict, each.reason) for each in found.verdicts],
        found.study.title,
    )
    agree = sum(each.agrees for each in found.confirmations)
    if found.confirmations:
        console.print_line(
            f"Whole runs that were verified and agree: {agree} of {len(found.confirmations)}."
        )


def run() -> int:
    """Run the command; what goes wrong on purpose is one message and the code 2."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command)
    try:
        app(prog_name="python -m experiments")
    except ShoalError as error:
        console.error(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run())
