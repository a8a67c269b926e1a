"""The privacy models."""

from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import All, Condition, Limit, Mix, Rule, flatten
from shoal.privacy.caps import Caps, ColumnCaps, caps_of, joint, known_caps
from shoal.privacy.closeness import BetaLikeness, TCloseness
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import (
    EntropyLDiversity,
    FrequencyLDiversity,
    LDiversity,
    RecursiveLDiversity,
)
from shoal.privacy.m_invariance import MInvariance

__all__ = [
    "All",
    "AlphaK",
    "BetaLikeness",
    "Caps",
    "ColumnCaps",
    "Condition",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "KAnonymity",
    "LDiversity",
    "Limit",
    "MInvariance",
    "Mix",
    "RecursiveLDiversity",
    "Rule",
    "TCloseness",
    "caps_of",
    "flatten",
    "joint",
    "known_caps",
]
