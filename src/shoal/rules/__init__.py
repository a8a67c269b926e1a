"""The privacy models."""

from shoal.rules.alpha_k import AlphaK
from shoal.rules.base import All, Caps, ColumnCaps, Rule, flatten
from shoal.rules.closeness import BetaLikeness, TCloseness
from shoal.rules.k_anonymity import KAnonymity
from shoal.rules.l_diversity import (
    EntropyLDiversity,
    FrequencyLDiversity,
    LDiversity,
    RecursiveLDiversity,
)

__all__ = [
    "All",
    "AlphaK",
    "BetaLikeness",
    "Caps",
    "ColumnCaps",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "KAnonymity",
    "LDiversity",
    "RecursiveLDiversity",
    "Rule",
    "TCloseness",
    "flatten",
]
