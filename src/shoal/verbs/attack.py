"""Simulate attacks on a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.base.errors import (
    InputError,
    ParameterError,
    SchemaError,
    format_names,
    suggest_nearest,
    warn,
)
from shoal.base.params import Param
from shoal.base.partition import Ints
from shoal.base.roles import Role
from shoal.measures.deduced_values import read_off
from shoal.measures.match_people import match_people
from shoal.measures.risks.downcoding import downcode, facts, nothing
from shoal.measures.risks.knowledge import Draw, alike, attacker_knowledge, cut
from shoal.measures.risks.results import AttackResult, Attacks
from shoal.measures.risks.scores import Scores, Target, score
from shoal.measures.risks.searching import answers_of, belief_of, prepare_target
from shoal.measures.risks.summary import summarize, summarize_deduced, summarize_guesses
from shoal.releases.opened import Opened
from shoal.tables.open_table import check_columns, quasi_schema
from shoal.tables.original import Original
from shoal.tables.schema import Column, Schema
from shoal.verbs.intersect import Attacker, ReleaseWithOriginal, intersect, pair_with_originals

GUESSING = ("homogeneity", "inference", "background")
OVER_TIME = "intersection"
TIGHT = ("readoff", "downcoding")
ATTACKS = ("linkage", *GUESSING, OVER_TIME, *TIGHT)
TARGETS = 2000

_PARAMS = (
    Param("noise", "share of what is known that is wrong", float, 0.0, low=0.0, high=1.0),
    Param("gaps", "share of what is known that is not known", float, 0.0, low=0.0, high=1.0),
    Param("rule_out", "values that can be ruled out", int, 1, low=1),
    Param("belief", "belief that is counted", float, 0.9, low=0.0, high=1.0),
)


def attack(
    opened: Opened,
    original: pl.DataFrame | None,
    *,
    attacks: Sequence[str] | str | None = None,
    targets: int | None = None,
    noise: float = 0.0,
    gaps: float = 0.0,
    rule_out: int = 1,
    belief: float = 0.9,
    control: pl.DataFrame | None = None,
    against: Sequence[Opened] = (),
    against_original: Sequence[pl.DataFrame | None] = (),
    seed: int | None = None,
) -> Attacks:
    """Attack some people of the original through the release, and say how often that succeeds.

    The attacker knows the columns that the release is looked up by, and wants to learn the
    sensitive ones. The parameters are those of :meth:`shoal.Release.attack`.

    Notes
    -----
    A target whose value is missing in the original is looked for among the rows whose cell is
    ``*`` or empty: the attacker is taken to know of the gap. A released row whose cell is empty is
    a candidate for everybody.
    """
    original = _there(original)
    before = pair_with_originals(against, against_original)
    noise, gaps, rule_out, belief = _checked(noise, gaps, rule_out, belief)
    names, hidden = tuple(opened.quasi), tuple(opened.sensitive)
    if not names:
        raise SchemaError(
            "An attack needs to know something, and nothing was given. Name the columns that the "
            "attacker knows with --known (known=[...]), or give the plan with --plan (plan=...)."
        )
    wanted = _wanted(attacks, hidden, len(before), generalized=not opened.shape.exact)
    hidden = hidden if set(wanted) & {*GUESSING, OVER_TIME} else ()
    _check(original, opened.frame, control, names, hidden)
    rng = np.random.default_rng(seed)
    persons = _persons(opened, original)
    many = _count(targets, original.height, None if persons is None else persons.n_unique())
    outside = 0 if control is None else control.height
    if persons is None:
        draw = Draw.draw(original.height, outside, many, rng)
    else:
        draw = Draw.of_people(persons, outside, many, rng)
    views = {name: opened.view(name) for name in hidden}
    schema = quasi_schema(original, opened.plan, names, opened.taxonomies)
    columns = [schema[name] for name in names]
    release = prepare_target(
        opened,
        columns,
        {name: draw.people(schema[name], original, control, rng) for name in names},
        tuple(belief_of(name, views[name]) for name in hidden),
    )
    answers = [
        answers_of(name, original, control, draw, opened.column(name).missing, views[name])
        for name in hidden
    ]
    scores = _run(release, draw, answers, rng, noise=noise, gaps=gaps, rule_out=rule_out)
    bound = _bound(opened, original, columns) if "linkage" in wanted else {}

    def results(kind: str) -> list[AttackResult]:
        if kind == "readoff":
            return [summarize_deduced(read_off(opened, original))]
        if kind == "downcoding":
            return [_downcoding(opened, columns, original, control, draw)]
        if kind == OVER_TIME:
            asked = Attacker(many, noise, gaps, control)
            return intersect(ReleaseWithOriginal(opened, original), before, hidden, asked, rng)
        return summarize(kind, release, scores, names, rule_out, belief, draw.rows_each, bound)

    return Attacks(
        results=tuple(result for kind in wanted for result in results(kind)),
        known=names,
        sensitive=hidden,
        shape=opened.shape.name,
        targets=many,
        rows=opened.frame.height,
        noise=noise,
        gaps=gaps,
        control="outsiders" if control is not None else "others" if draw.others.size else "none",
        unmatched=_unmatched(scores[0], original, opened.frame),
    )


# Checks


def _checked(*shares: Any) -> list[Any]:
    return [param.check(own, "attack") for param, own in zip(_PARAMS, shares, strict=True)]


def _there(original: pl.DataFrame | None) -> pl.DataFrame:
    """Return the original, or say that there is none."""
    if original is None:
        raise ParameterError(
            "An attack needs the original, the truth about the people it is tried on. Open the "
            "release with it: release.with_original(table).attack(...), or give original=..."
        )
    return original


def _wanted(
    attacks: Sequence[str] | str | None, hidden: Sequence[str], before: int, *, generalized: bool
) -> tuple[str, ...]:
    asked = [attacks] if isinstance(attacks, str) else list(attacks or ())
    for kind in asked:
        if kind not in ATTACKS:
            raise ParameterError(
                f"There is no attack {kind!r}.{suggest_nearest(kind, ATTACKS)} Choose from "
                f"{format_names(ATTACKS)}."
            )
    if not generalized and (needy := [kind for kind in asked if kind in TIGHT]):
        raise ParameterError(
            f"The attack {needy[0]!r} deduces values from generalized cells, and this release "
            "publishes exact quasi-identifiers. Leave it out."
        )
    if not hidden and (needy := [k for k in asked if k in (*GUESSING, OVER_TIME)]):
        raise ParameterError(
            f"The attack {needy[0]!r} guesses a sensitive value, and no sensitive column was "
            "given. Name it with --sensitive (sensitive=[...]), or run 'linkage' alone."
        )
    if OVER_TIME in asked and not before:
        raise ParameterError(
            f"The attack {OVER_TIME!r} needs an earlier release of the same people, and none was "
            "named. Name each with --against (against=[...]), and the table that it was made from "
            "with --against-original (against_original=[...])."
        )
    if before and (OVER_TIME not in asked if asked else not hidden):
        raise ParameterError(
            f"Earlier releases were given (--against, against=[...]), which the attack "
            f"{OVER_TIME!r} alone looks at, on a sensitive column. Ask for it with --attacks "
            "(attacks=[...]) and name the column with --sensitive, or leave them out."
        )
    usual = ("linkage", *(GUESSING if hidden else ()), *((OVER_TIME,) if before else ()))
    return tuple(dict.fromkeys(asked)) or usual


def _check(
    source: pl.DataFrame,
    published: pl.DataFrame,
    outsiders: pl.DataFrame | None,
    names: Sequence[str],
    hidden: Sequence[str],
) -> None:
    if both := [name for name in names if name in hidden]:
        raise SchemaError(
            f"Column {both[0]!r} is both known to the attacker and what they want to learn. "
            "Keep it in one of --known and --sensitive."
        )
    check_columns(source, "The original", [*names, *hidden])
    check_columns(outsiders, "The control", [*names, *hidden])
    held = set(published.columns)
    lost = [name for name in names if name not in held and not {f"{name}_lo", f"{name}_hi"} <= held]
    if lost:
        raise SchemaError(
            f"The release has no column {lost[0]!r}, nor the pair {lost[0] + '_lo'!r} and "
            f"{lost[0] + '_hi'!r}, so knowing it does not help to find a row."
            f"{suggest_nearest(lost[0], held)} It has: {format_names(published.columns)}. Leave "
            "it out of "
            "--known."
        )
    check_columns(published, "The release", [name for name in names if name in held])


def people_of(opened: Opened, original: pl.DataFrame) -> int | None:
    """Return how many people the original has, None where no column says whose row it is."""
    persons = _persons(opened, original)
    return None if persons is None else persons.n_unique()


def _persons(opened: Opened, original: pl.DataFrame) -> pl.Series | None:
    """Return whose row each row of the original is, if that was declared."""
    name = next((n for n in opened.names(Role.PERSON) if n in original.columns), None)
    return None if name is None else opened.column(name).persons(original[name])


def _bound(opened: Opened, original: pl.DataFrame, columns: Sequence[Column]) -> dict[str, float]:
    """Return how often whoever knows every person's class is right: by people, if declared."""
    classes = opened.published
    persons = [opened.column(name) for name in opened.names(Role.PERSON)]
    if not any(column.name in original.columns for column in persons):
        return {"bound": classes.sizes.size / max(int(classes.sizes.sum()), 1)}
    fewest = classes.people
    if fewest is None:
        hidden = [opened.column(name) for name in opened.sensitive if name in original.columns]
        schema = Schema((*columns, *hidden, *persons))
        matched = match_people(opened, Original(original, schema, None, opened.taxonomies))
        fewest = None if matched is None else matched.least
    if fewest is None or not fewest.all():
        return {}
    shares = fewest.size / int(fewest.sum())
    return {"bound_people": shares, "people_fewest": float(fewest.min())}


