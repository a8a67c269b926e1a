"""Check whether a published table keeps its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from shoal.base.errors import NotVerified, SchemaError
from shoal.base.partition import GroupStats
from shoal.base.roles import Role
from shoal.catalog import find_rule
from shoal.measures.cautions import doubtful_values
from shoal.measures.deduced_values import read_off
from shoal.measures.earlier.measuring import check_against, measure_earlier_releases
from shoal.measures.exposure import exposure
from shoal.measures.match_people import MatchedPeople, match_people
from shoal.measures.models import models
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import (
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    MInvariance,
    Rule,
    flatten,
)
from shoal.privacy.base import describe_rule
from shoal.releases.counterfeits import COUNTERFEITS, false_rows
from shoal.releases.history.check import check_history
from shoal.releases.history.store import History
from shoal.releases.opened import Opened, people_not_counted
from shoal.releases.verdict import RuleResult, Verdict, achieved_by
from shoal.tables.cells import as_text, infer_type, missing_to_null
from shoal.tables.open_table import resolve_schema
from shoal.tables.original import Original
from shoal.tables.set_cells import read_sets
from shoal.verbs.run import Run


def audit(
    opened: Opened,
    plan: Plan,
    extra: Sequence[Rule] = (),
    original: pl.DataFrame | None = None,
    against: Sequence[Opened] = (),
    history: History | None = None,
    claimed: int | None = None,
) -> Verdict:
    """Say what a release achieves, from its published cells alone.

    Parameters
    ----------
    opened
        The release.
    plan
        What it promises: the rules of its plan, k-anonymity when nothing was asked for, whatever
        the shape of the release. What the shape itself is made for is reported besides.
    extra
        Rules that no plan can hold.
    original
        The table it was made from: then every released cell must also cover its source.
    against
        Earlier releases of the same people: then the promise must hold over all of them.
    history
        Of the series that the release is one of: then people must hide among the same values.
    claimed
        The m of the m-invariant series that the release and the earlier ones are said to be of,
        where the rules do not name it. It is not believed: what only it explains stays untold.
    """
    if not opened.quasi:
        raise SchemaError(
            "An audit needs the quasi-identifiers, and none were given. Name them with --quasi "
            "(quasi=[...]) or give the plan of the run with --plan (plan=...)."
        )
    specs = [rule.spec for rule in plan.final().rules]
    rules = (*build_rules(specs, opened.sensitive), *extra)
    source = None if original is None else _source(opened, original)
    matched = None
    if source is not None and opened.persons is None:
        matched = match_people(opened, source)
        source = replace(source, whose=None if matched is None else matched.persons)
    elif source is not None:
        source = replace(source, whose=opened.persons)
    verdict: Verdict = opened.shape.check.check(opened, rules, source)
    bound = matched is not None and verdict.people is None
    if matched is not None and bound:
        verdict = _at_least(verdict, rules, matched)
    bound = bound and verdict.people is not None
    if source is not None and verdict.people is None:
        verdict = _one_row_each(verdict, rules, _people_beside(opened, source))
    said = [] if history is None else check_history(opened, history)
    if history is not None and not said and verdict.people is None:
        verdict = _one_row_each(verdict, rules, _people_of(opened, history))
    measured = _hidden(opened, plan) if opened.shape.exact else _measured(opened, verdict)
    if opened.names(Role.PERSON) and verdict.people is None:
        told = people_not_counted(opened.names(Role.PERSON)[0], compared=original is not None)
        measured["uncounted"] = told
        # What was promised of people is not kept because it holds of rows.
        faults = (*verdict.faults, told)
        verdict = replace(verdict, holds=False, faults=faults, untold=(*verdict.untold, told))
    if exposed := exposure(opened.published, opened.sensitive, opened.names(Role.PERSON)):
        measured["exposure"] = exposed.to_dict()
    if certain := read_off(opened, original):
        measured["read_off"] = certain.to_dict()
    if bound:
        measured["at_least"] = "Every class has at least so many people; some may have more."
    measured["cautions"] = cautions(opened)
    if said:
        verdict = replace(verdict, holds=False, faults=(*verdict.faults, *said))
    verdict = replace(verdict, models=measured)
    if not against:
        return verdict
    return _over_all(verdict, opened, against, rules, claimed, history)


def refuse_undone(
    run: Run, opened: Opened, plan: Plan, extra: Sequence[Rule], against: Sequence[Opened]
) -> Run:
    """Refuse a release, fresh from its run, that somebody undoes who has earlier ones as well.

    Returns the run, with what these leave of the sensitive columns as an audit tells it.
    """
    specs = [rule.spec for rule in plan.final().rules]
    rules = (*build_rules(specs, opened.sensitive), *extra)
    check_against(opened, against)
    columns = [measure_earlier_releases(opened, against, name, rules) for name in opened.sensitive]
    if told := [fault for column in columns for fault in column.faults]:
        listed = "\n".join(told)
        raise NotVerified(
            f"Nothing was released, because with the earlier releases: {listed}\n"
            "Releases over time keep a promise with m-invariance (--m and --history)."
        )
    models = {**run.verdict.models, "earlier": {c.column: c.to_dict() for c in columns}}
    return replace(run, verdict=replace(run.verdict, models=models))


def _over_all(
    verdict: Verdict,
    opened: Opened,
    against: Sequence[Opened],
    rules: Sequence[Rule],
    claimed: int | None,
    history: History | None,
) -> Verdict:
    """Return the verdict over this and earlier releases.

    In an m-invariant series a row may have the cells of an earlier class and be of nobody who was
    in it: people keep their values. Which rows these are only the history knows.
    """
    check_against(opened, against)
    faults, untold = list(verdict.faults), list(verdict.untold)
    found = {}
    for name in opened.sensitive:
        column = measure_earlier_releases(opened, against, name, rules)
        found[name] = column.to_dict()
        lasting = _lasting(rules, claimed, name, (opened, *against))
        kept = {
            describe_rule(rule, "rows") for rule in rules if lasting and _follows(rule, lasting)
        }
        crowds = [rule for rule in rules if lasting and isinstance(rule, KAnonymity)]
        alone = {describe_rule(rule, "rows") for rule in crowds}
        known = bool(kept) and _in_history(history, (opened, *against))
        if column.nobody:
            untold.append(column.nobody)
        proved = kept if known else set()
        if not column.broken and column.uncertain(proved):
            untold.append(column.beyond)
        for promise, text in column.broken.items():
            if promise in alone:
                untold.append(text + _ALONE)
            elif promise not in kept:
                faults.append(text)
            elif promise not in proved:
                untold.append(text + _UNTOLD)
    faults += [text for text in untold if text not in faults]
    models = {**verdict.models, "earlier": found}
    return replace(
        verdict, models=models, faults=tuple(faults), untold=tuple(untold), holds=not faults
    )


_UNTOLD = (
    " In an m-invariant series, which these are said to be, nobody of them was: people keep their "
    "values. The cells cannot show it; with --history, the audit can check it."
)


_ALONE = (
    " In an m-invariant series, which these are said to be, classes have so many people in each "
    "release by itself. How many of them were in the earlier ones the cells cannot show."
)


def _lasting(
    rules: Sequence[Rule], claimed: int | None, column: str, releases: Sequence[Opened]
) -> MInvariance | None:
    """Return the m-invariance that releases are said to keep, if each class of them can."""
    own = [rule for rule in rules if isinstance(rule, MInvariance) and rule.column == column]
    own = own or ([] if claimed is None else [MInvariance(claimed, column)])
    if not own or any(opened.shape.exact or not opened.has(column) for opened in releases):
        return None
    able = all(opened.shape.check.check(opened, own[:1]).rules[0].holds for opened in releases)
    return own[0] if able else None


def _follows(rule: Rule, lasting: MInvariance) -> bool:
    """Tell whether a rule holds of people who keep the m values, equally often, in all releases."""
    if rule.column not in (None, lasting.column):
        return False
    counts = isinstance(rule, (LDiversity, EntropyLDiversity, FrequencyLDiversity, MInvariance))
    return counts and rule.diversity is not None and rule.diversity <= lasting.m


def _in_history(history: History | None, releases: Sequence[Opened]) -> bool:
    """Tell whether releases are of one series, and what its history says of them."""
    if history is None:
        return False
    return all(
        history.number(opened.frame) is not None and not check_history(opened, history)
        for opened in releases
    )


def _people_of(opened: Opened, history: History) -> int | None:
    """Return how many people a release of an m-invariant series has, by the history it keeps.

    Everybody has one row there, and the others are told to be counterfeits.
    """
    number = history.number(opened.frame)
    if number is None or history.heads[number]["about"]["rule"] != MInvariance.name:
        return None
    false, wrong = false_rows(opened.published, opened.tables.get(COUNTERFEITS))
    people = history.classes(number)["person"].n_unique()
    return people if not wrong and opened.frame.height - int(false.sum()) == people else None


def _people_beside(opened: Opened, source: Original) -> int | None:
    """Return how many people a release with counterfeits has, if its original has a row of each."""
    false, _ = false_rows(opened.published, opened.tables.get(COUNTERFEITS))
    person, rows = source.schema.person, source.frame
    if not false.any() or person is None or person not in rows.columns:
        return None
    whole = opened.frame.height - int(false.sum()) == rows.height
    return rows.height if whole and source.schema.persons(rows).is_unique().all() else None


def _one_row_each(verdict: Verdict, rules: Sequence[Rule], people: int | None) -> Verdict:
    """Say of people what was found of rows: each has one, and counterfeits were not counted.

    ``people``: how many there are, None if that is not known: then it is said of rows.
    """
    if people is None:
        return verdict
    results = tuple(
        replace(result, promise=describe_rule(rule, "people"))
        for rule, result in zip(flatten(rules), verdict.rules, strict=True)
    )
    return replace(verdict, people=people, rules=results)


def _at_least(verdict: Verdict, rules: Sequence[Rule], matched: MatchedPeople) -> Verdict:
    """Count people where every class has enough of them, whichever rows are its own."""
    stats = GroupStats(matched.least, {}, "people")
    if any(rule.column is not None or not rule.holds(stats).all() for rule in flatten(rules)):
        return verdict
    results = tuple(
        RuleResult(rule.name, describe_rule(rule, "people"), True, 0, rule.achieved(stats))
        for rule in flatten(rules)
    )
    achieved = achieved_by(flatten(rules), results)
    return replace(verdict, rules=results, achieved=achieved, people=matched.count)


def cautions(opened: Opened) -> list[str]:
    """Say which sensitive values count as different and may be none, or one."""
    return [
        text
        for name in opened.sensitive
        for table in opened.tables.values()
        if name in table.columns
        for text in doubtful_values(name, _values(opened, table[name]))
    ]


def _values(opened: Opened, cells: pl.Series) -> pl.Series:
    """Return the values that a sensitive column publishes, those of sets one by one, as texts."""
    sets = read_sets(cells)
    elements = cells if sets is None else sets.list.explode(empty_as_null=False, keep_nulls=False)
    return as_text(opened.column(cells.name).clean(elements.alias(cells.name)))


def _source(opened: Opened, original: pl.DataFrame) -> Original:
    """Return the original with the roles that the release was opened with.

    A plan declares every column, so a column that it does not name is a fault; a few flags do not:
    what they leave out is taken for passed through, if the original has it.
    """
    plan = opened.plan
    if not opened.complete:
        others = [name for name in opened.names(Role.KEEP) if name in original.columns]
        plan = plan.changed({"roles": {Role.KEEP: others}})
    _, schema = resolve_schema(original, plan, opened.taxonomies)
    return Original(original, schema, None, opened.taxonomies)


def _measured(opened: Opened, verdict: Verdict) -> dict[str, Any]:
    """Return what every privacy model says, from the counts that the verdict was made of."""
    assert verdict.stats is not None
    ordered = []
    for name in verdict.stats.histograms:
        texts = opened.column(name).missing if name in opened.sensitive else ()
        dtype = infer_type(missing_to_null(opened.frame[name], texts)).dtype
        if dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, pl.Enum):
            ordered.append(name)
    return models(verdict.stats, opened.quasi, ordered)


def _hidden(opened: Opened, plan: Plan) -> dict[str, Any]:
    """Return what a release reaches that hides sensitive values, and what can be believed."""
    entry = find_rule(opened.shape.promise)
    least = {param.name: param.low for param in entry.params if param.low is not None}
    hidden = [name for name in opened.sensitive if opened.shape.view.estimated(opened, name)]
    rules = [entry.load()(column=name, **least) for name in hidden]
    reached = opened.shape.check.check(opened, rules).rules if rules else ()
    return {
        "data": {"quasi-identifiers": opened.quasi, "sensitive attributes": opened.sensitive},
        "shape": opened.shape.name,
        "seeded": plan.seeded,
        "reached": {
            name: dict(result.achieved) for name, result in zip(hidden, reached, strict=True)
        },
        "posterior": {name: opened.view(name).posterior(name).risk() for name in hidden},
    }
