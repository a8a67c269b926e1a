"""Run the settings of a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from shoal.base.errors import Infeasible, ParameterError
from shoal.base.params import Param
from shoal.catalog import DEFAULT_LOSS, find_method, find_rule
from shoal.catalog.extensions import require
from shoal.coding.encode import Encoded, encode
from shoal.plan import rule_specs
from shoal.plan.plan import Plan
from shoal.privacy import Rule
from shoal.tables.compatibility import refuse
from shoal.tables.original import Original
from shoal.tables.request import Request
from shoal.verbs.anonymize import Made, Progress, StageTimer, collect_warnings, execute
from shoal.verbs.compare.choices import ComparedSetting, choices
from shoal.verbs.compare.comparison import Comparison
from shoal.verbs.compare.frontier import RECIPIENTS, RISKS, Axes, check_axis, costs
from shoal.verbs.compare.measuring import QUERIES, ReleaseMeasures, make_yardstick

_HIGHEST = ("risk_highest", "belief_worst", "share_ratio")  # of repeats, instead of the mean
REPEATS = Param("repeats", "runs per setting", int, default=1, low=1)
ASKED = Param("queries", "number of counting queries, 0 for none", int, default=QUERIES, low=0)
THRESHOLD = Param("threshold", "largest risk allowed", float, 0.2, low=0, high=1, open_low=True)
BELIEF = Param("belief", "largest belief allowed", float, low=0, high=1, open_low=True)


def compare(
    table: Original,
    plan: Plan,
    extra: tuple[Rule, ...] = (),
    *,
    methods: Sequence[str] | None = None,
    rule_values: Mapping[str, Sequence[Any]] | None = None,
    repeats: int = 1,
    queries: int | None = None,
    classifier: bool | None = None,
    target: str | None = None,
    risk: str | None = None,
    cost: str | None = None,
    threshold: float = 0.2,
    belief: float | None = None,
    recipient: str | None = None,
    prove: bool = False,
    keep: Callable[[Made], Any] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run methods and settings side by side on one table and recommend one of them.

    Every release is verified; a setting that is not possible (its rule cannot be met, or its method
    cannot keep it) says why instead of figures. The parameters are those of
    :meth:`shoal.Table.compare`; ``keep`` makes what is kept of the first run of every setting.
    """
    check_axis(risk, RISKS, "risk")
    check_axis(cost, costs(), "cost")
    repeats = REPEATS.check(repeats, "compare")
    queries = ASKED.check(QUERIES if queries is None else queries, "compare")
    threshold = THRESHOLD.check(threshold, "compare")
    belief = None if belief is None else BELIEF.check(belief, "compare")
    check_axis(recipient, RECIPIENTS, "recipient")
    wanted = methods, rule_values or {}
    tell = progress or (lambda label: None)
    with collect_warnings() as said:
        full = [_settled(choice, table) for choice in choices(plan, *wanted)]
        yardstick = make_yardstick(
            table,
            threshold=threshold,
            queries=queries,
            classify=classifier,
            target=target,
            seed=plan.seed or 0,
        )
        runner = _Runner(table, yardstick, extra, repeats, keep, tell)
        settings = []
        for choice in full:
            if tell(choice.label) is True or (done := runner.run(choice)) is None:
                break
            settings.append(done)
        told: tuple[str, ...] = ()
        if prove:
            settings, told = runner.prove(settings)
    return Comparison(
        settings=tuple(settings),
        axes=_for_recipient(
            _axes(settings, full, yardstick, risk, cost, threshold, belief), yardstick, recipient
        ),
        rows=table.frame.height,
        quasi=table.schema.quasi,
        sensitive=table.schema.sensitive,
        threshold=threshold,
        asked_k=rule_specs.smallest_class([rule.spec for rule in plan.rules]),
        target=yardstick.task.target if yardstick.task else None,
        baselines={
            name: {"accuracy": score.accuracy, "balanced_accuracy": score.balanced}
            for name, score in yardstick.baselines.items()
        },
        repeats=repeats,
        stopped=len(settings) < len(full),
        seeded=plan.seed is not None,
        notes=(*yardstick.notes, *told),
        warnings=tuple(dict.fromkeys(said)),
    )


def _settled(choice: ComparedSetting, table: Original) -> ComparedSetting:
    """Write the defaults out, and refuse rules that no method could keep on this table."""
    plan = choice.plan.final(table.plan)
    rule_specs.build_rules([rule.spec for rule in plan.rules], table.schema.sensitive)
    return replace(choice, plan=plan)