def _count(targets: int | None, rows: int, people: int | None) -> int:
    there = rows if people is None else people
    if targets is None:
        return min(TARGETS, there)
    Param("targets", "people to attack", int, low=1).check(targets, "attack")
    if targets > there:
        raise ParameterError(
            f"Asked for {targets:,} targets, but the original has only {there:,} "
            f"{'rows' if people is None else 'people'}. Ask for at most as many, or leave the "
            "number out."
        )
    return targets


def _unmatched(main: Scores, source: pl.DataFrame, published: pl.DataFrame) -> int:
    """Count the targets who are in no released row, and say so if that cannot be."""
    lost = int((~main.present).sum())
    if lost == main.present.size:
        raise InputError(
            f"None of the {lost:,} targets fits any released row, so this release was not made "
            "from this original, or with other hierarchies. Give the two that belong together."
        )
    if lost and published.height >= source.height:
        warn(
            f"{lost:,} of {main.present.size:,} targets fit no released row, although the release "
            "has as many rows as the original: was it made from this table? They count as not "
            "found.",
        )
    return lost


# The attack


def _downcoding(
    opened: Opened,
    columns: Sequence[Column],
    original: pl.DataFrame,
    control: pl.DataFrame | None,
    draw: Draw,
) -> AttackResult:
    """Guess all rows of the release, with what tight cells tell and without."""
    people = {}
    for column in columns:
        own = column.clean(original[column.name])
        more = () if control is None else (alike(column.clean(control[column.name]), own),)
        people[column.name] = pl.concat([own, *more])
    release = prepare_target(opened, columns, people, ())
    guesses, blind = (
        downcode(release, told, original.height, draw.chosen)
        for told in (facts(opened, columns, release.both), [nothing(side) for side in release.both])
    )
    return summarize_guesses(guesses, blind, outsiders=control is not None)


