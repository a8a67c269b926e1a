"""The class Verdict: what the check of a release found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from shoal.base.errors import ParameterError
from shoal.base.partition import Bools, GroupStats, Ints
from shoal.base.results import Caution, Piece, Result, ResultTable, percent
from shoal.base.roles import Role
from shoal.base.to_json import to_plain_data
from shoal.catalog import RULES
from shoal.privacy.base import Rule, describe_rule, flatten, format_figure, format_figures, weakest

DELTA = "delta"
"""The figure of delta-disclosure."""


@dataclass(frozen=True)
class Uncovered:
    """Released cells of one column that do not stand for their source.

    ``cells`` counts them; ``example`` is one of them as published (None for a column that should
    have been passed through unchanged).
    """

    column: str
    cells: int
    example: str | None = None

    def describe(self) -> str:
        """Return the finding as a sentence."""
        many = "1 released cell" if self.cells == 1 else f"{self.cells:,} released cells"
        if self.example is None:
            differ = "differs" if self.cells == 1 else "differ"
            return f"In column {self.column!r} {many} {differ} from the source."
        do = "does" if self.cells == 1 else "do"
        return (
            f"In column {self.column!r} {many} {do} not cover the source, for instance "
            f"{self.example!r}."
        )


@dataclass(frozen=True)
class RuleResult:
    """How one rule fared: its promise in words, how many classes break it, what is reached."""

    name: str
    promise: str
    holds: bool
    failing: int
    achieved: dict[str, Any]


@dataclass(frozen=True)
class WorstGroup:
    """A class that breaks a rule, told by its published cells and nothing else."""

    cells: dict[str, str]
    size: int
    breaks: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """What was found.

    Parameters
    ----------
    holds
        Every rule holds, there is at least one row, and there are no other faults.
    rules
        One result per rule.
    achieved
        What the weakest class reaches, by parameter name, over all rules.
    rows, classes
        Number of published rows, and of classes that a reader can tell apart.
    worst
        The classes that break most rules, smallest first.
    uncovered
        Per column how many cells do not cover their source; None when cells were not compared one
        by one.
    faults
        Every reason not to trust the release, a sentence each.
    untold
        Those of the faults that say only what cannot be told from the release.
    models
        What the file reaches under every privacy model, asked for or not; only an audit fills it.
    people
        How many different people the release is about, when people were counted and not rows.
    stats
        The counts behind it all: class sizes, and how often each sensitive value occurs in each.
    """

    holds: bool
    rules: tuple[RuleResult, ...]
    achieved: dict[str, Any]
    rows: int
    classes: int
    worst: tuple[WorstGroup, ...] = ()
    uncovered: tuple[Uncovered, ...] | None = None
    faults: tuple[str, ...] = field(default=())
    models: dict[str, Any] = field(default_factory=dict)
    people: int | None = None
    stats: GroupStats | None = field(default=None, repr=False, compare=False)
    untold: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        many = len(self.faults)
        why = "reason" if self.unknown else "fault"
        why = f" ({many} {why}{'s' if many > 1 else ''})" if many else ""
        told = f"{self.state}{why}; {self.rows:,} rows, {self.classes:,} classes"
        return f"Verdict({told}; reached: {format_figures(self.achieved)})"

    def pieces(self, *, detailed: bool = False) -> Iterator[Piece]:
        """Yield what was found, the worst classes first; ``detailed``: also all deduced values."""
        people = "" if self.people is None else f" of {self.people:,} people"
        yield f"{self.rows:,} rows{people} in {self.classes:,} classes"
        rows = "rows  " if "uncounted" in self.models else "holds "
        for result in self.rules:
            mark = rows if result.holds else "BROKEN"
            yield f"{mark}   {result.promise}; reached: {format_figures(result.achieved)}"
        yield from _models(self.models)
        if exposed := self.models.get("exposure"):
            yield Caution(exposed["sentence"]) if exposed["warning"] else exposed["sentence"]
        told = self.models.get("read_off")
        if told and (detailed or told["warning"]):
            yield Caution(told["sentence"]) if told["warning"] else told["sentence"]
        if told and detailed:
            yield (
                f"{told['cells']:,} original values and {told['known']:,} complete records "
                f"{'may be' if told['assumed'] else 'can be'} deduced; {told['exact']:,} rows are "
                "published unchanged, in classes of equal rows."
            )
        yield from _earlier(self.models)
        yield from map(Caution, self.models.get("cautions", ()))
        yield from (f"Fault    {fault}" for fault in self.faults)
        by_reason: dict[str, list[str]] = {}
        for name, why in self.models.get("not_checked", {}).items():
            by_reason.setdefault(why, []).append(name)
        for why, names in by_reason.items():
            yield f"Not checked in the manifest: {', '.join(names)} ({why})"
        if worst := self.worst_classes:
            yield "\nThe classes that break the rules most:"
            yield worst
        words = self.headline.replace("The promise is kept", "The file keeps its promise")
        yield words.replace("The promise is broken", "The file breaks its promise")

    @property
    def state(self) -> str:
        """One of three: ``holds``, ``broken``, or ``cannot tell`` from the release alone."""
        return "holds" if self.holds else "cannot tell" if self.unknown else "broken"

    @property
    def worst_classes(self) -> ResultTable | None:
        """The classes that break the rules most, by their published cells."""
        if not self.worst:
            return None
        cells = list(self.worst[0].cells)
        rows = [
            (each.size, ", ".join(each.breaks), *(each.cells[name] for name in cells))
            for each in self.worst
        ]
        return ResultTable(("rows" if self.people is None else "people", "breaks", *cells), rows)

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return {
            "holds": "The promise is kept.",
            "broken": "The promise is broken.",
            "cannot tell": "Cannot tell whether the promise is kept.",
        }[self.state]

    @property
    def unknown(self) -> bool:
        """Whether nothing speaks against the promise but what cannot be told from the release."""
        return not self.holds and set(self.faults) <= set(self.untold)

    def to_dict(self) -> dict[str, Any]:
        """Return everything found as plain data; what has no bound is None."""
        verdict = {
            "holds": self.holds,
            "unknown": self.unknown,
            "rows": self.rows,
            "classes": self.classes,
            "people": self.people,
            "achieved": self.achieved,
            "rules": [asdict(result) for result in self.rules],
            "faults": list(self.faults),
            "worst": [asdict(group) for group in self.worst],
        }
        told: dict[str, Any] = to_plain_data({**self.models, "verdict": verdict})
        return told


def _models(models: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield what every privacy model says of the sensitive columns."""
    for name, figures in models.get("reached", {}).items():
        yield f"The values published instead of {name!r} reach: {format_figures(figures)}"
    for name, figures in models.get("posterior", {}).items():
        worst, mean = figures["worst_posterior"], figures["mean_posterior"]
        yield (
            f"Someone who knows all quasi-identifiers of a person guesses {name!r} correctly with "
            f"probability {percent(mean)} on average, {percent(worst)} at worst."
        )
    if models.get("seeded"):
        yield Caution("The plan has a seed: anyone who knows the seed can undo this release.")
    if table := model_table(models):
        yield "\nAll privacy models, measured in the weakest class:"
        yield table


