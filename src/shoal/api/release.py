"""The class Release: a published table and what can be done with it; it holds no original."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, cast

import polars as pl

from shoal.api.arguments import TRIED, AttackChoice, RuleArguments, as_list
from shoal.api.signatures import with_signature
from shoal.base.atomic import atomic_file
from shoal.base.errors import ShoalError
from shoal.base.partition import Ints
from shoal.base.to_json import as_json
from shoal.plan.plan import Plan
from shoal.plan.setting import listed_names
from shoal.privacy.base import format_figures
from shoal.releases import other_notations
from shoal.releases.base import By, View
from shoal.releases.history.store import Pending, history_of
from shoal.releases.open_release import open_published
from shoal.releases.opened import Opened, check_release
from shoal.releases.verdict import Verdict
from shoal.tables.native import Native, is_spark_frame
from shoal.tables.open_table import Names, extra_rules, load_table, merge_plan

if TYPE_CHECKING:
    from shoal.ext.proof.bound import Proof
    from shoal.measures.losses.ncp import Loss
    from shoal.measures.risks.results import Attacks
    from shoal.show.figures.plots import Plots
    from shoal.show.figures.subject import Subject
    from shoal.verbs.estimate import Estimates
    from shoal.verbs.risk import Risks
    from shoal.verbs.run import Run

FrameT = TypeVar("FrameT")


@dataclass(frozen=True, eq=False, repr=False)
class Release(Generic[FrameT]):
    """A release, made by :meth:`shoal.Table.anonymize` or opened by :func:`shoal.open_release`.

    ``opened`` is None on Spark unless the engine brings the tables here, ``run`` if it was opened.
    Only :meth:`with_original` sets ``original``. ``pending``: the new history, not yet recorded.
    """

    opened: Opened | None
    run: Run | None = None
    kind: Native = field(default_factory=Native)
    spark: Mapping[str, Any] = field(default_factory=dict)
    original: pl.DataFrame | None = field(default=None, repr=False)
    pending: Pending | None = field(default=None, repr=False)
    dictionary: Mapping[str, dict[str, Any]] | None = field(default=None, repr=False)

    @cached_property
    def tables(self) -> Mapping[str, FrameT]:
        """What is published, by name: ``release``, Anatomy's ``st``, a declared ``domain``."""
        if self.opened is None or self.spark:
            return self.spark
        return {name: self.kind.convert(table) for name, table in self.opened.tables.items()}

    @property
    def frame(self) -> FrameT:
        """The published table, in the kind of frame that came in (polars for a file)."""
        return self.tables["release"]

    def __len__(self) -> int:
        return self.local_tables.frame.height if self.run is None else self.run.rows_out

    def head(self, rows: int = 5) -> FrameT:
        """Return the first published rows, in the kind of frame that came in."""
        return cast(FrameT, self.kind.convert(self.local_tables.tables["release"].head(rows)))

    def to_polars(self) -> pl.DataFrame:
        """Return the published table as a polars frame."""
        return self.local_tables.tables["release"]

    def to_pandas(self) -> Any:
        """Return the published table as a pandas frame, rows numbered from 0."""
        return self.kind.from_library("pandas").convert(self.to_polars())

    def to_arrow(self) -> Any:
        """Return the published table as a pyarrow table."""
        return self.kind.from_library("pyarrow").convert(self.to_polars())

    @property
    def local_tables(self) -> Opened:
        """The published tables on this machine."""
        if self.opened is None:
            raise ShoalError(
                "This release is on Spark. Make it with engine=shoal.Spark(here=True), which "
                "brings its tables to this machine, or take the figures (to_dict)."
            )
        return self.opened

    @property
    def shape(self) -> str:
        """Which shape of release it is: ``generalized``, ``dummies``, ``anatomized``."""
        return self.local_tables.shape.name

    @property
    def classes(self) -> Ints:
        """The class of every row: rows with the same number cannot be told apart."""
        return self.local_tables.published.labels

    @property
    def plan(self) -> Plan:
        """The plan it was made with, or what is declared of it."""
        return self.local_tables.plan if self.run is None else self.run.plan

    @property
    def made(self) -> Run:
        """How it was made, for a release that was made here."""
        if self.run is None:
            raise ShoalError(
                "How this release was made is not known: it was opened. See audit() and risk()."
            )
        return self.run

    @property
    def loss(self) -> Loss:
        """What it costs, for a release that was made here."""
        return self.made.loss

    @property
    def proof(self) -> Proof | None:
        """How far it is from the best possible, if that was asked for (``prove=True``)."""
        return self.made.proof

    @cached_property
    def verdict(self) -> Verdict:
        """What was found in the published cells, by the run or by an audit of its promise."""
        return self.audit() if self.run is None else self.run.verdict

    @property
    def achieved(self) -> dict[str, Any]:
        """What the weakest class reaches, by parameter name."""
        return self.verdict.achieved

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know."""
        return () if self.run is None else self.run.warnings

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a copy holds: what is published and declared, never the table."""
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        return state | {"original": None, "pending": None}

    def recorded(self) -> Release[FrameT]:
        """Return the release, written into the history of its series."""
        with self.pending.recorded() if self.pending else contextlib.nullcontext():
            return replace(self, pending=None)

    def with_original(self, original: Any) -> Release[FrameT]:
        """Return the release put beside the table it was made from.

        Then audits compare cells, attacks are possible, and risks, reports and figures show both.
        ``original``: a :class:`shoal.Table`, a file or a frame.
        """
        rows = self.rows_of(original)
        opened = self.opened and other_notations.interpret_with_original(self.opened, rows)
        return replace(self, opened=opened, original=rows)

    def rows_of(self, data: Any) -> pl.DataFrame:
        """Return the rows of a table, read as the plan says; those of a Spark frame come here."""
        if hasattr(data, "settled"):
            return cast(pl.DataFrame, data.frame)
        return load_table(data.toArrow() if is_spark_frame(data) else data, self.plan)

    @with_signature(RuleArguments)
    def audit(
        self, *, against: Sequence[Any] = (), history: Any = None, **promise: Unpack[RuleArguments]
    ) -> Verdict:
        """Say what the release achieves, from its published cells alone.

        Beside the original every released cell must also cover its source.

        Parameters
        ----------
        {promise}
        rules
            Rules instead of the plan's, one or several. Without any promise: what the plan
            promises, k-anonymity with k = 10 without one, whatever the shape.
        against
            Earlier releases of the same people, each a release or what :func:`shoal.open_release`
            takes: then the promise must hold for somebody who has them all.
        history
            That of its series: then everybody must hide among the same values as in the others.
        """
        from shoal.verbs.audit import audit

        plan, extra = merge_plan(self.plan, **promise), extra_rules(promise.get("rules"))
        before = [self.open_other(released) for released in as_list(against)]
        return audit(self.local_tables, plan, extra, self.original, before, history_of(history))

    def open_other(self, released: Any) -> Opened:
        """Open another release of the same table, unless it is open already."""
        if isinstance(released, Release):
            return released.local_tables
        own, trees = self.local_tables, dict(self.local_tables.taxonomies)
        return open_published(released, own.plan, hierarchies=trees, complete=own.complete)

    def risk(self, *, population: Any = None, threshold: float = 0.2, belief: float = 0.5) -> Risks:
        """Measure how likely people are found in the release, and what is then believed of them.

        Parameters
        ----------
        population
            A list of people with the quasi-identifiers, those of the table among them: then the
            journalist's risk and k-map are measured against it.
        threshold, belief
            Rows with a higher risk of re-identification are counted, and rows whose likeliest
            sensitive value is believed more.
        """
        from shoal.verbs.risk import risk

        people = None if population is None else self.rows_of(population)
        stats = None if self.run is None else self.run.verdict.stats
        limits: dict[str, Any] = {"threshold": threshold, "belief": belief, "stats": stats}
        return risk(self.local_tables, original=self.original, population=people, **limits)

    @with_signature(AttackChoice, **TRIED)
    def attack(
        self, *, known: Names | None = None, control: Any = None, **tried: Unpack[AttackChoice]
    ) -> Attacks:
        """Attack some people of the original through the release; say how often that succeeds.

        Parameters
        ----------
        known
            Columns that the attacker knows; the quasi-identifiers by default.
        control
            People who are *not* in the table, with the same columns. By default the control attacks
            every target with what is known of somebody else.
        """
        from shoal.verbs.attack import attack

        opened = (
            self.local_tables if known is None else self.local_tables.known_by(listed_names(known))
        )
        earlier = as_list(tried.get("against", ()))
        tables = as_list(tried.get("against_original", ()))
        tables += [getattr(one, "original", None) for one in earlier[len(tables) :]]
        asked: dict[str, Any] = {**tried, "against": [self.open_other(one) for one in earlier]}
        asked["against_original"] = [None if one is None else self.rows_of(one) for one in tables]
        asked["control"] = None if control is None else self.rows_of(control)
        return attack(opened, self.original, **asked)

    def estimate(
        self,
        of: str,
        by: Sequence[str | By] | str = (),
        *,
        estimator: str = "iterative",
        eps: float | None = None,
        as_in_paper: bool = False,
        level: float = 0.95,
    ) -> Estimates:
        """Estimate how many rows have each sensitive value, by categories of quasi-identifiers.

        Parameters
        ----------
        of
            The sensitive column, or ``disease=flu`` for one of its values.
        by
            ``"sex"``: every value; ``"age:10"``: intervals of ten; ``"sex=f"``: that value only.
        estimator
            For dummy values: ``iterative`` (the paper's), ``closed``, ``em``, or ``even`` (W / l).
        eps, as_in_paper
            The change in rows at which a way that iterates stops: 0.01 by default, or as in the
            paper on dummy values 1.
        level
            How often an interval holds the truth.
        """
        from shoal.verbs.estimate import estimate

        how: dict[str, Any] = {"eps": eps, "level": level, "as_in_paper": as_in_paper}
        return estimate(self.local_tables, of, as_list(by), estimator=estimator, **how)

    def ask(self, of: str) -> View:
        """Return the release ready to be asked about a sensitive column: counts, beliefs."""
        opened = self.local_tables.with_sensitive(of)
        check_release(opened, of)
        return opened.view(of)

    @property
    def subject(self) -> Subject:
        """What figures are drawn from."""
        from shoal.show.figures.subject import Subject

        return Subject.from_opened(self.local_tables, self.original, self.run)

    @property
    def plot(self) -> Plots:
        """Its figures: ``release.plot.loss()``, ``.classes()``, ``.risk()``, ..."""
        from shoal.show.figures.plots import Plots

        return Plots(self.subject)

    def page(
        self, *, verdict: Verdict | None = None, warnings: Sequence[str] = (), **asked: Any
    ) -> str:
        """Return the report as one HTML file, see :meth:`report`."""
        from shoal.report.release_report import render_release

        asked["warnings"] = [*self.warnings, *warnings]
        return render_release(self.subject, verdict or self.verdict, self.run, **asked)

    def report(
        self,
        path: str | PathLike[str],
        *,
        audience: str = "steward",
        verdict: Verdict | None = None,
        attacks: Attacks | bool = True,
        title: str = "",
        force: bool = False,
    ) -> None:
        """Write a report as one HTML file that needs no network and no script.

        Parameters
        ----------
        path
            Where it goes, a name that ends in ``.html``; an existing file is replaced only with
            ``force``.
        audience
            ``steward``: everything. ``public``: nothing that is computed from the original.
        verdict
            What :meth:`audit` found, for a release that was opened; of what its plan promises by
            default.
        attacks
            Results of :meth:`attack`, True to attack a sample now if the release is beside its
            original, False for none. The public is never shown any.
        """
        from shoal.report.render import check_audience, check_name

        file = check_name(Path(path))
        check_audience(audience)
        text = self.page(audience=audience, verdict=verdict, attacks=attacks, title=title)
        with atomic_file(file, force=force) as stream:
            stream.write(text.encode())

    def write(
        self, path: str | PathLike[str], *, force: bool = False, into: str | None = None
    ) -> None:
        """Write the release whole or not at all, other tables next to it (``x.st.csv``).

        ``path``: a file, in the format that its ending says, or the address of a database, with its
        table there or in ``into``. ``force``: replace what is there. A release that was made here
        leaves its manifest beside the file (``x.csv.manifest.json``).
        """
        from shoal.tables.write_files import output_places
        from shoal.verbs.manifest import write_with_manifest

        tables, csv_safe = self.local_tables.tables, self.plan.release.csv_safe
        goals = output_places(path, tables, into)
        write_with_manifest(tables, self.run, goals, force=force, csv_safe=csv_safe)

    def write_dictionary(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a data dictionary for the release in ``path``, beside it: CSVW and a page."""
        from shoal.report.dictionary import write_dictionary

        write_dictionary(self.local_tables, Path(path), force=force)

    def analysis_frame(self) -> FrameT:
        """Return numbers and categories instead of cells: ``age_lo``, ``age_hi``, ``age_mid``."""
        from shoal.api.analysis import analysis_frame

        return cast(FrameT, self.kind.convert(analysis_frame(self.local_tables, self.dictionary)))

    def to_dict(self) -> dict[str, Any]:
        """Return its figures as plain data: no value of the table, no seed."""
        if self.run is not None:
            return self.run.to_dict()
        return self.local_tables.to_dict() | self.verdict.to_dict()

    to_json = as_json

    def __repr__(self) -> str:
        if self.run is None:
            return f"Release({self.shape}; {self.local_tables.frame.height:,} rows; opened)"
        run = self.run
        made = f"{run.rows_out:,} rows; made by {run.method}; loss {run.loss.rate:.4f}"
        return f"Release({made}; reached: {format_figures(self.achieved)})"

    def _repr_html_(self) -> str:
        from shoal.show.figures.summary import summary

        return summary(self.verdict, self.run, None if self.opened is None else self.plot)
