"""Summarize the scores of all targets as the result of an attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal.base.partition import Bools, Floats, Ints
from shoal.measures.deduced_values import DeducedValues
from shoal.measures.risks.downcoding import Downcoded
from shoal.measures.risks.narrowing import RemainingValues
from shoal.measures.risks.results import AttackResult, conclude
from shoal.measures.risks.scores import Belief, Guess, Scores, Target


def summarize(
    kind: str,
    release: Target,
    scores: tuple[Scores, Scores | None, Scores | None],
    known: tuple[str, ...],
    rule_out: int,
    belief: float,
    rows_each: Ints,
    bound: Mapping[str, float],
) -> list[AttackResult]:
    """Sum up one attack, for every sensitive column.

    Parameters
    ----------
    kind
        The attack.
    release
        What was attacked.
    scores
        What was found about the targets, about them with others' data, and about outsiders.
    known
        The columns that the attacker knows.
    rule_out, belief
        Of the attack with background knowledge.
    rows_each
        How many rows each target has: any of them is the right one.
    bound
        What whoever knows every person's class would reach, by what is counted.
    """
    main, other, outside = scores
    if kind == "linkage":
        rows = float(release.classes.weight.sum())
        linked = conclude(
            kind,
            None,
            attempts=main.linked.size,
            success=float(main.linked.mean()),
            baseline=float(rows_each.mean()) / rows,
            # Outsiders have no row that could be found: the control is somebody else's data.
            control=None if other is None else float(other.linked.mean()),
            outsiders=False,
            known=known,
            details={
                "highest": float(main.linked.max()),
                "candidates_mean": float(main.candidates.mean()),
                "candidates_fewest": float(main.candidates.min()),
                "likeliest_mean": float(main.likeliest.mean()),
                **bound,
                "one_candidate": float((main.candidates == 1).mean()),
                "nothing_fits": float((~main.fits).mean()),
            },
        )
        return [linked]
    tried = other if outside is None else outside
    return [
        conclude(
            kind,
            target.of,
            attempts=int(main.guesses[target.of].known.sum()),
            success=_mean(_success(kind, main.guesses[target.of])),
            baseline=_mean(_blind(kind, main.guesses[target.of], target.prior, rule_out)),
            control=None if tried is None else _mean(_success(kind, tried.guesses[target.of])),
            outsiders=outside is not None,
            known=known,
            details=_details(kind, main.guesses[target.of], target.prior, rule_out, belief),
        )
        for target in release.beliefs
    ]


def summarize_deduced(read: DeducedValues | None) -> AttackResult:
    """Sum up what can be read off for certain; nothing of it depends on who is asked about."""
    assert read is not None
    wrong = read.wrong or 0
    verdict = read.describe()
    if wrong:
        verdict += f" {wrong:,} of them the original does not have."
    right = (read.known - wrong) / read.rows if read.rows else 0.0
    details = ("cells", "known", "exact", "unique", "wrong")
    return AttackResult(
        name="readoff",
        column=None,
        question="Which rows of the original follow for certain from cells that are tight?",
        attempts=read.rows,
        success=right,
        low=right,
        high=right,
        baseline=0.0,
        control=None,
        verdict=verdict,
        warning="Some claims are wrong: the cells are wider than joins, so no claim is certain."
        if wrong
        else None,
        details={name: float(getattr(read, name) or 0) for name in details},
    )


def summarize_guesses(guesses: Downcoded, blind: Downcoded, *, outsiders: bool) -> AttackResult:
    """Sum up rows guessed with what tight cells tell, beside the same model without."""
    result = conclude(
        "downcoding",
        None,
        attempts=guesses.rows,
        success=guesses.right,
        baseline=blind.right,
        control=guesses.outside,
        outsiders=outsiders,
        known=(),
        details={
            "cells": guesses.cells,
            "cells_without_facts": blind.cells,
            "unique": guesses.unique,
            "unique_without_facts": blind.unique,
        },
    )
    if not guesses.rows:
        return replace(result, warning="No cell is wide, so there is nothing to guess.")
    if result.warning and guesses.right and guesses.right <= blind.right:
        return replace(
            result,
            warning="That cells are tight does not help: the same rows are guessed without it. "
            "What is guessed at all, the cells themselves give away.",
        )
    return result


def summarize_narrowed(
    target: Belief,
    main: RemainingValues,
    tried: RemainingValues | None,
    in_all: Bools,
    releases: int,
    known: tuple[str, ...],
    *,
    outsiders: bool,
) -> AttackResult:
    """Sum up what all releases leave of a sensitive column; ``in_all``: who was in each of them."""
    told = main.after.known
    alone, after, whole = main.alone.take(told), main.after.take(told), in_all[told]
    one = after.support == 1
    return conclude(
        "intersection",
        target.of,
        attempts=int(told.sum()),
        success=_mean(after.hit),
        baseline=_mean(_blind("inference", after, target.prior, 0)),
        control=None if tried is None else _mean(_success("inference", tried.after)),
        outsiders=outsiders,
        known=known,
        details={
            "releases": releases,
            "alone": _mean(alone.hit),
            "left_before": _mean(alone.support.astype(np.float64)),
            "left": _mean(after.support.astype(np.float64)),
            "left_fewest": float(after.support.min()) if told.any() else 0.0,
            "one_value_before": _mean((alone.support == 1).astype(np.float64)),
            "one_value": _mean(one.astype(np.float64)),
            "certain": _mean((one & after.possible).astype(np.float64)),
            "none_left": _mean(main.none[told].astype(np.float64)),
            "in_all": _mean(whole.astype(np.float64)),
            "success_in_all": _mean(after.hit[whole]),
        },
    )


def _mean(chances: Floats) -> float:
    return float(chances.mean()) if chances.size else 0.0


def _success(kind: str, guess: Guess) -> Floats:
    hits = {"homogeneity": guess.alike, "inference": guess.hit, "background": guess.last}[kind]
    return hits[guess.known].astype(np.float64)


def _blind(kind: str, guess: Guess, prior: Floats, rule_out: int) -> Floats:
    """Return the chance of somebody who does not look anybody up, person by person."""
    answer = guess.answer[guess.known]
    own = np.where(answer >= 0, prior[np.maximum(answer, 0)], 0.0) if prior.size else answer * 0.0
    top = prior.max(initial=0.0)
    if kind == "inference":
        same = prior >= top - 1e-9
        return np.where((own > 0) & (own >= top - 1e-9), 1.0 / max(int(same.sum()), 1), 0.0)
    left = 1 if kind == "homogeneity" else rule_out + 1
    return ((own > 0) & (np.count_nonzero(prior) <= left)).astype(np.float64)


def _details(
    kind: str, guess: Guess, prior: Floats, rule_out: int, belief: float
) -> dict[str, float]:
    informed = guess.known
    if kind == "homogeneity":
        one = (guess.support == 1)[informed]
        return {
            "one_value": _mean(one.astype(float)),
            "wrong": _mean((one & ~guess.possible[informed]).astype(float)),
            "certain": _mean(guess.certain[informed].astype(float)),
        }
    if kind == "inference":
        top = guess.top[informed]
        return {
            "belief_mean": _mean(top),
            "belief_worst": float(top.max(initial=0.0)),
            "belief_before": float(prior.max(initial=0.0)),
            "own_mean": _mean(guess.own[informed]),
        }
    return {
        "ruled_out": rule_out,
        "belief": belief,
        "above": _mean((guess.ruled[informed] > belief).astype(float)),
        "belief_mean": _mean(guess.ruled[informed]),
    }