def model_table(models: Mapping[str, Any]) -> ResultTable | None:
    """Return what every privacy model says of the sensitive columns, if that was measured."""
    columns, heads = models.get("columns", {}), figures_shown()
    if not columns:
        return None
    rows = [(name, *(format_figure(own[key]) for key in heads)) for name, own in columns.items()]
    return ResultTable(("sensitive", *heads.values()), rows)


def _earlier(models: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield what earlier releases leave of the sensitive columns."""
    for name, figures in models.get("earlier", {}).items():
        yield f"\nWith {figures['releases']} earlier release{'s' * (figures['releases'] > 1)}:"
        yield figures["sentence"]
        unit = figures["unit"]
        yield ResultTable(
            (f"values of {name} left", f"{unit} in all of them", f"{unit} in some of them"),
            [
                (left, *(f"{figures[who]['left'].get(left, 0):,}" for who in ("all", "some")))
                for left in figures["counts"][:10]
            ],
        )
        if figures["beyond"]:
            yield figures["beyond"]


def figures_shown() -> dict[str, str]:
    """Return the figures of a sensitive column that tables show, with what they are called."""
    measuring = [entry for entry in RULES.values() if entry.sensitive]
    names = [reading.name for entry in measuring for reading in entry.readings if reading.shown]
    # Delta-disclosure is measured and cannot be promised: no rule stands behind it.
    return {name: name.replace("_", " ") for name in [*names, DELTA]}


def single_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules one by one; without any there is nothing to check."""
    if wanted := flatten(rules):
        return wanted
    raise ParameterError(
        "Checking a release needs at least one rule, got none: without a promise there is nothing "
        "to check. Give for instance KAnonymity(k=10)."
    )


def ask_rule(rule: Rule, counted: Sequence[tuple[Ints, GroupStats]]) -> tuple[Bools, RuleResult]:
    """Ask a rule about classes, given by their numbers, stratum by stratum if there are several."""
    passes = np.ones(sum(classes.size for classes, _ in counted), np.bool_)
    for classes, stats in counted:
        passes[classes] = rule.holds(stats)
    failing = int((~passes).sum())
    inside = " inside each stratum" if len(counted) > 1 else ""
    promise = describe_rule(rule, counted[0][1].unit) + inside
    achieved = weakest((rule, rule.achieved(stats)) for _, stats in counted)
    return passes, result_of(rule, promise, failing, passes.size, achieved)


def result_of(
    rule: Rule, promise: str, failing: int, classes: int, achieved: dict[str, Any]
) -> RuleResult:
    """Return how a rule fared; of no class nothing holds."""
    return RuleResult(rule.name, promise, not failing and classes > 0, failing, achieved)


def describe_broken(result: RuleResult, classes: int, what: str = "classes") -> str:
    """Say how many classes break a promise."""
    return f"{result.failing:,} of {classes:,} {what} break the promise that {result.promise}."


def achieved_by(rules: Sequence[Rule], results: Sequence[RuleResult]) -> dict[str, Any]:
    """Return what the weakest class reaches, over all rules."""
    pairs = zip(rules, results, strict=True)
    return weakest((rule, result.achieved) for rule, result in pairs)


def make_verdict(
    rules: Sequence[Rule],
    results: Sequence[RuleResult],
    faults: Sequence[str],
    rows: int,
    classes: int,
    **more: Any,
) -> Verdict:
    """Return the verdict on a release: what every rule found, and what else is wrong."""
    empty = [] if rows else ["The release has no rows: an empty table keeps no promise."]
    told = (*faults, *empty)
    return Verdict(
        holds=not told and all(result.holds for result in results),
        rules=tuple(results),
        achieved=achieved_by(rules, results),
        rows=rows,
        classes=classes,
        faults=told,
        **more,
    )


def held_back(name: str, role: Role) -> str:
    """Say that a column is published whose role forbids it."""
    return (
        f"The release has the column {name!r}, whose role is {role.label!r}: {role.outcome}. Leave "
        "it out, or change its role."
    )


def undeclared(name: str) -> str:
    """Say that a column is published that nobody declared."""
    return (
        f"The release has a column {name!r} that was not declared: leave it out, or give it a role."
    )
