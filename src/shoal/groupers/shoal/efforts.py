"""What decides answers of the method `shoal`: how much work an effort does, and some limits.

Work is counted, not seconds. Constants elsewhere in this package bound time and memory, or are the
steps of one stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

FEW = 400
"""Rows of a small table: there every method is asked, and trials start again (Adult, k = 10:
300 rows 0.3534, without 0.3854; 1,000 rows 0.2461, without 0.2465)."""
LARGE = 100
"""The k from which whole nodes are searched, not prices (Adult, k = 500: 0.2854, else 0.3476)."""
VISITS = (2_000, 8_000)
"""Entries visited, per entry of the table, before the rest is left to growth: under a rule on
sensitive values the one or the other loses up to 15 % less (Adult: l = 5, k = 10: 0.0509, 0.0585;
l = 3, k = 100: 0.1247, 0.1161), and the cheaper start says which."""
LEFT_OVER = 0.02
"""Share of the rows that may be left without a class before the table is grouped another way."""
LEFT_TO_MIX = 0.5
"""Share of the rows that the peel may leave where groups can be built with the table's mix."""
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Sizes of groups with the mix to try, in least sizes: small groups are cheap, of larger ones fewer
rows are left without a place (10,000 rows of Adult, beta = 2: 0.4567, with one 0.4579)."""
SIZES_BETWEEN = (0.75, 1.5)
"""Sizes that are tried after that, in the best of those (the same rows: 0.4567, else 0.4626)."""
JUDGED = 10
"""Groups that a sample has to have of a size: of larger ones each is tried on the whole table
(Diabetes 130, 101,766 rows, k = 5, t = 0.2: 0.3745 with the largest, 0.5949 with the sample's)."""
SET_TRIALS = 3
"""Times as many trials where a column is a set: all groups of a grown start have k rows, and what
could be spared is met more rarely (Adult without hierarchies, k = 10: 2 % less loss)."""
LARGE_TRIALS = 0.25
"""The share of trials where k is large: all bring no more (Adult, k = 200: 0.2449 both)."""
ROUNDS = 6
"""Rounds of chains that are worth their prices: with fewer there are none."""


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
