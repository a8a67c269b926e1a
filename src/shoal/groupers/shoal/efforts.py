"""How much work each effort of the method `shoal` does: work is counted, not seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

ROUNDS = 6
"""Rounds of chains that are worth their prices."""


@dataclass(frozen=True)
class NodeSearch:
    """How long whole nodes are searched.

    Parameters
    ----------
    rounds, heat
        By patterns alone: for how long, and how much worse a step may make it at first, in losses
        of k rows.
    first
        Rounds before nodes are listed, where they can be.
    passes
        Passes over those nodes for prices that say which of them are worth it.
    tries
        Nodes tried after that.
    classes
        Classes (n / k) up to which nodes are searched where k is not large.
    starts
        How often patterns are searched, side by side; the best is taken.
    """

    rounds: int
    heat: float
    first: int
    passes: int
    tries: int
    classes: int = 0
    starts: int = 1


@dataclass(frozen=True)
class Effort:
    """How far stages go; with 0 a stage does nothing.

    Parameters
    ----------
    after
        The effort that this one goes on from, so that it never loses more; none for ``""``.
    first_trials, trials
        Trials per n / k, before and after prices.
    heat, passes, dearer
        Of the latter; see :class:`shoal.groupers.shoal.trials.Trials`.
    others
        Whether other methods make starts in tables that are not small.
    restarts
        Whether trials start again in small tables.
    prices
        Pairs of an entry and a pattern up to which prices are made.
    chains
        Rounds of chains that are put together.
    chained
        Rows times rounds of chains, at most; with fewer than :data:`ROUNDS` rounds there are none.
    nodes
        How long whole nodes are searched where k is large or classes are few.
    """

    after: str = ""
    first_trials: float = 2.0
    trials: float = 0.0
    heat: float = 0.0
    passes: int = 2
    dearer: float = 3.0
    others: bool = True
    restarts: bool = True
    prices: int = 0
    chains: int = 0
    chained: float = np.inf
    nodes: NodeSearch = field(default_factory=lambda: NodeSearch(24, 0.12, 4, 60, 60_000))

    def rounds(self, rows: int) -> int:
        """Return the rounds of chains in a table of so many rows."""
        room = self.chained / max(rows, 1)
        return int(min(self.chains, room)) if room >= ROUNDS else 0


EFFORTS = {
    "fast": Effort(others=False, nodes=NodeSearch(10, 0.1, 4, 0, 20_000)),
    "normal": Effort(
        after="fast",
        trials=6.0,
        prices=250_000_000,
        chains=60,
        chained=30_000,
        nodes=NodeSearch(24, 0.12, 4, 60, 60_000, classes=140, starts=2),
    ),
    "max": Effort(
        after="normal",
        trials=1_500.0,
        heat=0.7,
        passes=6,
        dearer=np.inf,
        prices=500_000_000,
        chains=150,  # Adult, 30,162 rows, k = 10: 60 rounds 0.0747 (52 s), 100 rounds 0.0746 (63 s)
        nodes=NodeSearch(160, 0.15, 8, 120, 1_500_000, classes=140),
    ),
}
