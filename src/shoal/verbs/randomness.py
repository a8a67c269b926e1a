"""Choose the random number generators of a run."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from shoal.base.errors import warn
from shoal.base.partition import Ints
from shoal.base.seeds import LONG, SHORT_SEED, stretch_seed
from shoal.catalog import Method
from shoal.plan.plan import Plan


def generators(
    plan: Plan, entry: Method
) -> tuple[np.random.Generator | None, Callable[[int], Ints]]:
    """Return the randomness for grouping, and what shuffles the rows.

    Without a seed the order comes from the operating system's secure source: nobody who knows the
    program can undo it. A method whose draws are themselves the protection gets no generator at
    all, which makes it use that source too.
    """
    drawn = entry.shape.drawn
    if plan.seed is None:
        return None if drawn else np.random.default_rng(), _secure_order
    if drawn:
        warn(
            f"The method {entry.name!r} was run with a seed: anyone who knows the seed can undo "
            "it. A seed is for tests only; publish a run without one.",
        )
    warn_of_short(plan)
    grouping, shuffling = np.random.SeedSequence(stretch_seed(plan.seed)).spawn(2)
    return np.random.default_rng(grouping), np.random.default_rng(shuffling).permutation


def warn_of_short(plan: Plan) -> None:
    """Say so if a seed can be found by trying."""
    if plan.seed is not None and plan.seed < LONG:
        warn(SHORT_SEED)


def _secure_order(rows: int) -> Ints:
    keys = np.frombuffer(os.urandom(8 * rows), np.uint64)
    return np.argsort(keys, kind="stable").astype(np.int64)
