"""The rules on one group, in plain Python, straight from the definitions."""

import math
from collections import Counter

from shoal.rules import AlphaK, EntropyLDiversity, FrequencyLDiversity, KAnonymity, LDiversity


def passes(data, rule, rows):
    """Whether the rows, as one group, keep the rule; for the rules that tests use."""
    if isinstance(rule, KAnonymity):
        return len(rows) >= rule.k
    values = [int(data.sensitive[rule.column][row]) for row in rows]
    counts = Counter(value for value in values if value >= 0)
    known = sum(counts.values())
    if not known:
        return False
    if isinstance(rule, LDiversity):
        return len(counts) >= rule.l
    if isinstance(rule, FrequencyLDiversity):
        return max(counts.values()) * rule.l <= known
    if isinstance(rule, AlphaK):
        return len(rows) >= rule.k and max(counts.values()) / known <= rule.alpha + 1e-12
    assert isinstance(rule, EntropyLDiversity)
    entropy = -sum(c / known * math.log(c / known) for c in counts.values())
    return math.exp(entropy) >= rule.l - 1e-9
