"""Axes: scales and round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from shoal.base.errors import ParameterError
from shoal.show.charts.words import tick


@dataclass(frozen=True)
class Scale:
    """One axis: the numbers ``low .. high`` lie at ``start .. end``.

    ``step`` is the distance of the ticks, 0 on a logarithmic axis.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    step: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return where a number lies; what is outside lies at the edge."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def label(self, value: float, form: str) -> str:
        """Say a tick."""
        return tick(value, form, self.step)


def scale(
    values: Iterable[float],
    start: float,
    end: float,
    *,
    log: bool = False,
    zero: bool = False,
    most: int = 6,
    name: str = "",
) -> Scale:
    """Return an axis that holds all ``values``, with at most about ``most`` ticks.

    ``zero``: the axis starts at 0, as bars must. ``log``: every number must be above 0.
    """
    finite = [float(value) for value in values if math.isfinite(value)]
    if log:
        if bad := [value for value in finite if value <= 0]:
            raise ParameterError(
                f"A logarithmic axis{f' of {name!r}' if name else ''} cannot show {bad[0]:g}: "
                "every number must be above 0. Use a linear axis, or leave those points out."
            )
        return _logarithmic(finite or [1.0], start, end, most)
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = (0.0, high or 1.0) if high >= 0 and zero else (low - 0.5, high + 0.5)
    step = _nice((high - low) / most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(_exact(i, step) for i in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks, step)


def _exact(times: int, step: float) -> float:
    """Return a multiple of a round number without the dust of its last digits."""
    return float(f"{times * step:.12g}")


def _nice(step: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(step))
    for round_one in (1.0, 2.0, 2.5, 5.0, 10.0):
        if step <= round_one * power * (1 + 1e-9):
            return round_one * power
    return 10.0 * power


def _logarithmic(values: list[float], start: float, end: float, most: int) -> Scale:
    low, high = min(values), max(values)
    marks = [1.0, 2.0, 5.0] if math.log10(high / low) < 2 else [1.0]
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    places = [mark * 10.0**power for power in powers for mark in marks]
    first = max(tick for tick in places if tick <= low * (1 + 1e-9))
    last = min(tick for tick in places if tick >= high * (1 - 1e-9))
    if first == last:
        first, last = first / 10, last * 10
    inside = [tick for tick in places if first <= tick <= last]
    every = max(1, math.ceil(len(inside) / (most + 1)))
    return Scale(first, last, start, end, tuple(inside[::every]), 0.0, log=True)
