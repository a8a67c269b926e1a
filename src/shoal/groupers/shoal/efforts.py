"""How much work each effort of the method `shoal` does: work is counted, not seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


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
    """

    rounds: int
    heat: float
    first: int
    passes: int
    tries: int


@dataclass(frozen=True)
class Effort:
    """How far stages go; with 0 a stage does nothing.

    Parameters
    ----------
    first_trials, trials
        Trials per n / k, before and after prices.
    heat, passes, dearer
        Of the latter; see :class:`shoal.groupers.shoal.trials.Trials`.
    others
        Whether other methods make starts in tables that are not small.
    prices
        Pairs of an entry and a pattern up to which prices are made.
    chains
        Rounds of chains that are put together.
    nodes
        How long whole nodes are searched where k is large.
    """

    first_trials: float = 2.0
    trials: float = 0.0
    heat: float = 0.0
    passes: int = 2
    dearer: float = 3.0
    others: bool = True
    prices: int = 0
    chains: int = 0
    nodes: NodeSearch = field(default_factory=lambda: NodeSearch(24, 0.12, 4, 60, 60_000))


EFFORTS = {
    "fast": Effort(others=False, nodes=NodeSearch(10, 0.1, 4, 0, 20_000)),
    "normal": Effort(trials=6.0, prices=250_000_000),
    "max": Effort(
        trials=1_500.0,
        heat=0.7,
        passes=6,
        dearer=np.inf,
        prices=500_000_000,
        chains=150,  # Adult, 30,162 rows, k = 10: 60 rounds 0.0747 (52 s), 100 rounds 0.0746 (63 s)
        nodes=NodeSearch(160, 0.15, 8, 120, 1_500_000),
    ),
}