def _run(
    release: Target,
    draw: Draw,
    answers: Sequence[Sequence[Ints]],
    rng: np.random.Generator,
    *,
    noise: float,
    gaps: float,
    rule_out: int,
) -> tuple[Scores, Scores | None, Scores | None]:
    """Attack the targets, the targets with others' data, and outsiders."""
    # After the people and the values lent to them come all values of the column.
    codes = np.stack([side.values[: 2 * draw.size] for side in release.both], axis=1)
    missing = np.array([side.span - 1 for side in release.both])
    sizes = (draw.chosen.size, draw.others.size, draw.outsiders.size)
    lent = cut(codes[draw.size :], sizes)
    truth = cut(codes, sizes)
    known = [
        attacker_knowledge(own, other, missing, rng, noise=noise, gaps=gaps)
        for own, other in zip(truth, lent, strict=True)
    ]
    mine, theirs = ([answer[place] for answer in answers] for place in (0, 1))
    main = score(release, known[0], truth[0], mine, rule_out)
    other = score(release, known[1], truth[0], mine, rule_out) if sizes[1] else None
    outside = score(release, known[2], truth[2], theirs, rule_out) if sizes[2] else None
    if draw.own is not None:
        main = _any_row(release, draw, known[0], main)
        other = None if other is None else _any_row(release, draw, known[1], other)
    return main, other, outside


def _any_row(release: Target, draw: Draw, known: Ints, scores: Scores) -> Scores:
    """Count any of a person's rows for the right one: the chances of all of them together."""
    assert draw.own is not None and draw.starts is not None
    here = slice(2 * draw.size, 2 * draw.size + draw.own.size)
    own = np.stack([side.values[here] for side in release.both], axis=1)
    repeated = np.repeat(known, draw.rows_each, axis=0)
    linked = score(replace(release, beliefs=()), repeated, own, [], 1).linked
    return replace(scores, linked=np.minimum(np.add.reduceat(linked, draw.starts), 1.0))
