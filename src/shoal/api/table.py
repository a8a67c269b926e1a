"""The class Table: a table that was read, cleaned and typed once, with its declared roles."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

import polars as pl

from shoal.api.arguments import (
    ComparisonArguments,
    RunArguments,
    as_list,
    check_named_once,
    rule_values_of,
)
from shoal.api.release import Release
from shoal.api.setting_arguments import ReleaseArguments
from shoal.api.signatures import split_arguments, with_signature
from shoal.base.errors import warn
from shoal.base.pseudonyms import read_key
from shoal.base.roles import Role
from shoal.base.threads import limit
from shoal.base.to_json import table_html
from shoal.catalog.extensions import require
from shoal.measures.deduced_values import read_off
from shoal.measures.exposure import exposure
from shoal.plan.plan import Plan
from shoal.privacy import Rule
from shoal.releases.history.store import History, history_of
from shoal.tables.compatibility import refuse_on_spark
from shoal.tables.domain import Taxonomy
from shoal.tables.find_hierarchies import is_path
from shoal.tables.guessing.guess_person import EACH_ONCE
from shoal.tables.native import Native
from shoal.tables.open_table import (
    extra_rules,
    load_table,
    merge_plan,
    settle_table,
)
from shoal.tables.original import Original
from shoal.tables.schema import Schema
from shoal.verbs.provenance import run_digests

if TYPE_CHECKING:
    from shoal.ext.spark.settings import Spark
    from shoal.verbs.anonymize import Made, Progress, StageTimer
    from shoal.verbs.compare.comparison import Comparison
    from shoal.verbs.inspect import Inspection

FrameT = TypeVar("FrameT")


@dataclass(frozen=True, eq=False, repr=False)
class Table(Generic[FrameT]):
    """A table with personal data, and what is declared of it; see :func:`shoal.open`.

    Parameters
    ----------
    data
        Where it is, or the frame that was given.
    plan
        What is declared.
    taxonomies
        The hierarchies by column.
    frame
        Its rows as a polars frame, every gap a null.
    only
        Somebody named the quasi-identifiers: no others are to be guessed.
    seconds
        What reading it took.
    digest
        SHA-256 of the file that it was read from.
    """

    data: Any
    plan: Plan
    frame: pl.DataFrame
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    only: bool = False
    seconds: float = 0.0
    digest: str = ""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.frame.height

    @cached_property
    def _settling(self) -> tuple[Original, tuple[str, ...]]:
        """The table with every role and kind settled, and the warnings that this took."""
        from shoal.verbs.anonymize import collect_warnings

        with collect_warnings() as said:
            settled = settle_table(self.frame, self.plan, self.taxonomies)
        return settled, tuple(dict.fromkeys(said))

    @property
    def settled(self) -> Original:
        """The table with every role and kind settled; roles are guessed if none is declared."""
        return self._settling[0]

    @property
    def schema(self) -> Schema:
        """The role and kind of every column."""
        return self.settled.schema

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know of how it was taken in."""
        return self._settling[1]

    @with_signature(RunArguments)
    def anonymize(
        self,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        time_limit: float | None = None,
        engine: Spark | None = None,
        strict: bool = False,
        prove: bool = False,
        pseudonym_key: str | Path | bytes | None = None,
        history: str | Path | History | None = None,
        against: Sequence[Any] = (),
        **asked: Unpack[RunArguments],
    ) -> Release[FrameT]:
        """Anonymize the table and check the release before handing it over.

        Parameters
        ----------
        {promise}
        rules
            Rules instead of the plan's, for instance ``KAnonymity(5)`` or a list of several.
            Without any promise, and without a plan's: k-anonymity, k = 10.
        method, options
            A name of :func:`shoal.methods` and its options.
        effort
            How long the method ``shoal`` looks for a lower loss: fast, normal or max.
        threads
            Share the work by so many threads. The release is the same for every number.
        seed
            Repeats the run byte for byte. Keep it secret: it also tells the order of the rows.
        {release}
        pseudonym_key
            The key of pseudonyms: a file that only you can read, or bytes; without one it is made
            and forgotten. It is in no plan, figure or release.
        history
            The folder that says what earlier releases published of whom, which m-invariance needs;
            with dummy values everybody keeps the same set. An empty one begins a series, and the
            release is recorded there when it is handed over. It is as sensitive as the table.
        against
            Earlier releases of the same people. With a history each must be one of its releases;
            without one the promise must hold for somebody who has them all, or nothing is released.
        progress
            Called with the name of each stage as it starts, and ``"compile"`` once if kernels have
            to be compiled. During ``"refine"`` True ends the work with the best so far.
        time_limit
            Seconds after which a method that refines its result takes the best so far.
        engine
            Carry the plan out on Spark instead, from where the table lies.
        strict
            Refuse instead of warning: whatever would be warned about ends the run.
        prove
            Say how far the release is from the best possible, as ``release.proof``: what no release
            with these hierarchies can lose less than. ``progress`` is told ``"prove: ..."``
            meanwhile; True ends it with what is proved by then.

        Raises
        ------
        Infeasible
            When no release of this table can keep the promise.
        NotVerified
            When the release does not keep it; nothing is handed over.
        Cautioned
            When there is something to warn about and ``strict`` was asked for.
        """
        from shoal.verbs.anonymize import StageTimer, with_time_limit

        limit(threads)
        plan = merge_plan(self.plan, **asked)
        extra = extra_rules(asked.get("rules"))
        key = read_key(pseudonym_key)
        if engine is not None:
            refuse_on_spark(strict=strict, prove=prove, history=history or against)
            require("spark")
            from shoal.ext.spark.anonymize import anonymize_on_spark

            own = self.data, plan, self.taxonomies
            return anonymize_on_spark(*own, extra, engine, progress)[0]
        clock = StageTimer(with_time_limit(progress or _quiet, plan, time_limit))
        told: dict[str, Any] = {"strict": strict, "prove": prove, "history": history}
        told["against"] = against
        # What a paper has differently concerns how the table is taken in, too.
        again = plan.release.as_in_paper or plan.release.same
        table = replace(self, plan=plan) if again else self
        return table._carried_out(plan, clock, extra, key, **told)[0]

    def _carried_out(
        self,
        plan: Plan,
        clock: StageTimer,
        extra: tuple[Rule, ...] = (),
        key: bytes | None = None,
        *,
        strict: bool = False,
        prove: bool = False,
        history: str | Path | History | None = None,
        against: Sequence[Any] = (),
    ) -> tuple[Release[FrameT], Made]:
        """Carry out a plan that is filled up; what was made stays with the caller."""
        from shoal.verbs.anonymize import advice, caution, collect_warnings, execute, refuse_if

        start = time.perf_counter()
        settled, said = self._settling
        plan = plan.final(settled.plan)
        with collect_warnings() as warned:
            caution(settled, plan, extra, strict=strict)
        series = history_of(history, plan)
        check_named_once(as_list(against))
        if series is not None:
            series.check_released({str(one): _published(one) for one in as_list(against)})
        made = execute(settled, plan, clock, extra, key=key, prove=prove, history=series)
        said = tuple(text for text in said if series is None or not text.startswith(EACH_ONCE))
        clock.seconds["read"] += self.seconds
        clock.seconds["total"] = time.perf_counter() - start + self.seconds
        texts = [*said, *warned, *made.run.warnings]
        opened = made.opened
        exposed = exposure(opened.published, opened.sensitive, opened.names(Role.PERSON))
        if exposed is not None and exposed.warns:
            texts.append(exposed.describe())
            warn(exposed.describe())
        if (told := read_off(made.opened)) is not None and told.warns:
            texts.append(told.describe())
            warn(told.describe())
        refuse_if(texts if strict else ())
        texts = list(dict.fromkeys([*texts, *advice(plan, kept=series is not None)]))
        run = replace(
            made.run,
            warnings=tuple(texts),
            exposure=exposed,
            read_off=told,
            marks=run_digests(self.digest, self.frame, plan, self.taxonomies),
        )
        release = Release[FrameT](made.opened, run, self._kind, pending=made.pending)
        if series is None and against:
            from shoal.verbs.audit import refuse_undone

            others = map(release.open_other, as_list(against))
            release = replace(release, run=refuse_undone(run, made.opened, plan, extra, [*others]))
        return release if isinstance(history, History) else release.recorded(), made

    def anonymize_to_look_into(
        self, progress: Progress, against: Sequence[Any] = (), *, prove: bool = False
    ) -> tuple[Release[FrameT], Made]:
        """Anonymize as declared; return also what was made, for a steward who has the table.

        What was made says which row became which: it is looked into where it was made, and what is
        found is shown to the steward alone.
        """
        from shoal.verbs.anonymize import StageTimer, with_time_limit

        plan = self.plan
        clock = StageTimer(with_time_limit(progress, plan, None))
        return self._carried_out(plan, clock, against=against, prove=prove)

    @property
    def _kind(self) -> Native:
        return Native() if is_path(self.data) or self.data is None else Native.from_frame(self.data)

    def inspect(self) -> Inspection:
        """Say what the table holds: columns, missing values, how unique its rows are, roles."""
        from shoal.verbs.inspect import inspect

        return inspect(self.frame, self.plan, self.taxonomies, only=self.only)

    @with_signature(ComparisonArguments, repeats=1, threshold=0.2, prove=False)
    def compare(
        self,
        *,
        methods: Sequence[str] | str | None = None,
        k: Sequence[int] | int | None = None,
        l: Sequence[int] | int | None = None,  # noqa: E741 -- the papers' letter
        rule_values: Mapping[str, Sequence[Any]] | None = None,
        rules: Sequence[Rule] | Rule | None = None,
        seed: int | None = None,
        threads: int | None = None,
        keep_releases: bool = True,
        **weighed: Unpack[ComparisonArguments],
    ) -> Comparison:
        """Run methods and settings side by side and recommend one of them.

        Every release is verified; a setting that is not possible (its rule cannot be met, or its
        method cannot keep it) says why instead of figures.

        Parameters
        ----------
        methods
            Names of methods, with options if wanted (``"shoal:effort=max"``). By default the
            plan's own, ``shoal``, ``k-member`` and ``mondrian``.
        k, l
            The values to try. Without any, and without ``rule_values``: k = 2, 5, 10, 50 and the
            plan's own.
        rule_values
            Values of other flags of the rules, for instance ``{"t": [0.1, 0.2]}``; every
            combination is tried.
        rules
            Rules that every setting keeps, instead of the plan's.
        seed, threads
            As in :meth:`anonymize`. A second run of a setting takes ``seed + 1``, and so on.
        repeats
            Runs per setting; figures are their means, of the risks the highest.
        queries
            Number of random counting queries on the first sensitive column, the same for all (300
            by default); 0: none.
        classifier, target
            Train a classifier on each release and test it on the original: True insists, None does
            so if scikit-learn is there. ``target``: the column to predict, else the first
            sensitive one.
        risk, cost
            What is weighed: ``highest``, ``mean`` or ``belief``; a loss of the catalog,
            ``queries`` or ``classifier``. By default the highest re-identification risk, or the
            belief when only rules on sensitive values were asked for; the loss, or the queries
            when a release leaves the quasi-identifiers as they are.
        recipient
            ``internal``, ``contract`` or ``public``: its limits on the highest risk and on beliefs
            in sensitive values take the place of ``threshold``.
        threshold, belief
            Largest re-identification risk and largest belief that a recommended setting may have.
            The belief is by default halfway from the share of the commonest value to certainty.
        prove
            Say of every setting how far it is at most above the best possible (``above_best``).
        {release}
        keep_releases
            Keep the release of every setting, as its ``release``.
        progress
            Called with the label of each setting as it starts, and again while it refines; True
            ends the comparison, with what is done by then.
        """
        from shoal.verbs.compare.running import compare

        limit(threads)
        asked, how = split_arguments(weighed, ReleaseArguments)
        plan = merge_plan(self.plan, rules=rules, seed=seed, **asked)
        again = plan.release.as_in_paper or plan.release.same
        table = replace(self, plan=plan) if again else self
        settled, said = table._settling
        comparison = compare(
            settled,
            plan,
            extra_rules(rules),
            methods=None if methods is None else as_list(methods),
            rule_values=rule_values_of(k, l, rule_values),
            keep=(lambda made: Release(made.opened, made.run, self._kind))
            if keep_releases
            else None,
            **how,
        )
        warnings = tuple(dict.fromkeys([*said, *comparison.warnings]))
        return replace(comparison, warnings=warnings, kind=self._kind)

    def __repr__(self) -> str:
        return f"Table({self.rows:,} rows, {self.frame.width} columns{self._told()})"

    def _told(self) -> str:
        told = (
            f"; {role.value}: {', '.join(names)}"
            for role in Role
            if (names := self.plan.names(role))
        )
        return "".join(told)

    def _repr_html_(self) -> str:
        """Show what is declared, in a notebook; no cell of the table."""
        rows = []
        for name in self.frame.columns:
            declared = self.plan.columns.get(name)
            kind = declared.kind.value if declared is not None and declared.kind is not None else ""
            rows.append((name, "" if declared is None else declared.role.value, kind))
        return table_html(f"Table of {self.rows:,} rows", ("column", "role", "kind"), rows)


def _quiet(_stage: str) -> None:
    return None


def _published(released: Any) -> pl.DataFrame:
    """Return the table that an earlier release published."""
    return (
        released.local_tables.frame
        if isinstance(released, Release)
        else load_table(released, Plan())
    )
