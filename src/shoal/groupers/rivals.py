"""What other methods make of a rule on sensitive values, as starts for the method `shoal`.

Peeling takes the cheapest diverse classes off first. Where diversity is scarce (l near the number
of values, alpha near their largest share) that leaves rows behind whose values are too much alike,
and a method that is careful with every value from the beginning does better. Which of the two it
will be is hard to foresee and easy to measure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.privacy import AlphaK, Rule, flatten

Method = Callable[[Encoded, Rule, np.random.Generator], Partition]

# The methods are loaded where they are asked: a rule on the size of classes alone needs none.

FAR = 2
"""A k of so many times l is too far from it."""


def rivals(rule: Rule, *, few: bool = False, sets: bool = True) -> list[Method]:
    """Return the methods that were made for the parts of the rule, or for any where rows are few.

    Where a part has no form in sizes and shares (t-closeness, beta-likeness, entropy, recursive
    diversity), cuts of the table are often the better start: large groups keep it by themselves.
    """
    parts, asked = flatten([rule]), list[Method]()
    if (few or rule.caps() is None) and not sets:
        from shoal.groupers import kaim  # sets have no entropy distance

        asked.append(kaim.group)
    if rule.caps() is None or (few and not sets):
        from shoal.groupers import k_member

        asked += [mondrian, k_member.group]
    if sum(isinstance(part, AlphaK) for part in parts) == 1:
        from shoal.groupers import alpha_k

        asked.append(alpha_k.group)
    if all(part.diversity is None for part in parts):
        return asked
    from shoal.groupers import l_clustering

    # L-clustering makes groups of l rows. On their way to a k far above l they lose more than other
    # methods; but those know no better where l says nothing of how often a value may occur.
    far = l_clustering.group_size(rule) >= FAR * l_clustering.diversity(rule)[1]
    if rule.caps() is None or not far:
        asked.append(l_clustering.group)
    return asked


def mondrian(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Return the cuts of Mondrian."""
    from shoal.groupers import mondrian as method

    return method.group(data, rule, rng)