@dataclass(frozen=True, eq=False)
class _Runner:
    """Runs settings on one table, encoding it once for each form that a method takes."""

    table: Original
    yardstick: ReleaseMeasures
    extra: tuple[Rule, ...]
    repeats: int
    keep: Callable[[Made], Any] | None
    tell: Callable[[str], object]
    encoded: dict[bool, Encoded] = field(default_factory=dict)

    def run(self, choice: ComparedSetting) -> ComparedSetting | None:
        """Return what came of a setting, None when it was stopped before it was done."""
        runs: list[dict[str, float]] = []
        for repeat in range(self.repeats):
            try:
                done = self._once(choice, repeat)
            except (Infeasible, ParameterError) as error:
                return replace(choice, reason=short(str(error)), detail=str(error))
            if done is None:
                return None
            made, figures = done
            if not repeat:
                first = made
            runs.append(figures)
        losses = [figures[DEFAULT_LOSS] for figures in runs]
        return replace(
            choice,
            verified=first.run.verdict.holds,
            promised=tuple(result.promise for result in first.run.verdict.rules),
            figures=_together(runs),
            spread=(min(losses), max(losses)) if self.repeats > 1 else None,
            release=None if self.keep is None else self.keep(first),
        )

    def prove(
        self, settings: Sequence[ComparedSetting]
    ) -> tuple[list[ComparedSetting], tuple[str, ...]]:
        """Add to settings how far they are at most above the best, and tell why some have not."""
        require("proof")
        from shoal.ext.proof.bound import Bound, Proof, lower_bound, smallest_class

        bounds: dict[tuple[bool, int], Bound] = {}
        done, notes = [], []
        for setting in settings:
            entry = find_method(setting.plan.method.name)
            specs = [rule.spec for rule in setting.plan.rules]
            rules = (*rule_specs.build_rules(specs, self.table.schema.sensitive), *self.extra)
            try:
                refuse(Request(setting.plan, entry, rules, self.table.schema, prove=True))
            except ParameterError as error:
                notes.append(f"Nothing is proved of {setting.label}. {error}")
                done.append(setting)
                continue
            if setting.verified:
                form, k = entry.flat_sets, smallest_class(rules)
                if (form, k) not in bounds:
                    tell = partial(self._stopped, setting.label)
                    bounds[form, k] = lower_bound(self.encoded[form], k, tell)
                proof = Proof(setting.figures[DEFAULT_LOSS], bounds[form, k])
                more = {"lower_bound": proof.bound.rate}
                if proof.above is not None:
                    more["above_best"] = proof.above
                done.append(replace(setting, figures={**setting.figures, **more}))
            else:
                done.append(setting)
        return done, tuple(dict.fromkeys(notes))

    def _stopped(self, label: str, _rate: float) -> bool:
        return self.tell(label) is True

    def _once(self, choice: ComparedSetting, repeat: int) -> tuple[Made, dict[str, float]] | None:
        cut = False

        def progress(stage: str) -> bool:
            nonlocal cut
            # Stages inside a setting are not told, only that kernels compile; a method that
            # refines its groups asks whether to go on.
            if stage == "compile":
                self.tell(stage)
            elif stage == "refine" and self.tell(choice.label) is True:
                cut = True
            return cut

        plan = choice.plan
        if plan.seed is not None and repeat:
            plan = plan.changed({"seed": plan.seed + repeat})
        clock = StageTimer(progress)
        form = find_method(plan.method.name).flat_sets
        if form not in self.encoded:
            self.encoded[form] = encode(
                self.table.frame, self.table.schema, self.table.taxonomies, flat_sets=form
            )
        made = execute(self.table, plan, clock, self.extra, self.encoded[form])
        if cut:  # its groups are not what they would have become
            return None
        spent = sum(clock.seconds[stage] for stage in ("group", "recode", "verify"))
        figures = self.yardstick.measure(made)
        figures["seconds"] = spent - clock.compiling
        made.run.seconds["total"] = spent
        return made, figures


def _together(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the means of the figures of several runs, of the highest risks the highest."""
    return {
        name: max(values) if name in _HIGHEST else sum(values) / len(values)
        for name in runs[0]
        if (values := [figures[name] for figures in runs if name in figures])
    }


def short(text: str) -> str:
    """Return the opening of an error: what is not possible, without the values that tell why."""
    return re.split(r"(?<=\w|['\"])[.:;](?:\s|$)", text, maxsplit=1)[0] + "."


def _for_recipient(axes: Axes, yardstick: ReleaseMeasures, recipient: str | None) -> Axes:
    """Put the limits of a recipient in place of the usual ones."""
    if recipient is None:
        return axes
    limits = RECIPIENTS[recipient]
    believed = limits.belief(yardstick.prior())
    return Axes(axes.risk, axes.cost, believed if axes.risk == "belief" else limits.risk, believed)


def _axes(
    settings: Sequence[ComparedSetting],
    tried: Sequence[ComparedSetting],
    yardstick: ReleaseMeasures,
    risk: str | None,
    cost: str | None,
    threshold: float,
    belief: float | None,
) -> Axes:
    """Choose what settings are weighed by, unless it was said."""
    figures = [setting.figures for setting in settings if setting.verified]
    believed = any("belief_worst" in measured for measured in figures)
    crowds = any(find_rule(rule.name).crowd for choice in tried for rule in choice.plan.rules)
    if risk is None:
        risk = "highest" if crowds or not believed else "belief"
    if cost is None:
        exact = any(
            find_method(setting.plan.method.name).shape.exact
            for setting in settings
            if setting.verified
        )
        asked = any("query_median" in measured for measured in figures)
        cost = "queries" if exact and asked else DEFAULT_LOSS
    if risk != "belief":
        return Axes(risk, cost, threshold)
    if belief is None:
        belief = (1 + yardstick.prior()) / 2
    return Axes(risk, cost, belief)
