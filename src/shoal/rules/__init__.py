"""The privacy models."""

from shoal.rules.base import All, Caps, ColumnCaps, Rule, flatten
from shoal.rules.k_anonymity import KAnonymity

__all__ = ["All", "Caps", "ColumnCaps", "KAnonymity", "Rule", "flatten"]
