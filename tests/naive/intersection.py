"""The attack over several releases, person by person and row by row, in plain Python.

A release is ``(rows, values)``: cells as texts and the sensitive value of each row, None for a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

Fit = Callable[[int, str | None, object], bool]
Width = Callable[[int, str | None], int]
Release = tuple[Sequence[Sequence[str | None]], Sequence[str | None]]


def belief(release: Release, known: Sequence[object], fit: Fit, width: Width) -> dict[str, float]:
    """Return how likely each value is for somebody of whom this is known."""
    rows, values = release
    agree = [sum(fit(j, cell, known[j]) for j, cell in enumerate(row)) for row in rows]
    mass: dict[str, float] = {}
    for row, value, many in zip(rows, values, agree, strict=True):
        if many == max(agree) and value is not None:
            mass[value] = mass.get(value, 0.0) + 1 / prod(width(j, c) for j, c in enumerate(row))
    if not mass:  # rows that say nothing leave what is known of all
        mass = {value: float(values.count(value)) for value in set(values) - {None}}
    return {value: each / sum(mass.values()) for value, each in mass.items()}


def left(beliefs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the weights of the values that all releases leave; the newest is the first."""
    common = set.intersection(*(set(own) for own in beliefs))
    return {value: prod(own[value] for own in beliefs) for value in common}


def hit(weights: dict[str, float], answer: str) -> float:
    """Return the chance that a likeliest value, taken at random, is the true one."""
    whole = sum(weights.values())
    top = max(weights.values()) / whole
    best = [value for value, weight in weights.items() if weight / whole > top - 1e-9]
    return 1 / len(best) if answer in best else 0.0
