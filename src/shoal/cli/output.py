"""Check where a release and its other files go, then write them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import OutputError, ParameterError, ShoalWarning
from shoal.cli import console
from shoal.cli.streams import DASH, write_stdout
from shoal.tables.source import Place, Source, parse_target

if TYPE_CHECKING:
    import polars as pl

    from shoal.api.release import Release
    from shoal.plan.plan import Plan
    from shoal.releases.history.store import History


@dataclass(frozen=True)
class Output:
    """What a run writes.

    Parameters
    ----------
    place
        The release: a file, or a table of a database.
    json, report
        The files of the figures and of the report.
    force
        Existing files and tables may be replaced.
    inputs
        What is read, and never written over.
    tables
        Where every table of the release goes, by name.
    series
        The history of the releases that this is one of.
    beside
        The files of the data dictionary, by what their names add to the release's.
    """

    place: Path | Source
    json: Path | None
    force: bool
    inputs: tuple[Place, ...] = ()
    tables: Mapping[str, Path | Source] = field(default_factory=dict)
    report: Path | None = None
    series: History | None = None
    beside: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def from_options(
        cls, out: str, into: str | None, json: Path | None, force: bool, report: Path | None = None
    ) -> Output:
        """Read the words of the command line."""
        return cls(parse_target(out, into), json, force, report=report)

    @property
    def extras(self) -> dict[str, Path]:
        """The other files of a run, by the flag that names them."""
        named = {"--json": self.json, "--report": self.report}
        return {flag: file for flag, file in named.items() if file is not None} | dict(self.beside)

    def with_dictionary(self, wanted: bool) -> Output:
        """Return the output with the two files of a data dictionary, if they are wanted."""
        if not wanted:
            return self
        if not isinstance(self.place, Path) or self.place == DASH:
            raise ParameterError(
                "--dictionary needs a release that is written to a file, and this one is not. "
                "Leave it out, or "
                "let --out name a file."
            )
        from shoal.report.dictionary import PAGE, SUFFIX

        files = {end: self.place.with_name(self.place.name + end) for end in (SUFFIX, PAGE)}
        return replace(self, beside=files)

    @property
    def manifest(self) -> Path | None:
        """Where the manifest goes: beside the release, if that is a file."""
        from shoal.verbs.manifest import manifest_path

        return None if self.place == DASH else manifest_path(self.place)

    def __str__(self) -> str:
        whole = (*self.tables.values(), self.manifest, *self.extras.values())
        files = [str(file) for file in whole if file is not None and file != DASH]
        if not files:
            return "to standard output"
        return " and ".join(filter(None, [", ".join(files[:-1]), files[-1]]))

    def check_files(self, inputs: Sequence[Place], *, csv_safe: bool | None = False) -> None:
        """Refuse what can be refused at once: wrong files, before anything heavy is loaded."""
        places = [self.place] if isinstance(self.place, Path) else []
        _check([*places, *self.extras.values()], self.force, inputs)
        check_apart([Path(self.place)], self.extras)
        if isinstance(self.place, Path) and self.place != DASH:
            from shoal.tables.files import check_output_format

            check_output_format(self.place)
        if csv_safe:
            self._check_csv_safe()

    def _check_csv_safe(self) -> None:
        """Refuse --csv-safe for what is no CSV file."""
        from shoal.tables.files import TEXT_FORMATS, check_output_format

        if self.place == DASH:
            return
        if isinstance(self.place, Source) or check_output_format(self.place) not in TEXT_FORMATS:
            raise ParameterError(
                f"--csv-safe is for CSV files, and the release goes to {self.place}, where no text "
                f"is run. Leave it out, or let --out end in one of {', '.join(TEXT_FORMATS)}."
            )

    def made_by(
        self,
        method: str,
        inputs: Sequence[Place],
        *,
        declared: bool,
        series: History | None = None,
    ) -> Output:
        """Return the output with the tables that a method publishes, for a declared domain too."""
        from shoal.catalog import DOMAIN, find_method
        from shoal.tables.write_files import output_places

        shape = find_method(method).shape
        names = (*shape.tables, DOMAIN) if declared and shape.domains else shape.tables
        if series is not None and not shape.drawn:
            from shoal.releases.counterfeits import COUNTERFEITS

            names = (*names, COUNTERFEITS)
        if self.place == DASH and len(names) > 1:
            raise OutputError(
                f"The method {method!r} publishes {len(names)} tables here, and standard output "
                "(-o -) takes one. Name a file."
            )
        tables = output_places(self.place, names)
        return replace(self, inputs=tuple(inputs), tables=tables, series=series)

    @property
    def name(self) -> str:
        """What the release is called in a history."""
        return str(self.place.resolve() if isinstance(self.place, Path) else self.place)

    def check(self) -> None:
        """Say why the release cannot go there, before the work."""
        from shoal.verbs.manifest import check_free, check_newest

        places = [goal for goal in self.tables.values() if isinstance(goal, Path)]
        _check([*places, *self.extras.values()], self.force, self.inputs)
        goals = [*self.tables.values(), *([] if self.manifest is None else [self.manifest])]
        check_apart([Path(goal) for goal in goals], self.extras)
        check_free(self.manifest, force=self.force)
        sources = [goal for goal in self.tables.values() if isinstance(goal, Source)]
        if sources:
            from shoal.catalog.extensions import require

            require("databases")
            from shoal.ext.databases.writing import check_target

            check_target(sources, force=self.force, inputs=self.inputs)
        if self.series is not None:
            files = [file for file in self.tables.values() if isinstance(file, Path)]
            self.series.check_goal(self.name, [*files, *self.extras.values()])
            known = [Path(name).parent for name in self.series.names]
            check_newest(self.series, [file.parent for file in files] + known)

    def warn_if_repeated(self, method: str) -> list[str]:
        """Say that a table seems to be released once more, where two releases give values away."""
        from shoal.catalog import find_method

        files = [*self.tables.values(), *self.extras.values()]
        there = [str(file) for file in files if isinstance(file, Path) and file.exists()]
        if not there or not find_method(method).shape.words.again:
            return []
        return [
            f"{' and '.join(there)} will be replaced: if that is a release of this table, or what "
            "was told of one, and anybody has it, do not publish this one. Both together show "
            "values that neither shows alone."
        ]

    def releases_nearby(self, plan: Plan) -> list[str]:
        """Return releases beside this one of the same columns that it may undo.

        Where two releases give values away those of the same method, unless a history says what was
        drawn before; for a history that begins those of another series, whose history may be lost.
        """
        from shoal.catalog import find_method

        begins = self.series is not None and not self.series.heads
        drawn = self.series is None and find_method(plan.method.name).shape.words.again
        if self.manifest is None or not (begins or drawn):
            return []
        from shoal.base.errors import InputError
        from shoal.verbs.manifest import read_manifest, tied_of
        from shoal.verbs.provenance import SUFFIX

        names = []
        for file in sorted(self.manifest.parent.glob(f"*{SUFFIX}")):
            try:
                told = read_manifest(file)
            except InputError:
                continue
            method, tree = told.get("method"), told["plan"]
            columns = tree.get("columns") if isinstance(tree, dict) else None
            same = isinstance(method, dict) and method.get("name") == plan.method.name
            matters = "series" in tied_of(told) if begins else same
            if matters and isinstance(columns, dict) and columns.keys() == plan.columns.keys():
                names.append(file.name.removesuffix(SUFFIX))
        return names

    def write(self, release: Release[pl.DataFrame], started: float, page: str = "") -> None:
        """Write everything or nothing; a file that is replaced with --force is gone at once.

        ``page`` is the text of the report, if one was asked for.
        """
        from shoal.tables.write_files import to_csv
        from shoal.verbs.manifest import figures, manifest_text, write_with_manifest

        if release.pending is not None:
            with release.pending.recorded(self.name):
                self.write(replace(release, pending=None), started, page)
            return
        begun, run = time.perf_counter(), release.made
        tables = {} if release.spark else release.local_tables.tables  # Spark has written its own
        to: dict[str, Any] = {"force": self.force, "inputs": self.inputs}
        to["csv_safe"] = csv_safe = run.plan.release.csv_safe
        goals = {name: goal for name, goal in self.tables.items() if goal != DASH}
        shown = [] if goals or release.spark else [to_csv(tables["release"], csv_safe=csv_safe)]

        def texts(made: Mapping[str, Any]) -> dict[Path, str]:
            run.seconds["write"] += time.perf_counter() - begun
            run.seconds["total"] = time.perf_counter() - started
            told = {"--json": manifest_text(release.to_dict() | {"manifest": figures(run, made)})}
            told |= {"--report": _filled(page, made), **self._dictionary(release)}
            shown.extend(f"{told[f]}\n".encode() for f, file in self.extras.items() if file == DASH)
            return {file: told[flag] for flag, file in self.extras.items() if file != DASH}

        write_with_manifest(tables, run, goals, texts=texts, **to)
        if shown:  # last: what was read by the next program cannot be taken back
            write_stdout(shown[-1])

    def _dictionary(self, release: Release[pl.DataFrame]) -> dict[str, str]:
        """Return the texts of the data dictionary, if one was asked for."""
        if not self.beside:
            return {}
        from shoal.report.dictionary import texts

        return texts(release.local_tables, Path(self.place).name)


def _check(files: Iterable[Path], force: bool, inputs: Sequence[Place]) -> None:
    from shoal.base.atomic import check_output

    for file in files:
        if file != DASH:
            check_output(file, force=force, inputs=inputs)


def check_named(
    named: Mapping[str, Path | None], force: bool, inputs: Sequence[Place]
) -> dict[str, Path]:
    """Return the files that flags name, or refuse what cannot be written before the work starts."""
    files = {flag: file for flag, file in named.items() if file is not None}
    _check(files.values(), force, inputs)
    check_apart([], files)
    return files


def write_text(file: Path | None, text: str, force: bool, inputs: Sequence[Place]) -> None:
    """Write a text, if a file was named for it, and say so."""
    from shoal.base.atomic import atomic_file

    if file == DASH:
        write_stdout(f"{text.rstrip()}\n".encode())
    elif file is not None:
        with atomic_file(file, force=force, inputs=inputs) as stream:
            stream.write(text.encode())
        console.print_line(f"Wrote {file}.")


@contextmanager
def warned_last() -> Iterator[None]:
    """Show the warnings of a block below what it shows."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ShoalWarning)
        yield
    for warning in heard:
        console.warning(str(warning.message))


def check_apart(files: Iterable[Path], extras: Mapping[str, Path]) -> None:
    """Refuse two outputs that would go into one file."""
    named = {file.resolve(): "--out" for file in files}
    for flag, file in extras.items():
        if other := named.get(file.resolve()):
            raise OutputError(
                f"{other} and {flag} both name {file}. Give each of them a file of its own."
            )
        named[file.resolve()] = flag


def _filled(page: str, manifest: Mapping[str, Any]) -> str:
    if not page:
        return page
    from shoal.report.evidence import fill_digests

    return fill_digests(page, manifest["files"])
